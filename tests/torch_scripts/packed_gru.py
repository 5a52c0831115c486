import torch
import torch.nn as nn
from seeded import fill, integers, normal, report
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

sequences = [normal(n, 3) for n in (5, 2, 4)]
lengths = torch.tensor([len(s) for s in sequences])
batch = pad_sequence(sequences, batch_first=True)
gru = nn.GRU(3, 4, batch_first=True, bidirectional=True)
head = nn.Linear(8, 2)
fill(gru, head)
target = integers(2, 3)
opt = torch.optim.Adam([*gru.parameters(), *head.parameters()], lr=0.02)
for _ in range(8):
    packed = pack_padded_sequence(batch, lengths, batch_first=True, enforce_sorted=False)
    out, h = gru(packed)
    out, sizes = pad_packed_sequence(out, batch_first=True)
    mask = torch.arange(out.size(1))[None, :] < sizes[:, None]
    pooled = (out * mask.unsqueeze(-1)).sum(1) / sizes.unsqueeze(1)
    loss = nn.functional.cross_entropy(head(pooled), target) + h.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    report(loss)
