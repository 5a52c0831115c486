import torch
from seeded import fill, normal, report
from torch import nn
from torch.utils.data import DataLoader, Dataset

series = torch.sin(torch.arange(60).to(torch.get_default_dtype()) * 0.3) + 0.1 * normal(60)
windows = series.unfold(0, 9, 1)


class Windows(Dataset):
    def __len__(self):
        return windows.size(0)

    def __getitem__(self, i):
        return windows[i, :-1].unsqueeze(-1), windows[i, -1:]


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([nn.LSTMCell(1, 6), nn.LSTMCell(6, 6)])
        self.out = nn.Linear(6, 1)

    def forward(self, x, future=0):
        h = [torch.zeros(x.size(0), 6, dtype=x.dtype) for _ in range(4)]
        outputs = []
        for t in x.split(1, dim=1):
            h[0], h[1] = self.cells[0](t.squeeze(1), (h[0], h[1]))
            h[2], h[3] = self.cells[1](h[0], (h[2], h[3]))
            output = self.out(h[2])
        for _ in range(future):
            h[0], h[1] = self.cells[0](output, (h[0], h[1]))
            h[2], h[3] = self.cells[1](h[0], (h[2], h[3]))
            output = self.out(h[2])
            outputs += [output]
        return output if not future else torch.cat(outputs, 1)


model = fill(Forecast())
opt = torch.optim.NAdam(model.parameters(), lr=5e-3)
for x, y in DataLoader(Windows(), batch_size=13):
    loss = nn.HuberLoss()(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    report(loss)
with torch.no_grad():
    report(*model(windows[:2, :-1, None], future=3).flatten().tolist())
