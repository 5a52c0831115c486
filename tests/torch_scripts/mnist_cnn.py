import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, integers, normal, report


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, kernel_size=3)
        self.conv2 = nn.Conv2d(4, 8, 3, padding=1)
        self.drop = nn.Dropout2d(0.0)
        self.fc1 = nn.Linear(8 * 3 * 3, 16)
        self.fc2 = nn.Linear(16, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2), inplace=True)
        x = self.drop(F.relu(self.conv2(x)))
        x = x.view(x.size(0), -1)
        x = F.dropout(F.relu(self.fc1(x)), p=0.0, training=self.training)
        return F.log_softmax(self.fc2(x), dim=1)


device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
model = fill(Net()).to(device)
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
x, y = normal(16, 1, 8, 8), integers(10, 16)
for _ in range(10):
    data, target = x.to(device), y.to(device)
    optimizer.zero_grad()
    loss = F.nll_loss(model(data), target)
    loss.backward()
    optimizer.step()
    report(loss)
pred = model(x).data.max(1, keepdim=True)[1]
report(pred.eq(y.data.view_as(pred)).long().cpu().sum())
