"""Mistakes of users: ``mypy --strict`` refuses each line that says so, and no other."""

from __future__ import annotations

import extensor as ex
from extensor import nn
from extensor.differentiation.custom_function import Context


def functions(x: ex.Tensor, w: ex.Tensor) -> None:
    ex.rleu(x)  # error: [attr-defined]
    ex.relu(1, 2, 3)  # error: [call-arg]
    ex.relu()  # error: [call-arg]
    ex.relu("x")  # error: [arg-type]
    ex.relu(None)  # error: [arg-type]
    ex.relu(x, inplace=True)  # error: [call-arg]
    ex.conv2d(x, w, stride="nonsense")  # error: [arg-type]
    ex.conv2d(x, w, padding="nonsense")  # error: [arg-type]
    ex.conv2d(x, w, strides=2)  # error: [call-arg]
    ex.mse_loss(x, w, reduction="average")  # error: [arg-type]
    ex.pad(x, 1, mode="mirror")  # error: [arg-type]
    ex.softmax(x, axis=1.5)  # error: [arg-type]
    ex.leaky_relu(x, alpha="steep")  # error: [arg-type]
    ex.concatenate(x, w)  # error: [arg-type]
    ex.cast(x, str)  # error: [arg-type]
    ex.zeros("2, 3")  # error: [arg-type]
    ex.zeros((2, 3), dtype=3)  # error: [arg-type]
    ex.tensor([["a"]])  # error: [list-item]
    ex.random.randn("2")  # error: [arg-type]
    ex.nn.Linera(2, 3)  # error: [attr-defined]


def results(x: ex.Tensor) -> None:
    ex.lstm(x, x, x, x, x).shape  # error: [attr-defined]
    hidden, cell, gates = ex.lstm(x, x, x, x, x)  # error: [misc]
    ex.topk(x, 2).sum()  # error: [attr-defined]
    ex.multiply_backward(x, x, x).grad_x  # error: [attr-defined]
    ex.cross_entropy_backward(x, x, x).grad_target.shape  # error: [union-attr]
    ex.relu_backward(x)  # error: [call-arg]
    ex.add_backward(x, a_shape=2, b_shape=(2,))  # error: [arg-type]
    number: int = ex.sum(x)  # error: [assignment]


def methods(x: ex.Tensor) -> None:
    x.shap(1)  # error: [attr-defined]
    x.shape(1)  # error: [operator]
    x.summ()  # error: [attr-defined]
    x.sum(0, False, 1)  # error: [call-arg]
    x.sum(dim=0)  # error: [call-arg]
    x.reshape("2")  # error: [arg-type]
    x.grad.sum()  # error: [union-attr]
    x["first"]  # error: [index]
    x[1.5]  # error: [index]
    x[0, 1.5]  # error: [index]
    x + "1"  # error: [operator]
    x @ None  # error: [operator]
    x.at[0].put(1.0)  # error: [attr-defined]
    x.view(2)  # error: [attr-defined]
    x.size()  # error: [operator]
    x.requires_grad = "yes"  # error: [assignment]
    x.ndim = 3  # error: [misc]


def writing(x: ex.Tensor) -> None:
    x += "1"  # error: [arg-type]
    x @= None  # error: [arg-type]
    x["first"] = 1.0  # error: [index]
    x[0] = "1"  # error: [assignment]
    x[0] = None  # error: [assignment]
    del x[0]  # error: [attr-defined]


class Net(nn.Module):
    def __init__(self) -> None:
        self.hidden = nn.Linear(2, 3)

    def forward(self, x: ex.Tensor) -> ex.Tensor:
        return self.hidden(x)


def modules(x: ex.Tensor) -> None:
    net = Net()
    net(x, x)  # error: [call-arg]
    net("x")  # error: [arg-type]
    net(x).shap()  # error: [attr-defined]
    net.hiden(x)  # error: [attr-defined]
    nn.Linear(2)  # error: [call-arg]
    nn.Linear(2, "3")  # error: [arg-type]
    nn.Linear(2, 3, False, None, 1)  # error: [call-arg]
    nn.AvgPool2d(2, divisor_override="4")  # error: [arg-type]
    nn.Softmean(1)  # error: [attr-defined]
    nn.Linear(2, 3)(x, x)  # error: [call-arg]
    nn.Conv2d(1, 1, 3, padding="nonsense")  # error: [arg-type]
    nn.LSTM(2, 3)(x).shape  # error: [attr-defined]
    nn.LSTM(2, 3)(x, x)  # error: [arg-type]
    nn.MSELoss(reduction="average")  # error: [arg-type]
    nn.Sequential(nn.Linear(2, 3), ex.relu)  # error: [arg-type]


class Double(ex.Function):
    @staticmethod
    def forward(ctx: Context, x: ex.Tensor) -> ex.Tensor:
        return 2 * x


def custom(x: ex.Tensor) -> None:
    Double.apply(x, x)  # error: [call-arg]
    Double.apply("x")  # error: [arg-type]
    Double.apply(x).shap()  # error: [attr-defined]


def training(net: Net) -> None:
    ex.optim.Adamm(net.parameters())  # error: [attr-defined]
    ex.optim.Adam(net)  # error: [arg-type]
    ex.optim.Adam(net.parameters(), learning_rate=0.1)  # error: [call-arg]
    ex.optim.SGD(net.parameters(), lr="fast")  # error: [arg-type]
    ex.clip_grad_norm(net.parameters(), "1")  # error: [arg-type]
    optimizer = ex.optim.SGD(net.parameters(), lr=0.1)
    optimizer.add_param_group([])  # error: [arg-type]
    ex.optim.StepLR(optimizer)  # error: [call-arg]
    ex.optim.StepLR(optimizer, "2")  # error: [arg-type]
    ex.train.experiment(3)  # error: [arg-type]
    ex.train.experiment(changes=["epochs=3"])  # error: [arg-type]
    ex.train.History().bst("loss")  # error: [attr-defined]
    ex.train.experiment().fitt()  # error: [attr-defined]
    ex.train.load_trained()  # error: [call-arg]
    ex.train.Accuracy(task="regression")  # error: [arg-type]
    ex.train.BalancedAccuracy(3, task="multilabel")  # error: [arg-type]
    ex.train.F1(3, "micro")  # error: [arg-type]
    ex.train.ROCAUC(scores="odds")  # error: [arg-type]
