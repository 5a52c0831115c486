"""Every way to hold a value that a step reads: a change of it is seen, or the read is refused."""

from __future__ import annotations

import argparse
import array
import collections
import contextvars
import cProfile
import ctypes
import dataclasses
import datetime
import enum
import functools
import io
import itertools
import operator
import os
import pathlib
import random
import sys
import threading
import time
import types
import uuid
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import extensor as ex
from extensor import nn

X = np.linspace(0.5, 1.5, 6, dtype="float64")
GLOBAL = 1.0
COUNT = 0


class Case(NamedTuple):
    """A function that reads a value, and what changes that value."""

    function: Callable[[Any], Any]
    change: Callable[[], Any]


def _set(holder: Any, name: str, value: Any) -> Callable[[], Any]:
    return lambda: setattr(holder, name, value)


def _put(holder: Any, key: Any, value: Any = 5.0) -> Callable[[], Any]:
    return lambda: operator.setitem(holder, key, value)


def global_variable() -> Case:
    def change() -> None:
        global GLOBAL
        GLOBAL = 5.0 if GLOBAL != 5.0 else 1.0

    return Case(lambda x: x * GLOBAL, change)


def closure() -> Case:
    beta = 1.0

    def change() -> None:
        nonlocal beta
        beta = 5.0

    return Case(lambda x: x * beta, change)


def negative_zero() -> Case:
    holder = argparse.Namespace(beta=0.0)
    return Case(lambda x: 1 / (x * holder.beta), _set(holder, "beta", -0.0))


def default_argument() -> Case:
    def function(x: Any, beta: float = 1.0) -> Any:
        return x * beta

    return Case(function, _set(function, "__defaults__", (5.0,)))


def mutable_default() -> Case:
    def function(x: Any, table: Any = {"beta": 1.0}) -> Any:  # noqa: B006
        return x * table["beta"]

    assert function.__defaults__ is not None
    return Case(function, _put(function.__defaults__[0], "beta"))


def keyword_default() -> Case:
    def function(x: Any, *, beta: float = 1.0) -> Any:
        return x * beta

    return Case(function, _set(function, "__kwdefaults__", {"beta": 5.0}))


def function_attribute() -> Case:
    def function(x: Any) -> Any:
        return x * function.beta  # type: ignore[attr-defined]

    function.beta = 1.0  # type: ignore[attr-defined]
    return Case(function, _set(function, "beta", 5.0))


def attribute_of_another_function() -> Case:
    def other() -> None: ...

    other.beta = 1.0  # type: ignore[attr-defined]
    return Case(lambda x: x * other.beta, _set(other, "beta", 5.0))  # type: ignore[attr-defined]


def argparse_namespace() -> Case:
    holder = argparse.Namespace(beta=1.0)
    return Case(lambda x: x * holder.beta, _set(holder, "beta", 5.0))


def simple_namespace() -> Case:
    holder = types.SimpleNamespace(beta=1.0)
    return Case(lambda x: x * holder.beta, _set(holder, "beta", 5.0))


def namespace_of_a_module() -> Case:
    net = nn.Linear(1, 1)
    net.cfg = types.SimpleNamespace(beta=1.0)
    return Case(lambda x: x * net.cfg.beta, _set(net.cfg, "beta", 5.0))


def module_attribute() -> Case:
    net = nn.Linear(1, 1)
    net.beta = 1.0
    return Case(lambda x: x * net.beta, _set(net, "beta", 5.0))


def dictionary() -> Case:
    holder = {"beta": 1.0}
    return Case(lambda x: x * holder["beta"], _put(holder, "beta"))


def nested_dictionary() -> Case:
    holder = {"loss": {"beta": [1.0]}}
    return Case(lambda x: x * holder["loss"]["beta"][0], _put(holder["loss"]["beta"], 0))


def new_key_of_a_dictionary() -> Case:
    holder: dict[str, float] = {}
    return Case(lambda x: x * holder.get("beta", 1.0), _put(holder, "beta"))


def default_dictionary() -> Case:
    holder = collections.defaultdict(lambda: 1.0, beta=1.0)
    return Case(lambda x: x * holder["beta"], _put(holder, "beta"))


def ordered_dictionary() -> Case:
    holder = collections.OrderedDict(beta=1.0)
    return Case(lambda x: x * holder["beta"], _put(holder, "beta"))


def counter() -> Case:
    holder = collections.Counter("a")
    return Case(lambda x: x * holder["a"], lambda: holder.update("aa"))


def chain_map() -> Case:
    holder = collections.ChainMap({}, {"beta": 1.0})
    return Case(lambda x: x * holder["beta"], _put(holder.maps[1], "beta"))


def user_dict() -> Case:
    holder = collections.UserDict(beta=1.0)
    return Case(lambda x: x * holder["beta"], _put(holder, "beta"))


def user_list() -> Case:
    holder = collections.UserList([1.0])
    return Case(lambda x: x * holder[0], _put(holder, 0))


def mapping_proxy() -> Case:
    inner = {"beta": 1.0}
    holder = types.MappingProxyType(inner)
    return Case(lambda x: x * holder["beta"], _put(inner, "beta"))


def list_item() -> Case:
    holder = [1.0]
    return Case(lambda x: x * holder[0], _put(holder, 0))


def list_in_a_tuple() -> Case:
    holder = ([1.0],)
    return Case(lambda x: x * holder[0][0], _put(holder[0], 0))


def set_of_flags() -> Case:
    holder: set[str] = set()
    return Case(lambda x: x * 5 if "on" in holder else x, lambda: holder.add("on"))


def deque() -> Case:
    holder = collections.deque([1.0])
    return Case(lambda x: x * holder[0], _put(holder, 0))


def array_array() -> Case:
    holder = array.array("d", [1.0])
    return Case(lambda x: x * holder[0], _put(holder, 0))


def byte_array() -> Case:
    holder = bytearray(b"\x01")
    return Case(lambda x: x * holder[0], _put(holder, 0, 5))


def memory_view() -> Case:
    memory = bytearray(b"\x01")
    holder = memoryview(memory)
    return Case(lambda x: x * holder[0], _put(memory, 0, 5))


def numpy_array() -> Case:
    holder = np.ones(1)
    return Case(lambda x: x * float(holder[0]), _put(holder, 0))


def large_numpy_array() -> Case:
    holder = np.ones(100_000)
    return Case(lambda x: x * float(holder.sum()), _put(holder, 0))


def object_array() -> Case:
    holder = np.array([1.0, None], object)
    return Case(lambda x: x * holder[0], _put(holder, 0))


def structured_array() -> Case:
    holder = np.ones(1, [("beta", "f8")])
    return Case(lambda x: x * float(holder["beta"][0]), _put(holder["beta"], 0))


def numpy_polynomial() -> Case:
    holder = np.poly1d([1.0])
    return Case(lambda x: x * float(holder(0)), _put(holder.coeffs, 0))


def ctypes_number() -> Case:
    holder = ctypes.c_double(1.0)
    return Case(lambda x: x * holder.value, _set(holder, "value", 5.0))


def data_class() -> Case:
    @dataclasses.dataclass
    class Options:
        beta: float = 1.0

    holder = Options()
    return Case(lambda x: x * holder.beta, _set(holder, "beta", 5.0))


def data_class_as_a_dict() -> Case:
    @dataclasses.dataclass
    class Options:
        beta: float = 1.0

    holder = Options()
    return Case(lambda x: x * dataclasses.asdict(holder)["beta"], _set(holder, "beta", 5.0))


def slots() -> Case:
    @dataclasses.dataclass(slots=True)
    class Options:
        beta: float = 1.0

    holder = Options()
    return Case(lambda x: x * holder.beta, _set(holder, "beta", 5.0))


def class_attribute() -> Case:
    class Options:
        beta = 1.0

    return Case(lambda x: x * Options.beta, _set(Options, "beta", 5.0))


def class_attribute_of_an_instance() -> Case:
    class Options:
        beta = 1.0

    holder = Options()
    return Case(lambda x: x * holder.beta, _set(Options, "beta", 5.0))


def attribute_of_a_metaclass() -> Case:
    class Meta(type):
        beta = 1.0

    class Options(metaclass=Meta): ...

    return Case(lambda x: x * Options.beta, _set(Meta, "beta", 5.0))


def inherited_attribute() -> Case:
    class Base:
        beta = 1.0

    class Options(Base): ...

    return Case(lambda x: x * Options().beta, _set(Base, "beta", 5.0))


def property_of_a_private_attribute() -> Case:
    class Options:
        def __init__(self) -> None:
            self._beta = 1.0

        @property
        def beta(self) -> float:
            return self._beta

    holder = Options()
    return Case(lambda x: x * holder.beta, _set(holder, "_beta", 5.0))


def attributes_on_demand() -> Case:
    class Options:
        def __init__(self) -> None:
            self.table = {"beta": 1.0}

        def __getattr__(self, name: str) -> Any:
            return vars(self)["table"][name]

    holder = Options()
    return Case(lambda x: x * holder.beta, _put(holder.table, "beta"))


def descriptor() -> Case:
    class Stored:
        def __init__(self) -> None:
            self.value = 1.0

        def __get__(self, instance: Any, owner: Any = None) -> float:
            return self.value

    stored = Stored()

    class Options:
        beta = stored

    holder = Options()
    return Case(lambda x: x * holder.beta, _set(stored, "value", 5.0))


def computed_name() -> Case:
    holder = types.SimpleNamespace(beta=1.0)
    name = "".join(["be", "ta"])
    return Case(lambda x: x * getattr(holder, name), _set(holder, "beta", 5.0))


def variables_of_an_object() -> Case:
    holder = types.SimpleNamespace(**{"be ta": 1.0})
    return Case(lambda x: x * next(iter(vars(holder).values())), _put(vars(holder), "be ta"))


def attribute_getter() -> Case:
    holder = types.SimpleNamespace(beta=1.0)
    get = operator.attrgetter("".join(["be", "ta"]))
    return Case(lambda x: x * get(holder), _set(holder, "beta", 5.0))


def text_that_is_formatted() -> Case:
    holder = types.SimpleNamespace(beta=1.0)
    return Case(lambda x: x * float("{0.beta}".format(holder)), _set(holder, "beta", 5.0))  # noqa: UP030, UP032


def text_that_is_evaluated() -> Case:
    holder = types.SimpleNamespace(beta=1.0)
    scope = {"holder": holder}
    return Case(lambda x: x * eval("holder.beta", scope), _set(holder, "beta", 5.0))


def enum_member() -> Case:
    class Mode(enum.Enum):
        SMALL = 1.0
        LARGE = 5.0

    holder = types.SimpleNamespace(mode=Mode.SMALL)
    return Case(lambda x: x * holder.mode.value, _set(holder, "mode", Mode.LARGE))


def partial_argument() -> Case:
    holder = [1.0]
    return Case(functools.partial(lambda table, x: x * table[0], holder), _put(holder, 0))


def method() -> Case:
    class Loss:
        beta = 1.0

        def compute(self, x: Any) -> Any:
            return x * self.beta

    loss = Loss()
    return Case(loss.compute, _set(loss, "beta", 5.0))


def callable_object() -> Case:
    class Loss:
        beta = 1.0

        def __call__(self, x: Any) -> Any:
            return x * self.beta

    loss = Loss()
    return Case(loss, _set(loss, "beta", 5.0))


def bound_builtin() -> Case:
    holder = {"beta": 1.0}
    get = holder.get
    return Case(lambda x: x * get("beta"), _put(holder, "beta"))


def wrapped_function() -> Case:
    holder = [1.0]

    def inner(x: Any) -> Any:
        return x * holder[0]

    @functools.wraps(inner)
    def outer(x: Any) -> Any:
        return inner(x)

    return Case(outer, _put(holder, 0))


def compiled_function_inside() -> Case:
    holder = [1.0]
    inner = ex.compile(lambda x: x * holder[0])
    return Case(lambda x: inner(x), _put(holder, 0))


def dispatch_table() -> Case:
    holder = [1.0]
    table = {"a": lambda x: x * holder[0]}
    return Case(lambda x: table["".join("a")](x), _put(holder, 0))


def context_variable() -> Case:
    holder: contextvars.ContextVar[float] = contextvars.ContextVar("beta", default=1.0)
    return Case(lambda x: x * holder.get(), lambda: holder.set(5.0))


def thread_local() -> Case:
    holder = threading.local()
    holder.beta = 1.0
    return Case(lambda x: x * holder.beta, _set(holder, "beta", 5.0))


def weak_reference() -> Case:
    holder = nn.Linear(1, 1)
    holder.beta = 1.0
    reference = weakref.ref(holder)
    return Case(lambda x: x * reference().beta, _set(holder, "beta", 5.0))  # type: ignore[union-attr]


def environment() -> Case:
    os.environ["EXTENSOR_TEST_BETA"] = "1"
    return Case(
        lambda x: x * float(os.environ["EXTENSOR_TEST_BETA"]),
        _put(os.environ, "EXTENSOR_TEST_BETA", "5"),
    )


def environment_by_getenv() -> Case:
    os.environ["EXTENSOR_TEST_BETA"] = "1"
    return Case(
        lambda x: x * float(os.getenv("EXTENSOR_TEST_BETA", "")),
        _put(os.environ, "EXTENSOR_TEST_BETA", "5"),
    )


def variable_of_an_installed_package() -> Case:
    previous = pytest.__dict__.get("beta_of_test")
    pytest.beta_of_test = 1.0  # type: ignore[attr-defined]
    assert previous is None or previous == 5.0
    return Case(
        lambda x: x * pytest.beta_of_test,  # type: ignore[attr-defined]
        _set(pytest, "beta_of_test", 5.0),
    )


def variable_of_an_imported_module() -> Case:
    module = types.ModuleType("settings_of_test")
    module.BETA = 1.0  # type: ignore[attr-defined]
    sys.modules["settings_of_test"] = module

    def function(x: Any) -> Any:
        from settings_of_test import BETA  # type: ignore[import-not-found]

        return x * BETA

    return Case(function, _set(module, "BETA", 5.0))


def behind_many_objects() -> Case:
    holder = types.SimpleNamespace(many=[[i] for i in range(150_000)], last=[1.0])
    return Case(lambda x: x * (holder.many and holder.last[0]), _put(holder.last, 0))


def arrow_table() -> Case:
    holder = [pa.table({"beta": [1.0]})]
    return Case(
        lambda x: x * holder[0].column("beta")[0].as_py(),
        _put(holder, 0, pa.table({"beta": [5.0]})),
    )


def rate_of_an_optimizer() -> Case:
    optimizer = ex.optim.SGD([ex.ones(1, requires_grad=True)], lr=1.0)
    return Case(
        lambda x: x * optimizer.param_groups[0]["lr"], _put(optimizer.param_groups[0], "lr")
    )


def default_of_an_optimizer() -> Case:
    optimizer = ex.optim.SGD([ex.ones(1, requires_grad=True)], lr=1.0)
    return Case(lambda x: x * optimizer.defaults["lr"], _put(optimizer.defaults, "lr"))


def count_of_a_schedule() -> Case:
    optimizer = ex.optim.SGD([ex.ones(1, requires_grad=True)], lr=1.0)
    schedule = ex.optim.StepLR(optimizer, 1)
    return Case(lambda x: x * (1 + schedule.count), schedule.step)


def rate_of_a_schedule() -> Case:
    optimizer = ex.optim.SGD([ex.ones(1, requires_grad=True)], lr=1.0)
    schedule = ex.optim.StepLR(optimizer, 1)
    return Case(lambda x: x * schedule.get_last_lr()[0], schedule.step)


def decay_of_an_average() -> Case:
    ema = ex.optim.EMA([ex.ones(1)], decay=0.5)
    return Case(lambda x: x * ema.decay, _set(ema, "decay", 0.9))


def scale_of_a_scaler() -> Case:
    scaler = ex.amp.GradScaler(init_scale=4.0)
    return Case(lambda x: x * scaler.get_scale(), _set(scaler, "_scale", 2.0))


def size_of_batches() -> Case:
    loader = ex.data.DataLoader(ex.data.ArrayDataset(np.ones(8)), batch_size=2)
    return Case(lambda x: x * loader.batch_size, _set(loader, "batch_size", 4))


def array_that_numpy_reads_too() -> Case:
    weights = np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0])
    return Case(lambda x: x * weights / weights.sum(), _put(weights, 0, 9.0))


def condition_on_an_array_that_is_an_input() -> Case:
    weights = np.ones(6)
    return Case(lambda x: x * weights if weights.max() < 2 else -x, _put(weights, 0))


def cached_settings() -> Case:
    @functools.lru_cache
    def settings() -> Any:
        return types.SimpleNamespace(beta=1.0)

    return Case(lambda x: x * settings().beta, lambda: setattr(settings(), "beta", 5.0))


def subclass_of_a_user_dict() -> Case:
    class Options(collections.UserDict[str, float]): ...

    holder = Options(beta=1.0)
    return Case(lambda x: x * holder["beta"], _put(holder, "beta"))


def enum_of_dictionaries() -> Case:
    class Preset(enum.Enum):
        SMALL: Any = {"beta": 1.0}  # noqa: RUF012

    return Case(lambda x: x * Preset.SMALL.value["beta"], _put(Preset.SMALL.value, "beta"))


def attribute_of_a_dictionary() -> Case:
    class Options(dict[str, float]):
        beta: float

    holder = Options()
    holder.beta = 1.0
    return Case(lambda x: x * holder.beta, _set(holder, "beta", 5.0))


def attribute_of_an_array() -> Case:
    class Weights(np.ndarray[Any, Any]):
        beta: float

    holder = np.ones(6).view(Weights)
    holder.beta = 1.0
    return Case(lambda x: x * holder.beta, _set(holder, "beta", 5.0))


def attribute_of_a_partial() -> Case:
    holder: Any = functools.partial(print)
    holder.beta = 1.0
    return Case(lambda x: x * holder.beta, _set(holder, "beta", 5.0))


def attribute_of_the_compiled_function() -> Case:
    step: Any = ex.compile(lambda x: x * step.beta)
    step.beta = 1.0
    return Case(lambda x: step(x), _set(step, "beta", 5.0))


def attribute_that_a_function_gets_later() -> Case:
    def function(x: Any) -> Any:
        return x * getattr(function, "beta", 1.0)

    return Case(function, _set(function, "beta", 5.0))


def name_from_a_method() -> Case:
    holder, key = types.SimpleNamespace(loss_weight=1.0), "loss-weight"
    return Case(
        lambda x: x * getattr(holder, key.replace("-", "_")), _set(holder, "loss_weight", 5.0)
    )


def getattr_by_another_name() -> Case:
    holder, get, name = types.SimpleNamespace(beta=1.0), getattr, "".join(["be", "ta"])
    return Case(lambda x: x * get(holder, name), _set(holder, "beta", 5.0))


def class_in_a_match() -> Case:
    class Options:
        def __init__(self) -> None:
            self.beta = 1.0

    holder = Options()

    def function(x: Any) -> Any:
        match holder:
            case Options(beta=value):
                return x * value

    return Case(function, _set(holder, "beta", 5.0))


SYSTEM = random.SystemRandom()  # which has no state


def dictionary_of_globals() -> Case:
    def change() -> None:
        global GLOBAL
        GLOBAL = 5.0 if GLOBAL != 5.0 else 1.0

    name = "".join(["GLO", "BAL"])
    return Case(lambda x: x * globals()[name], change)


def module_that_is_replaced() -> Case:
    modules = [types.ModuleType("replaced_of_test") for _ in range(2)]
    for module, beta in zip(modules, (1.0, 5.0), strict=True):
        module.BETA = beta  # type: ignore[attr-defined]
    sys.modules["replaced_of_test"] = modules[0]

    def function(x: Any) -> Any:
        import replaced_of_test  # type: ignore[import-not-found]

        return x * replaced_of_test.BETA

    return Case(function, _put(sys.modules, "replaced_of_test", modules[1]))


def name_of_builtins() -> Case:
    import builtins

    builtins.beta_of_test = 1.0  # type: ignore[attr-defined]
    return Case(
        lambda x: x * beta_of_test,  # type: ignore[name-defined] # noqa: F821
        _set(builtins, "beta_of_test", 5.0),
    )


def array_of_a_data_set() -> Case:
    array_ = np.ones((2, 6))
    data = ex.data.ArrayDataset(array_)
    return Case(lambda x: x * ex.asarray(data[0]), lambda: array_.fill(5.0))


def integer_in_the_betas() -> Case:
    optimizer = ex.optim.Adam([ex.ones(1, requires_grad=True)], betas=(0, 0.9))
    group = optimizer.param_groups[0]
    return Case(lambda x: x * (1 + group["betas"][0]), _put(group, "betas", (0.5, 0.9)))


def new_option_of_a_group() -> Case:
    group = ex.optim.SGD([ex.ones(1, requires_grad=True)], lr=1.0).param_groups[0]
    return Case(lambda x: x * group.get("beta", 1.0), _put(group, "beta"))


def object_of_an_optimizer() -> Case:
    optimizer: Any = ex.optim.SGD([ex.ones(1, requires_grad=True)], lr=1.0)
    optimizer.cfg = types.SimpleNamespace(beta=1.0)
    return Case(lambda x: x * optimizer.cfg.beta, _set(optimizer.cfg, "beta", 5.0))


def text_in_memory() -> Case:
    holder = io.StringIO("1")
    holder.seek(0, io.SEEK_END)
    return Case(lambda x: x * len(holder.getvalue()), lambda: holder.write("2"))


def attributes_as_a_whole() -> Case:
    class Options: ...

    holder = Options()
    holder.__dict__ = {"beta": 1.0}
    return Case(lambda x: x * holder.beta, _set(holder, "__dict__", {"beta": 5.0}))  # type: ignore[attr-defined]


def another_class() -> Case:
    class One:
        beta = 1.0

    class Two:
        beta = 5.0

    holder = One()
    return Case(lambda x: x * holder.beta, _set(holder, "__class__", Two))


SEEN = [
    global_variable, closure, negative_zero, default_argument, mutable_default, keyword_default,
    function_attribute, attribute_of_another_function, argparse_namespace, simple_namespace,
    namespace_of_a_module, module_attribute, dictionary, nested_dictionary,
    new_key_of_a_dictionary, default_dictionary, ordered_dictionary, counter, chain_map, user_dict,
    user_list, mapping_proxy, list_item, list_in_a_tuple, set_of_flags, deque, array_array,
    byte_array, memory_view, numpy_array, large_numpy_array, object_array, structured_array,
    numpy_polynomial, ctypes_number, data_class, data_class_as_a_dict, slots, class_attribute,
    class_attribute_of_an_instance, attribute_of_a_metaclass, inherited_attribute,
    property_of_a_private_attribute, attributes_on_demand, descriptor, computed_name,
    variables_of_an_object, attribute_getter, text_that_is_formatted, text_that_is_evaluated,
    enum_member, partial_argument, method, callable_object, bound_builtin, wrapped_function,
    compiled_function_inside, dispatch_table, context_variable, thread_local, weak_reference,
    environment, environment_by_getenv, variable_of_an_installed_package,
    variable_of_an_imported_module, behind_many_objects, arrow_table,
    rate_of_an_optimizer, default_of_an_optimizer, count_of_a_schedule, rate_of_a_schedule,
    decay_of_an_average, scale_of_a_scaler, size_of_batches, array_that_numpy_reads_too,
    condition_on_an_array_that_is_an_input, cached_settings, subclass_of_a_user_dict,
    enum_of_dictionaries, attribute_of_a_dictionary, attribute_of_an_array, attribute_of_a_partial,
    attribute_of_the_compiled_function, attribute_that_a_function_gets_later, name_from_a_method,
    getattr_by_another_name, class_in_a_match, dictionary_of_globals, module_that_is_replaced,
    name_of_builtins, array_of_a_data_set, integer_in_the_betas, new_option_of_a_group,
    object_of_an_optimizer, text_in_memory, attributes_as_a_whole, another_class,
]  # fmt: skip


@pytest.mark.parametrize("make", SEEN)
def test_a_value_that_changes_between_calls_is_seen(make: Callable[[], Case]) -> None:
    function, change = make()
    compiled = ex.compile(function)
    before = compiled(X).numpy()
    np.testing.assert_array_equal(before, function(ex.tensor(X)).numpy())
    compiled(X)
    compiled(X)  # not a call at which the function is traced again
    change()
    after = function(ex.tensor(X)).numpy()
    assert not np.array_equal(before, after)
    np.testing.assert_array_equal(compiled(X).numpy(), after)
    np.testing.assert_array_equal(compiled(X).numpy(), after)


def iterator() -> Callable[[Any], Any]:
    values = iter([1.0, 2.0, 3.0])
    return lambda x: x * next(values)


def generator() -> Callable[[Any], Any]:
    values = (float(i) for i in range(1, 4))
    return lambda x: x * next(values)


def endless_iterator() -> Callable[[Any], Any]:
    values = itertools.count(1)
    return lambda x: x * next(values)


def iterator_of_a_map() -> Callable[[Any], Any]:
    values = map(lambda i: i + 1.0, range(3))  # noqa: C417
    return lambda x: x * next(values)


def own_iterator() -> Callable[[Any], Any]:
    class Values:
        place = 0

        def __next__(self) -> float:
            self.place += 1
            return float(self.place)

        def __iter__(self) -> Iterator[float]:
            return self

    values = Values()
    return lambda x: x * next(values)


def file_that_is_read() -> Callable[[Any], Any]:
    values = io.StringIO("1 2 3 4")
    return lambda x: x * float(values.read(2))


def random_of_python() -> Callable[[Any], Any]:
    return lambda x: x * random.random()


def own_random_of_python() -> Callable[[Any], Any]:
    values = random.Random(0)
    return lambda x: x * values.random()


def random_of_numpy() -> Callable[[Any], Any]:
    return lambda x: x * float(np.random.rand())  # noqa: NPY002


def generator_of_numpy() -> Callable[[Any], Any]:
    values = np.random.default_rng(0)
    return lambda x: x * float(values.random())


def nonlocal_counter() -> Callable[[Any], Any]:
    n = 0

    def function(x: Any) -> Any:
        nonlocal n
        n += 1
        return x * n

    return function


def global_counter() -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        global COUNT
        COUNT += 1
        return x

    return function


def appended_to_a_deque() -> Callable[[Any], Any]:
    losses: collections.deque[Any] = collections.deque()

    def function(x: Any) -> Any:
        losses.append(1.0)
        return x

    return function


def added_to_a_set() -> Callable[[Any], Any]:
    names: set[str] = set()

    def function(x: Any) -> Any:
        names.add("a")
        return x

    return function


def count_of_a_namespace() -> Callable[[Any], Any]:
    holder = types.SimpleNamespace(n=0)

    def function(x: Any) -> Any:
        holder.n += 1
        return x

    return function


def array_that_is_written() -> Callable[[Any], Any]:
    counts = np.zeros(2)

    def function(x: Any) -> Any:
        counts[0] += 1
        return x

    return function


def slot_that_is_set() -> Callable[[Any], Any]:
    class Options:
        __slots__ = ("n",)

    holder = Options()
    holder.n = 0

    def function(x: Any) -> Any:
        holder.n += 1
        return x

    return function


def environment_that_is_set() -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        os.environ["EXTENSOR_TEST_SET"] = str(len(os.environ.get("EXTENSOR_TEST_SET", "")))
        return x

    return function


def context_that_is_set() -> Callable[[Any], Any]:
    holder: contextvars.ContextVar[int] = contextvars.ContextVar("n", default=0)

    def function(x: Any) -> Any:
        holder.set(holder.get() + 1)
        return x

    return function


SIDE_EFFECTS = [
    (iterator, "values"), (generator, "values"), (endless_iterator, "values"),
    (iterator_of_a_map, "values"), (own_iterator, "values"),
    (file_that_is_read, "values"), (random_of_python, "the state of random"),
    (own_random_of_python, "values"), (random_of_numpy, "the state of numpy.random"),
    (generator_of_numpy, "values"), (nonlocal_counter, "n"), (global_counter, "COUNT"),
    (appended_to_a_deque, "losses"), (added_to_a_set, "names"), (count_of_a_namespace, "holder.n"),
    (array_that_is_written, "counts"), (slot_that_is_set, "holder"), (environment_that_is_set, "environ"),
    (context_that_is_set, "holder"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "name"), SIDE_EFFECTS)
def test_a_side_effect_is_refused_by_name(make: Callable[[], Any], name: str) -> None:
    compiled = ex.compile(make())
    with pytest.raises(ValueError, match="must not have side effects") as error:
        [compiled(X) for _ in range(2)]
    assert name in str(error.value).partition("got changed=")[2]


def test_what_a_refused_function_has_changed_is_put_back() -> None:
    n, losses, names = 0, collections.deque([1.0]), {"a"}
    holder, counts = types.SimpleNamespace(n=0), np.zeros(2)
    state = np.random.get_state(legacy=False)  # noqa: NPY002

    def function(x: Any) -> Any:
        nonlocal n
        n += 1
        holder.n += 1
        counts[0] += 1
        losses.append(x)
        names.clear()
        return x * np.random.rand()  # noqa: NPY002

    with pytest.raises(ValueError, match="must not have side effects"):
        ex.compile(function)(X)
    assert (n, holder.n, list(losses), names) == (0, 0, [1.0], {"a"})
    assert counts.tolist() == [0, 0]
    assert repr(np.random.get_state(legacy=False)) == repr(state)  # noqa: NPY002


@pytest.mark.parametrize(
    ("function", "source"),
    [
        (lambda x: x * time.time(), "a clock"),
        (lambda x: x * time.perf_counter(), "a clock"),
        (lambda x: x * datetime.datetime.now().second, "a clock"),
        (lambda x: x * datetime.date.today().day, "a clock"),
        (lambda x: x * len(open(__file__).read()), "a file"),  # noqa: SIM115
        (lambda x: x * len(pathlib.Path(__file__).read_text()), "a file"),
        (lambda x: x * os.path.getsize(__file__), "a file"),
        (lambda x: x * len(np.fromfile(__file__, "u1")), "a file"),
        (lambda x: x * len(np.genfromtxt(__file__, delimiter="nothing", dtype=str)), "a file"),
        (lambda x: x * os.urandom(1)[0], "random numbers"),
        (lambda x: x * uuid.uuid4().int, "random numbers"),
    ],
)
def test_clocks_files_and_the_systems_chance_are_refused(function: Any, source: str) -> None:
    with pytest.raises(TypeError, match=f"must not read {source}"):
        ex.compile(function)(X)


def test_values_that_cannot_be_watched_are_refused() -> None:
    frame = pd.DataFrame({"beta": [1.0]})
    with pytest.raises(ValueError, match=r"cannot watch frame.* for changes; read it outside"):
        ex.compile(lambda x: x * float(frame["beta"].sum()))(X)
    memory = (ctypes.c_double * 2)()
    pointer = ctypes.cast(memory, ctypes.POINTER(ctypes.c_double))
    with pytest.raises(ValueError, match="cannot watch pointer for changes; read it outside"):
        ex.compile(lambda x: x * pointer[0])(X)
    large = np.ones(2**20)
    with pytest.raises(ValueError, match="large is too large to be compared before each call"):
        ex.compile(lambda x: x * float(large.sum()))(X)
    large.flags.writeable = False
    np.testing.assert_array_equal(
        ex.compile(lambda x: x * float(large.sum()))(X).numpy(), X * 2**20
    )


def test_a_large_array_that_is_an_input_of_ops_is_read_at_each_call() -> None:
    large = np.ones((2**18, 6))
    compiled = ex.compile(lambda x: (x * ex.asarray(large)).sum())
    for factor in (1.0, 3.0):
        large[:] = factor
        np.testing.assert_allclose(float(compiled(X)), factor * 2**18 * X.sum())


def test_a_result_from_outside_is_refused() -> None:
    doubled = ex.tensor(X, requires_grad=True) * 2
    with pytest.raises(ValueError, match=r"must be a leaf.*detach\(\) it"):
        ex.compile(lambda x: x * doubled)(X)


def test_a_property_that_is_computed_once_is_kept() -> None:
    class Options:
        def __init__(self) -> None:
            self.half = 1.0

        @functools.cached_property
        def whole(self) -> float:
            return 2 * self.half

    options = Options()
    compiled = ex.compile(lambda x: x * options.whole)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(X).numpy(), 2 * X)
    del options.whole
    options.half = 3.0
    np.testing.assert_array_equal(compiled(X).numpy(), 6 * X)


def test_a_hook_of_another_closure_is_followed() -> None:
    def scaling(table: Any) -> Any:
        return lambda grad: grad * table["s"]

    weight, tables = ex.tensor(X, requires_grad=True), [{"s": 2.0}, {"s": 3.0}]

    @ex.compile
    def gradient(x: Any) -> None:
        weight.grad = None
        (weight * x).sum().backward()

    for table in tables:
        handle = weight.register_hook(scaling(table))
        for factor in (table["s"], table["s"], 20.0):
            table["s"] = factor
            gradient(X)
            np.testing.assert_array_equal(weight.grad.numpy(), factor * X)
        handle.remove()


def test_a_profiler_goes_on() -> None:
    profile = cProfile.Profile()
    profile.enable()
    try:
        np.testing.assert_array_equal(ex.compile(lambda x: 2 * x)(X).numpy(), 2 * X)
        sorted([3, 1])
    finally:
        profile.disable()
    assert any("sorted" in str(entry.code) for entry in profile.getstats())


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_zeros_are_told_apart(zero: float) -> None:
    compiled = ex.compile(lambda x, a: 1 / (x * a))
    compiled(X, -zero)
    assert float(compiled(X, zero).numpy()[0]) == np.copysign(np.inf, zero)


def test_equal_values_that_are_set_again_take_no_memory() -> None:
    holder = types.SimpleNamespace(beta=1.0)
    compiled = ex.compile(lambda x: x * holder.beta)
    for _ in range(20):
        holder.beta = float("1.0")
        compiled(X)
    assert compiled.traces == 1
    assert len(compiled._alive) <= 3


def test_reading_a_generator_is_refused() -> None:
    batches = iter(ex.data.DataLoader(ex.data.ArrayDataset(np.ones((4, 6))), batch_size=2))
    with pytest.raises(RuntimeError, match="cannot be read inside a compiled function"):
        ex.compile(lambda x: x * next(batches)[0])(X)
    with pytest.raises(RuntimeError, match="cannot be read inside a compiled function"):
        ex.compile(lambda x: x * ex.random.get_state()[1])(X)


class Untold:
    """What nobody can watch: the value of a counter in memory of C."""

    memory = (ctypes.c_double * 1)(1.0)

    @property
    def value(self) -> float:
        return ctypes.cast(id_of(self.memory), ctypes.POINTER(ctypes.c_double))[0]


def id_of(memory: Any) -> Any:
    return ctypes.c_void_p(ctypes.addressof(memory))


@pytest.mark.parametrize("call", [2, 4, 8])
def test_the_net_below_the_watching_finds_what_it_missed(call: int) -> None:
    address = ctypes.addressof(Untold.memory)
    Untold.memory[0] = 1.0

    def function(x: Any) -> Any:
        y = x + 1
        return y * ctypes.c_double.from_address(address).value

    compiled = ex.compile(function)
    for _ in range(call - 1):
        compiled(X)
    Untold.memory[0] = 5.0
    with pytest.raises(
        RuntimeError, match=rf"call {call} of function .*mul.*5\..* instead of .*1\."
    ) as error:
        compiled(X)
    assert "return y * ctypes.c_double" in str(error.value)


def test_the_net_sees_other_ops_shapes_and_results() -> None:
    address = ctypes.addressof(Untold.memory)

    def value() -> float:
        return ctypes.c_double.from_address(address).value

    functions = [
        lambda x: ex.sin(x) if value() > 1 else ex.cos(x),
        lambda x: x[: int(value())],
        lambda x: (x, int(value())),
        lambda x: x + 1 if value() > 1 else x,
    ]
    for function in functions:
        Untold.memory[0] = 1.0
        compiled = ex.compile(function)
        compiled(X)
        Untold.memory[0] = 5.0
        with pytest.raises(RuntimeError, match="would compute something else than its program"):
            compiled(X)
    assert compiled.traces == 1


@dataclasses.dataclass(frozen=True)
class Result:
    loss: Any
    parts: list[Any]
    name: str = "a"


def test_a_dataclass_is_a_result() -> None:
    compiled = ex.compile(lambda x: Result(x.sum(), [x * 2, 3], "b"))
    for _ in range(3):
        result = compiled(X)
        assert type(result) is Result
        assert (result.parts[1], result.name) == (3, "b")
        np.testing.assert_allclose(float(result.loss), X.sum())
        np.testing.assert_array_equal(result.parts[0].numpy(), 2 * X)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: types.SimpleNamespace(loss=x * 2),
        lambda x: lambda: x * 2,
        lambda x: functools.partial(print, x * 2),
        lambda x: {1: types.SimpleNamespace(loss=[x * 2])},
        lambda x: (y * 2 for y in [x * 2]),
    ],
)
def test_a_result_that_would_keep_a_placeholder_is_refused(make: Any) -> None:
    with pytest.raises(TypeError, match="results must be tensors, numbers, or lists"):
        ex.compile(make)(X)


@pytest.mark.parametrize("name", ["SGD", "RMSprop"])
def test_momentum_that_is_turned_on_between_calls_is_taken(name: str) -> None:
    ends = []
    for is_compiled in (True, False):
        weight = ex.tensor(X, requires_grad=True)
        optimizer = getattr(ex.optim, name)([weight], lr=0.1, momentum=0.0)

        def step(x: Any, weight: Any = weight, optimizer: Any = optimizer) -> None:
            optimizer.zero_grad()
            (weight * weight * x).sum().backward()
            optimizer.step()

        chosen = ex.compile(step) if is_compiled else step
        for momentum in (0.0, 0.0, 0.9, 0.9, 0.9):
            optimizer.param_groups[0]["momentum"] = momentum
            chosen(ex.tensor(X))
        ends.append(weight.detach().numpy())
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12)


def test_the_decay_of_an_average_may_change() -> None:
    ends = []
    for is_compiled in (True, False):
        weight = ex.tensor(X)
        ema = ex.optim.EMA([weight], decay=0.5)

        def step(ema: Any = ema, weight: Any = weight) -> None:
            with ex.no_grad():
                weight[...] = weight * 2
            ema.update()

        chosen = ex.compile(step) if is_compiled else step
        for decay in (0.5, 0.5, 0.9, 0.1):
            ema.decay = decay
            chosen()
        ends.append(ema.averages[0].numpy())
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12)


def test_a_rate_that_the_loss_reads_follows_its_schedule() -> None:
    ends, traces = [], 0
    for is_compiled in (True, False):
        weight = ex.tensor(X, requires_grad=True)
        optimizer = ex.optim.SGD([weight], lr=0.1)
        schedule = ex.optim.ExponentialLR(optimizer, 0.5)

        def step(x: Any, weight: Any = weight, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = (weight * x).sum() * optimizer.param_groups[0]["lr"]
            loss.backward()
            optimizer.step()
            return loss

        chosen = ex.compile(step) if is_compiled else step
        losses = []
        for _ in range(5):
            losses.append(float(chosen(ex.tensor(X))))
            schedule.step()
        ends.append(losses)
        traces = chosen.traces if is_compiled else traces
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12)
    assert traces == 1
