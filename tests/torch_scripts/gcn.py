import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import integers, normal, report, uniform
from torch.nn.parameter import Parameter


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        self.bias = Parameter(torch.FloatTensor(out_features))
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        self.weight.data = normal(*self.weight.size(), scale=stdv)
        self.bias.data = normal(*self.bias.size(), scale=stdv)

    def forward(self, x, adj):
        return torch.mm(adj, torch.mm(x, self.weight)) + self.bias

    def __repr__(self):
        return self.__class__.__name__ + " (" + str(self.weight.size(0)) + ")"


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.gc1, self.gc2 = GraphConvolution(5, 8), GraphConvolution(8, 3)

    def forward(self, x, adj):
        return F.log_softmax(self.gc2(F.relu(self.gc1(x, adj)), adj), dim=1)


adj = (uniform(12, 12) < 0.3).to(torch.get_default_dtype())
adj = ((adj + adj.t()) > 0).to(torch.get_default_dtype()) + torch.eye(12)
adj = adj / adj.sum(1, keepdim=True)
features, labels = normal(12, 5), integers(3, 12)
train = torch.arange(0, 8)
model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
for _ in range(10):
    optimizer.zero_grad()
    output = model(features, adj)
    loss = F.nll_loss(output[train], labels[train])
    loss.backward()
    optimizer.step()
    report(loss, output.max(1)[1].type_as(labels).eq(labels).double().sum())
