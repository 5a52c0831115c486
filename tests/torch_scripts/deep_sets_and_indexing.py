import torch
from seeded import integers, normal, report

x = normal(4, 5, 6)
report(
    x[1, ..., 2].sum(), x[:, [0, 2]].sum(), x[x > 0].sum(), x[:, None, 1:3].shape[1], x[-1].sum()
)
idx = integers(5, 4, 5, 6)
report(
    x.gather(1, idx).sum(),
    torch.zeros(4, 5, 6).scatter_(1, idx, x).sum(),
    torch.zeros(4, 5, 6).scatter_add_(1, idx, x).sum(),
)
a, b = x.split([2, 3], dim=1)
report(
    a.size(1),
    b.size(1),
    *(t.sum() for t in x.chunk(3, dim=2)),
    *(t.sum() for t in x.split(2, dim=2)),
)
values, indices = x.sort(dim=1, descending=True)
report(values[0, 0, 0], indices[0, 0, 0], *x.median(dim=1)[0][0].tolist(), x.median())
report(*x.max(dim=1)[1][0].tolist(), x.max(), x.argmax(), *torch.cumsum(x[0, 0], 0).tolist())
y = x.clone()
y[y < 0] = 0
y[:, 1] = torch.arange(6).to(y.dtype)
y[0, 0, ::2] += 10
report(y.sum(), *y[0, 1].tolist(), *y[0, 0].tolist())
z = x.permute(2, 0, 1).contiguous().view(6, -1)
report(z.size(0), z.size(1), *z.std(1).tolist(), *z.var(dim=1, unbiased=False).tolist(), z.norm())
i = torch.arange(7)
report(
    *(i // 2).tolist(),
    *(i % 3).tolist(),
    *(i / 2).tolist(),
    *(-i).remainder(4).tolist(),
    *torch.div(-i, 2, rounding_mode="trunc").tolist(),
)
report(*torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")[0].flatten().tolist())
report(*torch.unique(idx, return_counts=True)[1].tolist(), *torch.bincount(idx.view(-1)).tolist())
m = torch.ones(3, 3, dtype=torch.bool).triu(1)
report(
    m.sum(),
    *torch.nonzero(m).flatten().tolist(),
    *torch.where(m)[0].tolist(),
    float((m.sum().dtype == torch.int64)),
)
h = torch.zeros(3, 2)
h[1] = normal(2)
v = h.view(-1)
v[0] = 5
h.t()[1, 2] = 9
report(*h.flatten().tolist(), *v.tolist(), *h.T.reshape(-1).tolist())
report(
    *torch.repeat_interleave(torch.tensor([1, 2]), 2).tolist(),
    *torch.tensor([1, 2]).repeat(2).tolist(),
    *torch.roll(i, 2).tolist(),
)
report(
    *torch.einsum("bij,bkj->bik", x, x)[0, 0].tolist(),
    *torch.baddbmm(torch.ones(4, 5, 5), x, x.mT)[0, 0].tolist(),
)
w = normal(3).requires_grad_()
(w.repeat(2, 1).cumprod(0) * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
report(*w.grad.tolist())
