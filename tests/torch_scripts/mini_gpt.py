import torch
import torch.nn as nn
from seeded import fill, integers, report
from torch.nn import functional as F


class Head(nn.Module):
    def __init__(self, n, size, block):
        super().__init__()
        self.key = nn.Linear(n, size, bias=False)
        self.query = nn.Linear(n, size, bias=False)
        self.value = nn.Linear(n, size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block, block)))

    def forward(self, x):
        B, T, C = x.shape
        k, q, v = self.key(x), self.query(x), self.value(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return F.softmax(wei, dim=-1) @ v


class Block(nn.Module):
    def __init__(self, n, heads, block):
        super().__init__()
        self.heads = nn.ModuleList(Head(n, n // heads, block) for _ in range(heads))
        self.proj = nn.Linear(n, n)
        self.net = nn.Sequential(nn.Linear(n, 2 * n), nn.ReLU(), nn.Linear(2 * n, n))
        self.ln1, self.ln2 = nn.LayerNorm(n), nn.LayerNorm(n)

    def forward(self, x):
        y = self.ln1(x)
        x = x + self.proj(torch.cat([h(y) for h in self.heads], dim=-1))
        return x + self.net(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocab, n, block):
        super().__init__()
        self.block = block
        self.tok = nn.Embedding(vocab, n)
        self.pos = nn.Embedding(block, n)
        self.blocks = nn.Sequential(*[Block(n, 2, block) for _ in range(2)])
        self.ln = nn.LayerNorm(n)
        self.head = nn.Linear(n, vocab)

    def forward(self, idx, targets=None):
        B, T = idx.shape
        x = self.tok(idx) + self.pos(torch.arange(T, device=idx.device))
        logits = self.head(self.ln(self.blocks(x)))
        if targets is None:
            return logits, None
        B, T, C = logits.shape
        return logits, F.cross_entropy(logits.view(B * T, C), targets.view(B * T))

    @torch.no_grad()
    def generate(self, idx, count):
        for _ in range(count):
            logits, _ = self(idx[:, -self.block :])
            probs = F.softmax(logits[:, -1, :], dim=-1)
            idx = torch.cat((idx, probs.argmax(-1, keepdim=True)), dim=1)
        return idx


model = fill(GPT(13, 8, 6))
report(sum(p.numel() for p in model.parameters() if p.requires_grad))
opt = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95))
for _ in range(8):
    tokens = integers(13, 4, 7)
    _, loss = model(tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    report(loss)
report(*model.generate(torch.zeros((1, 1), dtype=torch.long), 5)[0].tolist())
