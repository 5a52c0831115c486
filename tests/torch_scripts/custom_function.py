import torch
from seeded import normal, report


class LegendrePolynomial3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input**2 - 1)


class Sign(torch.autograd.Function):
    @staticmethod
    def forward(x, scale):
        return torch.sign(x) * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        grad = grad.clone()
        grad[x.abs() > 1] = 0
        return grad, None


x = torch.linspace(-3.14, 3.14, 50)
y = torch.sin(x)
a, b, c, d = (torch.full((), v, requires_grad=True) for v in (0.0, -1.0, 0.0, 0.3))
w = normal(5).requires_grad_()
for _ in range(10):
    y_pred = a + b * LegendrePolynomial3.apply(c + d * x)
    loss = (y_pred - y).pow(2).sum() + (Sign.apply(w, 2.0) * torch.arange(5)).sum() * 0.01
    loss.backward()
    with torch.no_grad():
        for p in (a, b, c, d, w):
            p -= 5e-6 * p.grad
            p.grad = None
    report(loss)
report(*w.tolist())
