import math
import torch
from seeded import fill, normal, report
from torch import nn
from torch.optim.optimizer import Optimizer


class MyAdam(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p.data)
                    state["exp_avg_sq"] = torch.zeros_like(p.data)
                exp_avg, exp_avg_sq = state["exp_avg"], state["exp_avg_sq"]
                beta1, beta2 = group["betas"]
                state["step"] += 1
                exp_avg.mul_(beta1).add_(p.grad, alpha=1 - beta1)
                exp_avg_sq.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                denom = (exp_avg_sq.sqrt() / math.sqrt(1 - beta2 ** state["step"])).add_(
                    group["eps"]
                )
                p.addcdiv_(exp_avg, denom, value=-group["lr"] / (1 - beta1 ** state["step"]))


class WarmUp(torch.optim.lr_scheduler._LRScheduler):
    def get_lr(self):
        return [base * min(1.0, (self.last_epoch + 1) / 4) for base in self.base_lrs]


net = fill(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1)))
optimizer = MyAdam(net.parameters(), lr=0.02)
schedule = WarmUp(optimizer)
x, y = normal(16, 3), normal(16, 1)
for _ in range(8):
    optimizer.zero_grad()
    loss = (net(x) - y).abs().mean()
    loss.backward()
    optimizer.step()
    schedule.step()
    report(loss, *schedule.get_last_lr())
saved = optimizer.state_dict()
report(len(saved["state"]), saved["state"][0]["step"])
