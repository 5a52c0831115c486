"""Calls of every family of kernels, large enough to need temporary memory and threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from allocation_failures import Make, Trial, differentiated
from calls import arrays_of, call
from op_cases import CASES

import extensor as ex
from extensor import _native, nn, optim
from extensor.core import door

_rng = np.random.default_rng(20)


def _real(*shape: int, dtype: Any = np.float32) -> Any:
    return _rng.uniform(0.1, 0.9, shape).astype(dtype)


def _half(*shape: int) -> Any:
    return _real(*shape, dtype=np.float16)


def _bfloat16(*shape: int) -> Any:
    return ex.tensor(_real(*shape)).astype("bfloat16")._array


def _strided(*shape: int) -> Any:
    return _real(*reversed(shape)).T


def _indices(high: int, *shape: int) -> Any:
    return _rng.integers(0, high, shape)


def _signs(*shape: int) -> Any:
    return np.where(_real(*shape) > 0.5, 1, -1).astype(np.float32)


IMAGES = (4, 8, 20, 20)

# What each family does with memory depends on shapes: rows and columns, few and many, one and more
# steps of a sum.
LARGE: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
    ("tanh", ex.tanh, (_real(300, 400),)),
    ("tanh of 16 bits", ex.tanh, (_half(300, 400),)),
    ("add, broadcast", ex.add, (_real(300, 400), _real(400))),
    ("multiply, strided", ex.multiply, (_real(300, 400), _strided(300, 400))),
    ("where", ex.where, (_real(300, 400) > 0.5, _real(300, 400), _real(300, 400))),
    ("prelu", ex.prelu, (_real(60, 40, 30), _real(40))),
    ("glu", ex.glu, (_strided(300, 400),)),
    ("sum", ex.sum, (_real(300, 700),)),
    ("sum of rows", lambda x: ex.sum(x, 1), (_real(3, 70_000),)),
    ("sum of columns", lambda x: ex.sum(x, 0), (_real(3000, 70),)),
    ("mean of two axes", lambda x: ex.mean(x, (0, 2)), (_real(40, 50, 60),)),
    ("mean, strided, of 16 bits", lambda x: ex.mean(x, 0), (_half(400, 300).T,)),
    ("prod", lambda x: ex.prod(x, 1), (_real(3, 40_000),)),
    ("max of rows", lambda x: ex.max_reduce(x, 1), (_real(3, 70_000),)),
    ("min of columns", lambda x: ex.min_reduce(x, 0), (_real(3000, 70),)),
    ("argmax", lambda x: ex.argmax(x, 1), (_real(3, 70_000),)),
    ("norm", ex.norm, (_real(300, 400),)),
    ("var of rows", lambda x: ex.var(x, 1), (_real(3, 70_000),)),
    ("std of columns", lambda x: ex.std(x, 0), (_real(3000, 70),)),
    ("cumsum", lambda x: ex.cumsum(x, 0), (_real(300, 400),)),
    ("softmax", ex.softmax, (_real(300, 400),)),
    ("log_softmax of columns", lambda x: ex.log_softmax(x, 0), (_real(300, 400),)),
    ("logsumexp", lambda x: ex.logsumexp(x, 1), (_real(300, 400),)),
    ("cross_entropy", ex.cross_entropy, (_strided(300, 400), _indices(400, 300))),
    ("mse_loss", ex.mse_loss, (_real(300, 400), _real(300, 400))),
    ("kl_div", ex.kl_div, (_real(300, 400), _real(300, 400))),
    ("hinge_loss", ex.hinge_loss, (_real(300, 400), _signs(300, 400))),
    ("matmul", ex.matmul, (_real(300, 400), _real(400, 500))),
    ("matmul, deep", ex.matmul, (_real(20, 9000), _real(9000, 30))),
    ("matmul, transposed", ex.matmul, (_strided(300, 400), _strided(400, 500))),
    ("matmul of float64", ex.matmul, (_real(90, 80, dtype=float), _real(80, 700, dtype=float))),
    ("matmul of bfloat16", ex.matmul, (_bfloat16(100, 200), _bfloat16(200, 300))),
    ("matmul, batched", ex.matmul, (_real(20, 50, 60), _real(20, 60, 40))),
    ("matmul by a vector", ex.matmul, (_real(900, 800), _real(800))),
    ("linear", ex.linear, (_real(300, 400), _real(500, 400), _real(500))),
    ("einsum", lambda a, b: ex.einsum("bij,bjk->bik", a, b), (_real(9, 40, 50), _real(9, 50, 60))),
    ("conv1d", ex.conv1d, (_real(4, 8, 200), _real(16, 8, 3), _real(16))),
    ("conv2d", lambda x, w, b: ex.conv2d(x, w, b, padding=1),
     (_real(*IMAGES), _real(16, 8, 3, 3), _real(16))),
    ("conv2d with strides", lambda x, w: ex.conv2d(x, w, stride=2, dilation=2),
     (_real(*IMAGES), _real(16, 8, 3, 3))),
    ("conv2d in groups", lambda x, w: ex.conv2d(x, w, groups=8),
     (_real(*IMAGES), _real(16, 1, 5, 5))),
    ("conv2d of one element", ex.conv2d, (_real(*IMAGES), _real(16, 8, 1, 1))),
    ("conv2d, wide", lambda x, w: ex.conv2d(x, w, padding=1),
     (_real(2, 64, 14, 14), _real(96, 64, 3, 3))),
    ("conv_transpose2d", lambda x, w: ex.conv_transpose2d(x, w, stride=2),
     (_real(*IMAGES), _real(8, 16, 3, 3))),
    ("max_pool2d", lambda x: ex.max_pool2d(x, 2), (_real(8, 16, 40, 40),)),
    ("avg_pool2d", lambda x: ex.avg_pool2d(x, 3, padding=1), (_real(8, 16, 40, 40),)),
    ("adaptive_avg_pool2d", lambda x: ex.adaptive_avg_pool2d(x, 7), (_real(8, 16, 40, 40),)),
    ("layer_norm", lambda x, w, b: ex.layer_norm(x, 400, w, b),
     (_real(300, 400), _real(400), _real(400))),
    ("rms_norm", lambda x, w: ex.rms_norm(x, 400, w), (_strided(300, 400), _real(400))),
    ("group_norm", lambda x, w, b: ex.group_norm(x, 4, w, b),
     (_real(8, 16, 20, 20), _real(16), _real(16))),
    ("batch_norm of columns", lambda x, w, b: ex.batch_norm(x, None, None, w, b, training=True),
     (_real(3000, 40), _real(40), _real(40))),
    ("instance_norm", lambda x: ex.instance_norm(x), (_real(8, 16, 20, 20),)),
    ("attention", ex.scaled_dot_product_attention,
     (_real(4, 200, 32), _real(4, 200, 32), _real(4, 200, 32))),
    ("attention, strided",
     lambda q, k, v: ex.scaled_dot_product_attention(q, k, v, causal=True),
     (_real(4, 32, 200).swapaxes(1, 2), _real(4, 200, 32), _real(4, 200, 32))),
    ("rnn", ex.rnn, (_real(12, 20, 24), _real(20, 32), _real(32, 24), _real(32, 32))),
    ("lstm", ex.lstm,
     (_real(12, 20, 24), _real(20, 32), _real(20, 32), _real(128, 24), _real(128, 32))),
    ("gru", ex.gru, (_real(12, 20, 24), _real(20, 32), _real(96, 24), _real(96, 32))),
    ("embedding", lambda i, w: ex.embedding(i, w), (_indices(500, 4000), _real(500, 60))),
    ("take", lambda x, i: ex.take(x, i, 0), (_strided(500, 60), _indices(500, 4000))),
    ("gather", lambda x, i: ex.gather(x, i, 0), (_real(500, 60), _indices(500, 400, 60))),
    ("scatter_add", lambda x, i, u: ex.scatter_add(x, i, u, 0),
     (_half(500, 60), _indices(500, 400, 60), _half(400, 60))),
    ("getitem", lambda x: x[::2, 5:], (_real(500, 60),)),
    ("getitem by indices", lambda x, i: x[i], (_real(500, 60), _indices(500, 900))),
    ("masked_fill", lambda x, m: ex.masked_fill(x, m, 0.0), (_real(500, 60), _real(500, 60) > 0.5)),
    ("concatenate", lambda a, b: ex.concatenate([a, b]), (_real(500, 60), _strided(500, 60))),
    ("stack", lambda a, b: ex.stack([a, b], 1), (_real(500, 60), _strided(500, 60))),
    ("clone of a transposed one", ex.clone, (_strided(500, 600),)),
    ("cast", lambda x: x.astype("float64"), (_strided(500, 600),)),
    ("repeat", lambda x: ex.repeat(x, 3, 1), (_real(500, 60),)),
    ("pad", lambda x: ex.pad(x, 2, "reflect"), (_real(500, 60),)),
    ("sort", ex.sort, (_real(500, 60),)),
    # What was drawn stays drawn if the op fails after it, so each call begins again.
    ("dropout", lambda x: ex.dropout(x, 0.3, generator=ex.random.Generator(5)), (_real(300, 400),)),
    ("bernoulli", lambda p: ex.random.bernoulli(p.detach(), generator=ex.random.Generator(5)),
     (_real(300, 400),)),
    ("dropout2d", lambda x: ex.dropout2d(x, 0.3, generator=ex.random.Generator(5)),
     (_real(8, 16, 20, 20),)),
]  # fmt: skip


def large() -> Iterator[tuple[str, Make]]:
    """The table above, forwards and backwards."""
    for name, function, arrays in LARGE:
        yield name, differentiated(function, *arrays)


def rows() -> Iterator[tuple[str, Make]]:
    """Every row of the case table; what draws random numbers is left to :func:`changes`."""
    for case in CASES:
        if not case.op.startswith("dropout"):
            arrays = arrays_of(case, np.random.default_rng(3), "float32")
            yield case.id, _row(case, arrays)


def _row(case: Any, arrays: list[Any]) -> Make:
    if any(isinstance(x, list) for x in arrays):
        return differentiated(lambda *x: call(case, [list(x)]), *arrays[0])
    return differentiated(lambda *x: call(case, list(x)), *arrays)


def _model(*groups: int) -> list[list[ex.Tensor]]:
    """Parameters with gradients, in groups of so many."""
    rng = np.random.default_rng(4)
    made = []
    for size in groups:
        group = [ex.tensor(rng.standard_normal((80, 70 + i)), "float32") for i in range(size)]
        for parameter in group:
            parameter.requires_grad = True
            parameter.grad = ex.tensor(rng.standard_normal(parameter.shape), "float32")
        made.append(group)
    return made


def _stepping(
    optimizer: Callable[..., Any],
    steps: int,
    *groups: int,
    transposed: bool = False,
    **options: Any,
) -> Make:
    def make() -> Trial:
        parameters = _model(*groups)
        if transposed:
            for parameter in (x for group in parameters for x in group):
                parameter.grad = ex.tensor(parameter.grad.numpy().T.copy()).T
        made = optimizer([{"params": group} for group in parameters], **options)
        for _ in range(steps):
            made.step()
        every = [x for group in parameters for x in group]

        def changed() -> Any:
            state = made.state_dict()
            return [every, sorted(state), [state[key] for key in sorted(state)]]

        return Trial(made.step, [x.grad for x in every], changed)

    return make


def _normalizing(module: Callable[[], Any], *shape: int) -> Make:
    def make() -> Trial:
        norm, x = module(), ex.tensor(np.linspace(0, 1, int(np.prod(shape))).reshape(shape))
        return Trial(
            lambda: norm(x.astype("float32")),
            [x],
            lambda: [norm.running_mean, norm.running_var, norm.num_batches_tracked],
        )

    return make


def _accumulating() -> Trial:
    ((a, b),) = _model(2)
    return Trial(lambda: ex.sum(ex.exp(a).T @ b).backward(), (), lambda: [a.grad, b.grad])


def _clipping(clip: Callable[[Any], Any]) -> Make:
    def make() -> Trial:
        parameters = _model(3)[0]
        return Trial(lambda: clip(parameters), parameters, lambda: [x.grad for x in parameters])

    return make


def _averaging() -> Trial:
    parameters = _model(3)[0]
    average = optim.EMA(parameters, 0.5)
    with ex.no_grad():
        for x in parameters:
            x[...] = x * 2
    return Trial(average.update, parameters, lambda: [average.count, average.averages])


def _drawing(draw: Callable[[Any], Any]) -> Make:
    def make() -> Trial:
        generator = ex.random.Generator(5)
        return Trial(lambda: draw(generator), (), generator.get_state)

    return make


CHANGES: list[tuple[str, Make]] = [
    ("SGD", _stepping(optim.SGD, 1, 3, lr=0.1, momentum=0.9)),
    ("SGD, first step, two groups", _stepping(optim.SGD, 0, 2, 3, lr=0.1, momentum=0.9)),
    ("Adam", _stepping(optim.Adam, 1, 3, amsgrad=True)),
    ("Adam, first step, two groups", _stepping(optim.Adam, 0, 2, 3)),
    ("AdamW, two groups", _stepping(optim.AdamW, 2, 2, 3)),
    ("Adam, two groups of many arrays", _stepping(optim.Adam, 1, 5, 6)),
    ("Adam, two groups, gradients transposed", _stepping(optim.Adam, 1, 2, 2, transposed=True)),
    ("LAMB", _stepping(optim.LAMB, 1, 3)),
    ("LAMB, two groups, gradients transposed", _stepping(optim.LAMB, 1, 2, 2, transposed=True)),
    ("Lion", _stepping(optim.Lion, 1, 3)),
    ("RMSprop", _stepping(optim.RMSprop, 1, 3, momentum=0.9, centered=True)),
    ("Adagrad", _stepping(optim.Adagrad, 1, 3)),
    ("Adadelta", _stepping(optim.Adadelta, 1, 3)),
    ("Muon", _stepping(optim.Muon, 1, 1)),
    ("NAdam", _stepping(optim.NAdam, 1, 1)),
    ("RAdam", _stepping(optim.RAdam, 1, 1)),
    ("Adamax", _stepping(optim.Adamax, 1, 1)),
    ("ASGD", _stepping(optim.ASGD, 1, 1)),
    ("Rprop", _stepping(optim.Rprop, 1, 1)),
    ("Adafactor", _stepping(optim.Adafactor, 1, 1)),
    ("BatchNorm1d", _normalizing(lambda: nn.BatchNorm1d(40), 300, 40)),
    ("BatchNorm2d", _normalizing(lambda: nn.BatchNorm2d(16), 8, 16, 20, 20)),
    ("backward onto gradients", _accumulating),
    ("clip_grad_norm", _clipping(lambda x: optim.clip_grad_norm(x, 0.1))),
    ("clip_grad_value", _clipping(lambda x: optim.clip_grad_value(x, 0.1))),
    ("EMA", _averaging),
    ("rand", _drawing(lambda g: ex.random.rand(300, 400, generator=g))),
    ("randn", _drawing(lambda g: ex.random.randn(300, 400, generator=g))),
    ("randint", _drawing(lambda g: ex.random.randint(0, 9, (300, 400), generator=g))),
    (
        "bernoulli of one chance",
        _drawing(lambda g: ex.random.bernoulli(0.3, (300, 400), generator=g)),
    ),
    ("permutation", _drawing(lambda g: ex.random.permutation(3000, generator=g))),
]


def everything() -> Iterator[tuple[str, int, Make]]:
    """All calls, those large enough for threads with one and with two."""
    for name, make in [*large(), *CHANGES]:
        for threads in (1, 2):
            yield name, threads, make
    for name, make in rows():
        yield name, 1, make


def sample() -> Iterator[tuple[str, int, Make]]:
    """What the tests have time for: all that is large with two threads, and some of the rows."""
    for name, make in [*large(), *CHANGES]:
        yield name, 2, make
    for name, make in list(rows())[::20]:
        yield name, 1, make


def untouched() -> set[str]:
    """The kernels that none of the calls reaches."""
    reached = set()
    with door.watch(lambda computed: reached.add(computed.kernel)):
        for _, make in [*large(), *CHANGES, *rows()]:
            make().call()
    return set(_native.kernels) - reached - {"masked_scale"}  # it is called as dropout
