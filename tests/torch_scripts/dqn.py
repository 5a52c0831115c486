import copy
import random
from collections import deque, namedtuple
import torch
import torch.nn as nn
from seeded import fill, normal, report, rng

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))
random.seed(0)


class DQN(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, x):
        return self.layers(x)


policy_net = fill(DQN())
target_net = DQN()
target_net.load_state_dict(policy_net.state_dict())
target_net.eval()
optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-2, amsgrad=True)
memory = deque([], maxlen=100)
for _ in range(40):
    memory.append(
        Transition(
            normal(1, 3),
            torch.tensor([[int(rng.integers(2))]]),
            normal(1, 3),
            torch.tensor([float(rng.normal())]),
        )
    )
for _ in range(8):
    batch = Transition(*zip(*random.sample(memory, 16)))
    state, action, reward = torch.cat(batch.state), torch.cat(batch.action), torch.cat(batch.reward)
    q = policy_net(state).gather(1, action)
    with torch.no_grad():
        best = target_net(torch.cat(batch.next_state)).max(1).values
    loss = nn.SmoothL1Loss()(q, (best * 0.9 + reward).unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    state_dict, policy = target_net.state_dict(), policy_net.state_dict()
    for key in policy:
        state_dict[key] = policy[key] * 0.1 + state_dict[key] * 0.9
    target_net.load_state_dict(state_dict)
    report(loss, sum(p.sum() for p in target_net.parameters()))
frozen = copy.deepcopy(policy_net)
report(frozen(torch.ones(1, 3)).sum() - policy_net(torch.ones(1, 3)).sum())
