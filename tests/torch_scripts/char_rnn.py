import torch
import torch.nn as nn
from seeded import fill, report

text = "the quick brown fox jumps over the lazy dog " * 3
chars = sorted(set(text))
index = {c: i for i, c in enumerate(chars)}
data = torch.tensor([index[c] for c in text], dtype=torch.long)


class CharRNN(nn.Module):
    def __init__(self, n, hidden):
        super().__init__()
        self.embed = nn.Embedding(n, 6)
        self.rnn = nn.RNN(6, hidden, batch_first=True)
        self.head = nn.Linear(hidden, n)

    def forward(self, x, h=None):
        out, h = self.rnn(self.embed(x), h)
        return self.head(out), h


model = fill(CharRNN(len(chars), 12))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
h = None
for i in range(10):
    chunk = data[i * 12 : i * 12 + 13]
    x, y = chunk[:-1].unsqueeze(0), chunk[1:].unsqueeze(0)
    out, h = model(x, h)
    h = h.detach()
    loss = loss_fn(out.view(-1, len(chars)), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    opt.step()
    report(loss)
