"""Everything that can be called: for each, a function that draws one call of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from calls import flat
from drawn_calls import Rng, anything, disguised, random_array, rows
from op_calls import RULES, anything_for, op_from_row, rule_from_row

import extensor as ex
from extensor import _native
from extensor.core.op import OPS
from extensor.core.tensor import Tensor
from soak.metric_calls import METRICS
from soak.public_calls import (
    DATA,
    FUNCTIONS,
    MODULES,
    OPTIMIZERS,
    SCHEDULES,
    Example,
    optimizer,
    real,
    table,
    with_gradient,
)


class Call(NamedTuple):
    """One call. ``changes`` says that it may write to its arguments."""

    function: Callable[..., Any]
    args: list[Any]
    kwargs: dict[str, Any]
    changes: bool = False


class Target(NamedTuple):
    """Something to call, and whether the texts of its errors are for users."""

    name: str
    draw: Callable[[Rng], Call]
    public: bool = True


UPDATING = {name for name, op in OPS.items() if op.updates}
OPERATORS = [
    f"__{side}{name}__"
    for name in "add sub mul truediv floordiv mod pow matmul and or xor".split()
    for side in ("", "r")
] + [f"__{name}__" for name in "eq ne lt le gt ge getitem contains".split()]
UNARY = [f"__{name}__" for name in "neg pos abs invert len iter bool float int index repr".split()]


def spoiled(args: list[Any], kwargs: dict[str, Any], rng: Rng) -> None:
    """Half of the calls have something changed: an argument or two, or their number."""
    if rng.random() < 0.4:
        args[:] = [disguised(x, rng) if isinstance(x, np.ndarray) else x for x in args]
    if rng.random() < 0.5:
        return
    for _ in range(1 if rng.random() < 0.8 else 2):
        place = int(rng.integers(len(args) + len(kwargs) + 1))
        if place < len(args):
            args[place] = anything(rng)
        elif place < len(args) + len(kwargs):
            kwargs[list(kwargs)[place - len(args)]] = anything(rng)
    if rng.random() < 0.1:
        if args and rng.random() < 0.5:
            args.pop()
        else:
            args.append(anything(rng))
    if rng.random() < 0.03:
        kwargs["unknown"] = 1


def _from_row(name: str) -> Target:
    table = rows(name)

    def draw(rng: Rng) -> Call:
        args, kwargs = op_from_row(table[rng.integers(len(table))], rng)
        return Call(getattr(ex, name), args, kwargs, name in UPDATING)

    return Target(name, draw)


def _from_anything(name: str) -> Target:
    def draw(rng: Rng) -> Call:
        parameters = OPS[name].public
        return Call(getattr(ex, name), anything_for(parameters, rng), {}, name in UPDATING)

    return Target(name, draw)


def _recorded(name: str) -> Target:
    """An op on leaves, and its backward pass."""
    table = rows(name)

    def run(*args: Any, **kwargs: Any) -> None:
        result = getattr(ex, name)(*args, **kwargs)
        for x in flat(result):
            if isinstance(x, Tensor) and x.requires_grad:
                ex.sum(x).backward()
                break

    def draw(rng: Rng) -> Call:
        args, kwargs = op_from_row(table[rng.integers(len(table))], rng)
        return Call(run, [_leaf(x) for x in args], {k: _leaf(x) for k, x in kwargs.items()}, True)

    return Target(f"backward of {name}", draw)


def _leaf(x: Any) -> Any:
    if isinstance(x, list):
        return [_leaf(item) for item in x]
    if isinstance(x, np.ndarray) and x.dtype.isnative and x.dtype.kind == "f":
        return ex.tensor(x, requires_grad=True)
    return x


def _rule(name: str) -> Target:
    table = rows(name)

    def draw(rng: Rng) -> Call:
        args = rule_from_row(table[rng.integers(len(table))], rng)
        return Call(getattr(ex, f"{name}_backward"), args, {})

    return Target(f"{name}_backward", draw)


def _rule_from_anything(name: str) -> Target:
    def draw(rng: Rng) -> Call:
        rule = OPS[name].rule
        assert rule is not None
        return Call(rule.function, anything_for(rule.parameters, rng), {})

    return Target(f"{name}_backward", draw)


def _function(path: str, example: Example) -> Target:
    def draw(rng: Rng) -> Call:
        function: Any = ex
        for name in path.split("."):
            function = getattr(function, name)
        args, kwargs = list(example.arguments(rng)), example.keywords(rng)
        spoiled(args, kwargs, rng)
        return Call(function, args, kwargs, example.changes)

    return Target(path, draw)


def _made_and_used(path: str, example: Example) -> Target:
    """A class or a factory of modules: the constructor, and what it made called on an input."""

    def draw(rng: Rng) -> Call:
        assert example.used is not None
        function: Any = ex
        for name in path.split("."):
            function = getattr(function, name)
        args, kwargs = list(example.arguments(rng)), example.keywords(rng)
        inputs = list(example.used(rng))
        if rng.random() < 0.5:
            spoiled(args, kwargs, rng)

            def run(*args: Any, **kwargs: Any) -> Any:
                return function(*args, **kwargs)(*inputs)

            return Call(run, args, kwargs)
        spoiled(inputs, {}, rng)
        made = function(*args, **kwargs)
        return Call(made, inputs, {})

    return Target(f"{path}()", draw)


def _optimizer(name: str, options: tuple[Any, ...]) -> Target:
    def draw(rng: Rng) -> Call:
        params = [with_gradient(rng, 2, 3), with_gradient(rng, 4, 2)]
        args = [params, *options]
        spoiled(args, {}, rng)
        if rng.random() < 0.2:
            _native.exchange_gradient(params[0], params[0].grad, ex.tensor(real(rng, 3)))

        def run(*args: Any) -> None:
            made = getattr(ex.optim, name)(*args)

            def closure() -> Any:
                made.zero_grad()
                loss = sum((x * x).sum() for group in made.param_groups for x in group["params"])
                ex.backward(loss)
                return loss

            given = (closure,) if name == "LBFGS" else ()
            made.step(*given)
            made.load_state_dict(made.state_dict())
            made.step(*given)
            repr(made)

        return Call(run, args, {}, True)

    return Target(f"optim.{name}", draw)


def _metric(name: str, task: str, example: Example) -> Target:
    """A metric made, updated in two batches and computed, and its state taken over."""

    def draw(rng: Rng) -> Call:
        assert example.used is not None
        kind = getattr(ex.train, name)
        args, kwargs = list(example.arguments(rng)), example.keywords(rng)
        first, second = list(example.used(rng)), list(example.used(rng))

        def run(*args: Any, **kwargs: Any) -> None:
            made = kind(*args, **kwargs)
            use(made, *second)

        def use(made: Any, *second: Any) -> None:
            made.update(*first)
            made.update(*second)
            made.compute()
            if hasattr(made, "state_dict"):
                made.load_state_dict(made.state_dict())
                made.update(*second)
                made.compute()

        if rng.random() < 0.4:
            spoiled(args, kwargs, rng)
            return Call(run, args, kwargs)
        made = kind(*args, **kwargs)
        spoiled(second, {}, rng)
        return Call(use, [made, *second], {})

    return Target(f"train.{name} ({task})", draw)


def _schedule(name: str, options: tuple[Any, ...]) -> Target:
    def draw(rng: Rng) -> Call:
        args = [optimizer(rng), *options]
        spoiled(args, {}, rng)
        steps = [3.0, 4.0] if name == "ReduceLROnPlateau" else None

        def run(*args: Any) -> None:
            made = getattr(ex.optim, name)(*args)
            for metric in steps or range(2):
                made.step(metric) if steps else made.step()
            made.load_state_dict(made.state_dict())
            made.rates_at(3)

        return Call(run, args, {}, True)

    return Target(f"optim.{name}", draw)


def _method(name: str) -> Target:
    """A method of a tensor on what its op's rows give it, or on anything."""
    public = getattr(Tensor, name)
    op = getattr(public, "op", None)
    table = rows(op.name) if op is not None else []

    def draw(rng: Rng) -> Call:
        if table and rng.random() < 0.5:
            args, kwargs = op_from_row(table[rng.integers(len(table))], rng)
            if args and _is_numbers(args[0]):
                return Call(public, [ex.asarray(args[0]), *args[1:]], kwargs)
        x = ex.asarray(random_array(rng))
        count = int(rng.integers(0, 4))
        return Call(public, [x, *(anything(rng) for _ in range(count))], {})

    return Target(f"Tensor.{name}", draw)


def _is_numbers(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.isnative and x.dtype.kind in "biuf"


def _operator(name: str, arguments: int) -> Target:
    def draw(rng: Rng) -> Call:
        x = ex.asarray(random_array(rng))
        return Call(getattr(Tensor, name), [x, *(anything(rng) for _ in range(arguments))], {})

    return Target(f"Tensor.{name}", draw)


def _property(name: str) -> Target:
    def draw(rng: Rng) -> Call:
        return Call(lambda x: getattr(x, name), [ex.asarray(random_array(rng))], {})

    return Target(f"Tensor.{name}", draw)


def _bound_methods(name: str, make: Callable[[Rng], Any], methods: str) -> list[Target]:
    """Methods of an object on anything, among it what is right."""

    def target(method: str) -> Target:
        def draw(rng: Rng) -> Call:
            count = int(rng.integers(0, 3))
            args = [anything(rng) for _ in range(count)]
            return Call(getattr(make(rng), method), args, {}, True)

        return Target(f"{name}.{method}", draw)

    return [target(method) for method in methods.split()]


def _set_item(rng: Rng) -> Call:
    x = ex.tensor(random_array(rng))
    return Call(Tensor.__setitem__, [x, anything(rng), anything(rng)], {}, True)


def _update_at(rng: Rng) -> Call:
    x = ex.asarray(random_array(rng))
    kind = "set" if rng.random() < 0.5 else "add"
    return Call(lambda x, i, v: getattr(x.at[i], kind)(v), [x, anything(rng), anything(rng)], {})


class _Double(ex.Function):
    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(context: Any, grad_output: Any) -> Any:
        return grad_output * 2


def _network(rng: Rng) -> Any:
    return ex.nn.Sequential(ex.nn.Linear(4, 3), ex.nn.BatchNorm1d(3), ex.nn.ReLU())


MODULE_METHODS = (
    "add_module apply buffers children double eval extra_repr float get_submodule half "
    "load_state_dict modules named_modules named_parameters num_parameters parameters "
    "register_buffer register_forward_hook register_parameter requires_grad_ state_dict summary to "
    "train zero_grad append extend insert pop __getitem__ __setitem__ __delitem__ __len__"
)


def public_targets() -> list[Target]:
    """All that a user can call."""
    members = [name for name in dir(Tensor) if not name.startswith("_") and hasattr(Tensor, name)]
    callables = [name for name in members if callable(getattr(Tensor, name))]
    return [
        *(make(name) for name in OPS for make in (_from_row, _from_anything)),
        *(_recorded(name) for name in RULES),
        *(make(name) for name in RULES for make in (_rule, _rule_from_anything)),
        *(_method(name) for name in callables),
        *(_property(name) for name in members if name not in callables),
        *(_operator(name, 1) for name in OPERATORS),
        *(_operator(name, 0) for name in UNARY),
        Target("Tensor.__setitem__", _set_item),
        Target("Tensor.at", _update_at),
        *(_function(path, example) for path, example in FUNCTIONS.items()),
        *(_function(f"nn.{name}", example) for name, example in MODULES.items()),
        *(_function(f"data.{name}", example) for name, example in DATA.items()),
        *(_made_and_used(f"nn.{n}", x) for n, x in MODULES.items() if x.used is not None),
        *(_made_and_used(n, x) for n, x in FUNCTIONS.items() if x.used is not None),
        *(_optimizer(name, options) for name, options in OPTIMIZERS.items()),
        *(_schedule(name, options) for name, options in SCHEDULES.items()),
        *(_metric(name, task, example) for (name, task), example in METRICS.items()),
        *_bound_methods("train.F1", lambda rng: ex.train.F1(3), "update load_state_dict"),
        *_bound_methods("train.R2", lambda rng: ex.train.R2(), "update load_state_dict"),
        *_bound_methods("nn.Module", _network, MODULE_METHODS),
        *_bound_methods("optim.SGD", optimizer, "step zero_grad add_param_group load_state_dict"),
        *_bound_methods(
            "optim.StepLR", lambda rng: ex.optim.StepLR(optimizer(rng), 2),
            "step rates_at get_last_lr load_state_dict remove",
        ),
        *_bound_methods(
            "optim.ReduceLROnPlateau", lambda rng: ex.optim.ReduceLROnPlateau(optimizer(rng)),
            "step rates_at load_state_dict",
        ),
        *_bound_methods(
            "optim.EMA", lambda rng: ex.optim.EMA(_network(rng)), "update load_state_dict"
        ),
        _function("optim.EMA", Example(lambda rng: (_network(rng), 0.9, True))),
        _function("amp.GradScaler", Example(lambda rng: (2.0**16, 2.0, 0.5, 2000, True))),
        *_bound_methods("amp.GradScaler", lambda rng: ex.amp.GradScaler(), "scale load_state_dict"),
        *_bound_methods("random.Generator", lambda rng: ex.random.Generator(3), "manual_seed set_state"),
        *_bound_methods("Table", table, "rows select without __getitem__ __contains__"),
        *_bound_methods(
            "TableEncoder", lambda rng: ex.data.TableEncoder.fit(table(rng)), "encode describe"
        ),
        *_bound_methods("Function", lambda rng: _Double, "apply"),
    ]  # fmt: skip
