import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, integers, report


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 8)
        self.gru = nn.GRU(8, 8)

    def forward(self, x):
        return self.gru(self.embedding(x))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 8)
        self.attn = nn.Linear(16, 8)
        self.v = nn.Parameter(torch.zeros(8, 1))
        self.gru = nn.GRUCell(16, 8)
        self.out = nn.Linear(8, 10)

    def forward(self, token, hidden, memory):
        embedded = self.embedding(token)
        query = hidden.unsqueeze(0).repeat(memory.size(0), 1, 1)
        energy = torch.tanh(self.attn(torch.cat((query, memory), 2)))
        weights = F.softmax(torch.matmul(energy, self.v).squeeze(2).t(), dim=1).unsqueeze(1)
        context = torch.bmm(weights, memory.transpose(0, 1)).squeeze(1)
        hidden = self.gru(torch.cat([embedded, context], dim=1), hidden)
        return F.log_softmax(self.out(hidden), dim=1), hidden


encoder, decoder = fill(Encoder(), Decoder())
opts = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (encoder, decoder)]
criterion = nn.NLLLoss()
source, target = integers(10, 6, 4), integers(10, 5, 4)
for _ in range(6):
    for o in opts:
        o.zero_grad()
    memory, hidden = encoder(source)
    hidden, token, loss = hidden[0], torch.zeros(4, dtype=torch.long), 0
    for t in range(target.size(0)):
        output, hidden = decoder(token, hidden, memory)
        loss += criterion(output, target[t])
        topv, topi = output.topk(1)
        token = topi.squeeze(1).detach() if t % 2 else target[t]
    loss.backward()
    for o in opts:
        o.step()
    report(loss / target.size(0))
