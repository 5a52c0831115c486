from seeded import fill, normal, report
from torch import nn

net = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
seen = {}


def keep(name):
    def hook(module, inputs, output):
        seen[name] = output.detach()

    return hook


handles = [layer.register_forward_hook(keep(f"{i}")) for i, layer in enumerate(net)]
net[0].register_full_backward_hook(lambda m, gi, go: seen.update(grad=go[0].norm()))
x = normal(5, 3).requires_grad_()
out = net(x)
out.register_hook(lambda g: g * 2)
h = net[0](x)
h.retain_grad()
(out.sum() + h.pow(2).sum()).backward()
report(*(seen[k].sum() for k in ("0", "1", "2")), seen["grad"], h.grad.sum(), x.grad.norm())
for handle in handles:
    handle.remove()
net[1].register_forward_pre_hook(lambda m, args: (args[0] * 0.5,))
report(net(x).sum())
for name, module in net.named_modules():
    report(len(name), sum(1 for _ in module.parameters()))
