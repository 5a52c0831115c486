import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, integers, report

words = "we are about to study the idea of a computational process that people create".split()
vocab = {w: i for i, w in enumerate(sorted(set(words)))}
pairs = [
    (vocab[words[i]], vocab[words[j]])
    for i in range(len(words))
    for j in range(max(0, i - 2), min(len(words), i + 3))
    if i != j
]


class SkipGram(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.u = nn.Embedding(n, d)
        self.v = nn.Embedding(n, d)

    def forward(self, center, context, negatives):
        u, v = self.u(center), self.v(context)
        positive = F.logsigmoid((u * v).sum(1))
        negative = F.logsigmoid(-torch.bmm(self.v(negatives), u.unsqueeze(2)).squeeze(2)).sum(1)
        return -(positive + negative).mean()


model = fill(SkipGram(len(vocab), 6))
opt = torch.optim.Adagrad(model.parameters(), lr=0.1)
centers, contexts = torch.tensor(pairs).unbind(1)
for _ in range(10):
    loss = model(centers, contexts, integers(len(vocab), len(pairs), 3))
    opt.zero_grad()
    loss.backward()
    opt.step()
    report(loss)
w = model.u.weight.data
report(*F.cosine_similarity(w[0:1], w[1:4]).tolist())
