import torch
from seeded import normal, report

x, y = normal(32, 6), normal(32, 2)
w1 = normal(6, 10, scale=0.3).requires_grad_()
w2 = torch.autograd.Variable(normal(10, 2, scale=0.3), requires_grad=True)
velocity = torch.zeros_like(w1)
for step in range(10):
    h = x.mm(w1).clamp(min=0)
    loss = (h.mm(w2) - y).pow(2).sum()
    loss.backward()
    w1.data.sub_(1e-3 * w1.grad.data)
    w2.data -= 1e-3 * w2.grad.data
    velocity.mul_(0.9).add_(w1.grad, alpha=0.1)
    w1.data.add_(velocity, alpha=-1e-4).addcmul_(velocity, velocity, value=1e-5)
    w1.grad.zero_()
    w2.grad.data.zero_()
    report(loss.data.item(), velocity.norm())
v = w1.detach().view(-1)
v[0] = 7.0
report(w1[0, 0])
row = w1.data[1]
row.fill_(2).mul_(3)
report(w1.data[1].sum(), w1.data.t()[0].sum())
