import torch
from seeded import report
from torch.optim import lr_scheduler as ls


def rates(make, steps=8, lr=0.1):
    p = torch.nn.Parameter(torch.ones(2))
    opt = torch.optim.SGD([p], lr=lr, momentum=0.9)
    scheduler = make(opt)
    for _ in range(steps):
        report(opt.param_groups[0]["lr"])
        opt.step()
        scheduler.step()
    report(*scheduler.get_last_lr())


rates(lambda o: ls.StepLR(o, 3))
rates(lambda o: ls.MultiStepLR(o, milestones=[2, 5], gamma=0.5))
rates(lambda o: ls.ExponentialLR(o, 0.9))
rates(lambda o: ls.LambdaLR(o, lambda epoch: 0.95**epoch))
rates(lambda o: ls.CosineAnnealingLR(o, T_max=8, eta_min=0.01))
rates(lambda o: ls.OneCycleLR(o, max_lr=0.5, total_steps=9))
rates(lambda o: ls.LinearLR(o, start_factor=0.1, total_iters=4))
rates(lambda o: ls.ConstantLR(o, factor=0.5, total_iters=3))
rates(lambda o: ls.PolynomialLR(o, total_iters=6, power=2.0))
rates(lambda o: ls.MultiplicativeLR(o, lambda epoch: 0.9))
rates(lambda o: ls.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2))
rates(
    lambda o: ls.SequentialLR(
        o, [ls.LinearLR(o, 0.1, total_iters=3), ls.ExponentialLR(o, 0.8)], milestones=[3]
    )
)
opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
plateau = ls.ReduceLROnPlateau(opt, "min", patience=1, factor=0.5)
for loss in (3.0, 2.0, 2.0, 2.0, 2.5, 2.6, 1.0):
    plateau.step(loss)
    report(opt.param_groups[0]["lr"])
