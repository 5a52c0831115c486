import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from seeded import fill, report

training = [
    ("the dog ate the apple".split(), "D N V D N".split()),
    ("everybody read that book".split(), "N V D N".split()),
]
words, tags = {}, {"D": 0, "N": 1, "V": 2}
for sentence, _ in training:
    for word in sentence:
        if word not in words:
            words[word] = len(words)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = nn.Embedding(len(words), 6)
        self.lstm = nn.LSTM(6, 6, num_layers=2, bidirectional=True)
        self.out = nn.Linear(12, 3)

    def forward(self, sentence):
        embeds = self.embeddings(sentence)
        out, (h, c) = self.lstm(embeds.view(len(sentence), 1, -1))
        return F.log_softmax(self.out(out.view(len(sentence), -1)), dim=1)


model = fill(Tagger())
loss_function = nn.NLLLoss()
optimizer = optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    for sentence, target in training:
        model.zero_grad()
        scores = model(torch.tensor([words[w] for w in sentence], dtype=torch.long))
        loss = loss_function(scores, torch.LongTensor([tags[t] for t in target]))
        loss.backward()
        optimizer.step()
        report(loss)
