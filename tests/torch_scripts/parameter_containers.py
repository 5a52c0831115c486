from collections import OrderedDict
import torch
import torch.nn as nn
from seeded import normal, report


class Poly(nn.Module):
    def __init__(self):
        super().__init__()
        self.coefficients = nn.ParameterList([nn.Parameter(normal(1)) for _ in range(3)])
        self.named = nn.ParameterDict({"shift": nn.Parameter(normal(1))})
        self.register_parameter("scale", nn.Parameter(torch.ones(1)))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.long))

    def forward(self, x):
        self.calls += 1
        x = x - self.named["shift"]
        return self.scale * sum(c * x**i for i, c in enumerate(self.coefficients))


model = nn.Sequential(
    OrderedDict([("poly", Poly()), ("act", nn.Softplus()), ("id", nn.Identity())])
)
opt = torch.optim.Adam(model.parameters(), lr=0.05)
x = torch.linspace(-1, 1, 11).unsqueeze(1)
for _ in range(6):
    loss = (model(x) - (x**2 + 1)).abs().mean() + 1e-3 * sum(
        p.abs().sum() for p in model.parameters()
    )
    opt.zero_grad()
    loss.backward()
    opt.step()
    report(loss)
report(model.poly.calls.item(), len(list(model.named_parameters())), len(model.state_dict()))
state = {k: v * 0 for k, v in model.state_dict().items()}
print(float(len(model.load_state_dict(state, strict=False).missing_keys)))
report(sum(p.abs().sum() for p in model.parameters()), model.poly.calls)
missing, unexpected = model.load_state_dict(
    {"poly.scale": torch.ones(1), "other": torch.ones(1)}, strict=False
)
report(len(missing), len(unexpected))
