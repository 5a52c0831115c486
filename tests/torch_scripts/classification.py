import torch
import torch.nn as nn
import torch.optim as optim
from seeded import fill, integers, normal, report
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(8, 16)
        self.bn = nn.BatchNorm1d(16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.bn(self.fc1(x))))


x, y = normal(64, 8), integers(3, 64)
loader = DataLoader(TensorDataset(x, y), batch_size=16, num_workers=0)
model = fill(Net())
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
for epoch in range(4):
    model.train()
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        report(loss)
    scheduler.step()
model.eval()
with torch.no_grad():
    predicted = model(x).argmax(dim=1)
    report((predicted == y).sum().item() / y.size(0), scheduler.get_last_lr()[0])
