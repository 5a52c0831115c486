"""Every entry of the extension, called behind the back of what checks arguments for it.

A kernel gets what it got in a good call, with something of it replaced: it must decline or raise.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from calls import arrays_of, call, flat, hand_arguments
from drawn_calls import Rng, anything, disguised, random_array
from op_cases import CASES

import extensor as ex
from extensor import _native
from extensor.core import changes, door, tape
from extensor.core.op import OPS
from extensor.core.tensor import Tensor
from soak.public_calls import FUNCTIONS, MODULES, OPTIMIZERS, real, with_gradient
from soak.targets import Call, Target

KEPT = 12  # good calls of each kernel
Recorded = tuple[tuple[Any, ...], ...]


@cache
def recorded() -> dict[str, list[Any]]:
    """Good calls of kernels, by name: the case table's, and those of optimizers, layers and the like."""
    found: dict[str, list[Any]] = {name: [] for name in _native.kernels}

    def note(computed: Any) -> None:
        if computed.kernel is not None and len(found[computed.kernel]) < KEPT:
            found[computed.kernel].append(computed.inputs)

    rng = np.random.default_rng(0)
    with warnings.catch_warnings(), door.watch(note):
        warnings.simplefilter("ignore")
        for case in CASES:
            for dtype in ("float32", "float64", "float16"):
                _run(case, rng, dtype)
        for name, options in OPTIMIZERS.items():
            if name != "LBFGS":  # which has no kernel and needs a closure
                getattr(ex.optim, name)([with_gradient(rng, 2, 3)], *options).step()
        ex.optim.EMA([with_gradient(rng, 2, 3)]).update()
        ex.random.bernoulli(np.array([0.5, 0.2]), 2)
        for path, example in FUNCTIONS.items():
            if path.startswith(("random.", "clip_grad", "optim.", "nn.init.")):
                function: Any = ex
                for part in path.split("."):
                    function = getattr(function, part)
                function(*example.arguments(rng), **example.keywords(rng))
        for name, example in MODULES.items():
            if example.used is not None and name != "Module":
                made = getattr(ex.nn, name)(*example.arguments(rng), **example.keywords(rng))
                outputs = flat(made(*example.used(rng)))
                if getattr(outputs[0], "requires_grad", False):
                    ex.sum(outputs[0]).backward()
    return found


def _run(case: Any, rng: Rng, dtype: str) -> None:
    inputs = [_tensors(x) for x in arrays_of(case, rng, dtype)]
    rule = OPS[case.op].rule
    with np.errstate(all="ignore"):
        output = call(case, inputs)
        if rule is not None:
            given = hand_arguments(case, inputs, output)
            outputs = flat(output) if rule.several else flat(output)[:1]
            seeds = [ex.ones_like(x) for x in outputs]
            rule.function(seeds if rule.several else seeds[0], **given)


def _tensors(x: Any) -> Any:
    return [_tensors(item) for item in x] if isinstance(x, list) else ex.asarray(x)


def _copied(x: Any) -> Any:
    if isinstance(x, list):
        return [_copied(item) for item in x]
    return x.copy() if isinstance(x, np.ndarray) else x


def _anything(rng: Rng) -> Any:
    choice = rng.random()
    if choice < 0.15:
        return [_anything(rng) for _ in range(rng.integers(0, 3))]
    if choice < 0.25:
        return tuple(int(x) for x in rng.integers(-2, 5, rng.integers(0, 5)))
    return anything(rng)


def _replaced(values: list[Any], rng: Rng) -> list[Any]:
    for _ in range(rng.integers(0, 3)):
        if values:
            values[rng.integers(len(values))] = _anything(rng)
    choice = rng.random()
    if choice < 0.05:
        values = values[: rng.integers(len(values) + 1)]
    elif choice < 0.1:
        values.append(_anything(rng))
    elif choice < 0.15 and len(values) > 1:
        first, second = rng.integers(len(values), size=2)
        values[first], values[second] = values[second], values[first]
    return values


# What these are for is to write into their first argument.
def _changes(name: str) -> bool:
    return name.endswith(("_update", "_")) or name.startswith(("random_", "fill", "copy", "assign"))


def _kernel(name: str) -> Target:
    def draw(rng: Rng) -> Call:
        good = recorded()[name]
        if good and rng.random() < 0.9:
            values = [_copied(x) for x in good[rng.integers(len(good))]]
            values = [disguised(x, rng) if isinstance(x, np.ndarray) else x for x in values]
            values = [x.numpy() if isinstance(x, Tensor) else x for x in values]
        else:
            values = [_anything(rng) for _ in range(rng.integers(0, 9))]
        return Call(_native.kernels[name], _replaced(values, rng), {}, _changes(name))

    return Target(f"kernel {name}", draw, public=False)


@contextmanager
def restored() -> Iterator[None]:
    """The extension's own settings as they were, whatever a call does to them."""
    try:
        yield
    finally:
        _native.set_classes(Tensor, tape.Node, tape.Slot)
        _native.set_writing(door.setitem, changes.mark)
        _native.register_bfloat16(ex.bfloat16.num)
        _native.mode.recording, _native.mode.anomaly, _native.mode.casting = True, False, False
        _native.mode.epsilon = 1e-10
        _native.mode.node = _native.mode.module = None
        _native.mode.formulas = False


def _function(name: str) -> Target:
    def run(*args: Any) -> Any:
        with restored():
            result = getattr(_native, name)(*args)
            _use(result)

    def draw(rng: Rng) -> Call:
        good: dict[str, list[Any]] = {
            "wrap": [random_array(rng)],
            "empty": [(2, 3), np.dtype("float32")],
            "frozen": [[1, (2, [real(rng, 3)])]],
            "shares_memory": [ex.tensor(real(rng, 3)), [real(rng, 3), ex.tensor(real(rng, 2))]],
            "exchange_gradient": [ex.tensor(real(rng, 3)), None, ex.tensor(real(rng, 3))],
            "set_classes": [Tensor, tape.Node, tape.Slot],
            "set_writing": [door.setitem, changes.mark],
            "attach": [tape.Node(OPS["add"].rule, (), ()), [ex.tensor(real(rng, 3))]],
            "bind": [("a", "b"), (..., 1), (2,), {"b": 3}],
            "owner": [random_array(rng)],
            "copy_rows": [np.zeros((4, 3)), np.array([3, 0]), np.ones((2, 3)), np.array([1, 1])],
            "copied": [random_array(rng)],
            "description": [tuple(random_array(rng) for _ in range(rng.integers(0, 20)))],
            "layouts": [tuple(random_array(rng) for _ in range(rng.integers(0, 20)))],
            "set_recorder": [None],
            "tensors_among": [[_anything(rng), ex.tensor(real(rng, 3))]],
            "contents": [[ex.tensor(real(rng, 3)), {"a": 1}, ({"a": 1}, "a", "b")]],
            "holds": [[[_anything(rng)], {"a": 1}], [1, "a", 1]],
            "set_num_threads": [2],
            "set_memory_cache_limit": [2**20],
            "register_bfloat16": [ex.bfloat16.num],
        }
        return Call(run, _replaced(good.get(name, []), rng), {}, True)

    return Target(f"_native.{name}", draw, public=False)


def _use(made: Any) -> None:
    """What was made of junk meets an op, a print and a backward pass."""
    if isinstance(made, Tensor):
        for use in (lambda: made + made, lambda: repr(made), lambda: made.sum().backward()):
            try:
                use()
            except Exception:
                continue


def _dispatcher(rng: Rng) -> Call:
    kernels = list(_native.kernels.values())

    def run(*args: Any) -> None:
        made = _native.Dispatcher(*args)
        if rng.random() < 0.5:
            made.set_rule(*_replaced([OPS["add"].rule, False, (0, 1), (0, 1), (0, 1)], rng))
        x = ex.tensor(real(rng, 3), requires_grad=True)
        made(*_replaced([x, x], rng))

    good = ["op", lambda *a: None, kernels[rng.integers(len(kernels))], ("a", "b"), (..., ...), (0, 1), 2, 0,
            (False, False), False, (), 0]  # fmt: skip
    return Call(run, _replaced(good, rng), {}, True)


def _replayer(rng: Rng) -> Call:
    names = [name for name in _native.kernels if name.endswith("_backward")]
    name = names[rng.integers(len(names))]
    good = recorded()[name]
    values = [_copied(x) for x in good[rng.integers(len(good))]] if good else [real(rng, 3)]

    def run(*args: Any) -> None:
        made = _native.Replayer(*args)
        gradient, *saved = [ex.asarray(x) if isinstance(x, np.ndarray) else x for x in values]
        made(*_replaced([gradient, tuple(_replaced(saved, rng)), (True,) * len(saved)], rng))

    eps_at, single = int(rng.integers(-1, 4)), bool(rng.random() < 0.5)
    return Call(run, _replaced([name, _native.kernels[name], eps_at, single, False], rng), {}, True)


def _tensor_members(rng: Rng) -> Call:
    def run(value: Any, name: str) -> None:
        x = ex.tensor(real(rng, 3), requires_grad=True)
        y = x * 2
        for target in (x, y):
            if rng.random() < 0.2:
                delattr(target, name)
            else:
                setattr(target, name, value)
        with restored():
            _use(y)
            _use(x)

    name = ["_array", "_requires_grad", "_node", "_hooks", "grad"][rng.integers(5)]
    return Call(run, [_anything(rng), name], {}, True)


def _node_members(rng: Rng) -> Call:
    def run(value: Any, name: str) -> None:
        y = ex.tensor(real(rng, 3), requires_grad=True) * ex.tensor(real(rng, 3))
        node = y._node if rng.random() < 0.7 else _native.NodeBase(*_replaced([None, (), ()], rng))
        if rng.random() < 0.2:
            delattr(node, name)
        else:
            setattr(node, name, value)
        _use(y)

    name = ["rule", "saved", "parents", "hooks", "place", "number"][rng.integers(6)]
    return Call(run, [_anything(rng), name], {}, True)


MODES = ["recording", "anomaly", "casting", "formulas", "epsilon", "node", "module"]


def _mode(rng: Rng) -> Call:
    def run(value: Any, name: str) -> None:
        with restored():
            setattr(_native.mode, name, value)
            _use(ex.tensor(real(rng, 3), requires_grad=True) * 2)

    return Call(run, [_anything(rng), MODES[rng.integers(len(MODES))]], {})


def _good_call(rng: Rng) -> tuple[str, list[Any]]:
    """A kernel's name and arguments that it takes; the reference engine has called none."""
    names = [name for name, calls in recorded().items() if calls] or list(_native.kernels)
    name = names[rng.integers(len(names))]
    calls = recorded()[name] or [(real(rng, 3),)]
    return name, [_copied(x) for x in calls[rng.integers(len(calls))]]


def _plan(rng: Rng) -> Call:
    name, values = _good_call(rng)

    def run(*args: Any) -> None:
        planned = _native.plan(*args)
        if planned is not NotImplemented:
            inputs = planned.inputs if rng.random() < 0.5 else None
            planned.run(*_replaced([inputs, None], rng))
            _ = planned.depends_on_values

    return Call(run, _replaced([_native.kernels[name], *values], rng), {}, True)


def _computation(rng: Rng) -> Call:
    name, values = _good_call(rng)

    def run(*args: Any) -> None:
        made = _native.Computation(*args)
        made(*_replaced(values.copy(), rng))
        made.finished(*_replaced([lambda result: result, *values], rng))

    formula = [None, lambda *arguments: arguments[0]][rng.integers(2)]
    return Call(run, _replaced([name, _native.kernels[name], formula, False], rng), {}, True)


def _watcher(rng: Rng) -> Call:
    def run(watcher: Any) -> None:
        _native.add_watcher(watcher)
        try:
            _use(ex.tensor(real(rng, 3), requires_grad=True) * 2)
        finally:
            _native.remove_watcher(watcher)
            _native.remove_watcher(_anything(rng))

    def look(computed: Any) -> None:
        for name in dir(computed):
            getattr(computed, name)

    return Call(run, _replaced([look], rng)[:1] or [None], {}, True)


def _recorded(x: Any) -> tuple[Any, Any]:
    """A recorder of two calls on an array, and the arrays of its buffers."""
    recorder = _native.Recorder()
    recorder.bind(x)
    with restored():
        _native.set_recorder(recorder)
        try:
            ex.sum(ex.relu(ex.tensor(x)) * 2)
        finally:
            _native.set_recorder(None)
    return recorder, [recorder.buffer(i)[1] for i in range(recorder.buffers)]


def _recorder(rng: Rng) -> Call:
    recorder, _ = _recorded(real(rng, 3))

    def run(*args: Any) -> None:
        for use in (recorder.bind, recorder.fresh, recorder.place, recorder.holds, recorder.brings):
            use(args[0])
        recorder.call(args[1])
        recorder.buffer(args[1])

    return Call(run, _replaced([real(rng, 3), int(rng.integers(-2, 5))], rng), {}, True)


def _program(rng: Rng) -> Call:
    recorder, arrays = _recorded(real(rng, 3))

    def run(*args: Any) -> None:
        made = _native.Program(recorder, *args[:3])
        held = []
        for i, array in enumerate(arrays):
            held.append(_replaced([array], rng)[0] if rng.random() < 0.2 else array)
            made.bind(i, held[-1], 0)
        made.set_numbers(args[3])
        made.run(*args[4:6])
        made.array(0, 0, arrays[0])

    calls = list(range(recorder.calls))
    return Call(run, _replaced([calls, [(0, 0)], [], [1.0], 0, len(calls)], rng), {}, True)


def native_targets() -> list[Target]:
    functions = (
        "wrap empty frozen shares_memory exchange_gradient next_number clock advance_clock set_classes "
        "attach bind contents holds description layouts tensors_among set_recorder owner copied copy_rows "
        "num_threads set_num_threads "
        "memory_stats reset_peak_memory trim_memory set_memory_cache_limit register_bfloat16 "
        "set_writing TensorBase NodeBase"
    ).split()
    return [
        *(_kernel(name) for name in _native.kernels),
        *(_function(name) for name in functions),
        Target("_native.Dispatcher", _dispatcher, public=False),
        Target("_native.Replayer", _replayer, public=False),
        Target("_native.TensorBase members", _tensor_members, public=False),
        Target("_native.NodeBase members", _node_members, public=False),
        Target("_native.mode", _mode, public=False),
        Target("_native.plan", _plan, public=False),
        Target("_native.Computation", _computation, public=False),
        Target("_native.Recorder", _recorder, public=False),
        Target("_native.Program", _program, public=False),
        Target("_native.add_watcher", _watcher, public=False),
    ]
