import torch
import torch.nn as nn
from seeded import fill, report


class ODEFunc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y**3)


def odeint(f, y, t):
    ys = [y]
    for a, b in zip(t[:-1], t[1:]):
        h = b - a
        k1 = f(a, y)
        k2 = f(a + h / 2, y + h * k1 / 2)
        k3 = f(a + h / 2, y + h * k2 / 2)
        k4 = f(b, y + h * k3)
        y = y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        ys.append(y)
    return torch.stack(ys)


t = torch.linspace(0.0, 1.0, 8)
true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
y0 = torch.tensor([[2.0, 0.0]])
with torch.no_grad():
    true_y = odeint(lambda _, y: torch.mm(y**3, true_A), y0 * 0.5, t)
func = fill(ODEFunc(), scale=0.1)
optimizer = torch.optim.RMSprop(func.parameters(), lr=1e-3)
for _ in range(6):
    optimizer.zero_grad()
    loss = torch.mean(torch.abs(odeint(func, y0 * 0.5, t) - true_y))
    loss.backward()
    optimizer.step()
    report(loss)
