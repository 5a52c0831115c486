from seeded import fill, normal, report
from torch import nn, optim

makers = [
    lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    lambda p: optim.Adam(p, lr=0.01, amsgrad=True, weight_decay=0.01),
    lambda p: optim.AdamW(p, lr=0.01),
    lambda p: optim.RMSprop(p, lr=0.01, centered=True),
    lambda p: optim.Adagrad(p, lr=0.05, lr_decay=0.1),
    lambda p: optim.Adadelta(p, lr=0.5),
]
for make in makers:
    net = fill(nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1)))
    x, y = normal(16, 3), normal(16, 1)
    optimizer = make([{"params": net[0].parameters()}, {"params": net[2].parameters(), "lr": 0.02}])

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        return loss

    for _ in range(5):
        report(optimizer.step(closure))
    report(*[g["lr"] for g in optimizer.param_groups])
