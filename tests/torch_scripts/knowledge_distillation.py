import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, integers, normal, report

teacher = fill(nn.Sequential(nn.Linear(6, 16), nn.Hardswish(), nn.Linear(16, 4)))
student = fill(nn.Sequential(nn.Linear(6, 5), nn.PReLU(), nn.Linear(5, 4)))
for p in teacher.parameters():
    p.requires_grad_(False)
teacher.eval()
opt = torch.optim.SGD(student.parameters(), lr=0.1)
T = 3.0
x, y = normal(16, 6), integers(4, 16)
for _ in range(8):
    with torch.inference_mode():
        soft = F.softmax(teacher(x) / T, dim=-1)
    logits = student(x)
    kd = F.kl_div(F.log_softmax(logits / T, dim=-1), soft.clone(), reduction="batchmean") * T * T
    loss = 0.7 * kd + 0.3 * F.cross_entropy(logits, y, weight=torch.tensor([1.0, 2.0, 1.0, 0.5]))
    opt.zero_grad()
    loss.backward()
    opt.step()
    report(loss)
