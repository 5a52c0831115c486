from collections import Counter
import torch
import torch.nn as nn
from seeded import fill, report
from torch.utils.data import DataLoader, Dataset, random_split

texts = [
    ("good great fine movie", 1),
    ("bad poor awful movie", 0),
    ("great acting fine story", 1),
    ("awful story bad acting", 0),
] * 2
counter = Counter(w for t, _ in texts for w in t.split())
vocab = {"<pad>": 0, **{w: i + 1 for i, w in enumerate(sorted(counter))}}


class Texts(Dataset):
    def __len__(self):
        return len(texts)

    def __getitem__(self, i):
        return {"ids": [vocab[w] for w in texts[i][0].split()][: 4 - i % 2], "label": texts[i][1]}


def collate(batch):
    size = max(len(b["ids"]) for b in batch)
    ids = torch.zeros(len(batch), size, dtype=torch.int64)
    for row, b in zip(ids, batch):
        row[: len(b["ids"])] = torch.tensor(b["ids"])
    return ids, torch.tensor([b["label"] for b in batch]).float().to(torch.get_default_dtype())


class TextCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(vocab), 6, padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv1d(6, 4, k, padding=1) for k in (2, 3)])
        self.fc = nn.Linear(8, 1)

    def forward(self, ids):
        x = self.emb(ids).transpose(1, 2)
        pooled = [torch.relu(c(x)).max(dim=2).values for c in self.convs]
        return self.fc(torch.cat(pooled, 1)).squeeze(1)


model = fill(TextCNN())
with torch.no_grad():
    model.emb.weight[0].zero_()
loss_fn = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))
opt = torch.optim.Adam(model.parameters(), lr=0.02)
train, held = random_split(Texts(), [6, 2], generator=torch.Generator().manual_seed(0))
report(len(train), len(held))
for _ in range(2):
    for ids, y in DataLoader(Texts(), batch_size=3, collate_fn=collate, shuffle=False):
        opt.zero_grad()
        loss = loss_fn(model(ids), y)
        loss.backward()
        opt.step()
        report(loss)
report(*model.emb.weight[0].tolist())
