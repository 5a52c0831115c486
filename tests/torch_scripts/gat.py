import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, integers, normal, report, uniform


class GraphAttention(nn.Module):
    def __init__(self, inp, out, alpha=0.2, concat=True):
        super().__init__()
        self.concat = concat
        self.W = nn.Parameter(torch.empty(size=(inp, out)))
        nn.init.xavier_uniform_(self.W.data, gain=1.414)
        self.a = nn.Parameter(torch.empty(size=(2 * out, 1)))
        nn.init.xavier_uniform_(self.a.data, gain=1.414)
        self.out = out
        self.leakyrelu = nn.LeakyReLU(alpha)

    def forward(self, h, adj):
        Wh = torch.mm(h, self.W)
        e = self.leakyrelu(
            torch.matmul(Wh, self.a[: self.out, :]) + torch.matmul(Wh, self.a[self.out :, :]).T
        )
        attention = torch.where(adj > 0, e, -9e15 * torch.ones_like(e))
        attention = F.softmax(attention, dim=1)
        h_prime = torch.matmul(attention, Wh)
        return F.elu(h_prime) if self.concat else h_prime


class GAT(nn.Module):
    def __init__(self):
        super().__init__()
        self.attentions = [GraphAttention(5, 4) for _ in range(2)]
        for i, attention in enumerate(self.attentions):
            self.add_module("attention_{}".format(i), attention)
        self.out_att = GraphAttention(8, 3, concat=False)

    def forward(self, x, adj):
        x = torch.cat([att(x, adj) for att in self.attentions], dim=1)
        return F.log_softmax(F.elu(self.out_att(x, adj)), dim=1)


adj = (uniform(10, 10) < 0.4).float() + torch.eye(10)
x, y = normal(10, 5), integers(3, 10)
model = fill(GAT())
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(8):
    opt.zero_grad()
    loss = F.nll_loss(model(x, adj), y)
    loss.backward()
    opt.step()
    report(loss)
