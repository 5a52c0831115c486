import math
import torch
import torch.nn as nn
from seeded import fill, integers, report


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=50):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(0)]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.pos = PositionalEncoding(8)
        self.layers = nn.ModuleList(
            [nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0) for _ in range(2)]
        )
        self.head = nn.Linear(8, 11)

    def forward(self, src, mask):
        x = self.pos(self.embed(src) * math.sqrt(8))
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return self.head(x)


model = fill(Model())
opt = torch.optim.Adam(model.parameters(), lr=0.01)
src = integers(11, 7, 3)
mask = torch.triu(torch.full((6, 6), float("-inf")), diagonal=1)
for _ in range(8):
    loss = nn.CrossEntropyLoss()(model(src[:-1], mask).view(-1, 11), src[1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    report(loss)
report(*model.state_dict()["pos.pe"].sum((0, 1)).tolist())
