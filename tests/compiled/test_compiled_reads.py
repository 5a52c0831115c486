"""Every way to hold a value that a step reads: a change of it is seen."""

from __future__ import annotations

import abc
import argparse
import array
import collections
import contextvars
import ctypes
import dataclasses
import enum
import functools
import io
import multiprocessing
import operator
import os
import pickle
import random
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
import scipy.interpolate  # modules of f2py are among all modules, as in many programs

import extensor as ex
from extensor import nn

X = np.linspace(0.5, 1.5, 6, dtype="float64")


GLOBAL = 1.0


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


def bases_of_a_class() -> Case:
    class One:
        beta = 1.0

    class Two:
        beta = 5.0

    class Options(One): ...

    return Case(lambda x: x * Options.beta, _set(Options, "__bases__", (Two,)))


def subclasses_of_a_class() -> Case:
    class Base: ...

    kept: list[type] = []
    return Case(
        lambda x: x * (1 + len(Base.__subclasses__())),
        lambda: kept.append(type("Sub", (Base,), {})),
    )


def text_of_a_namespace() -> Case:
    holder = types.SimpleNamespace(beta=1)
    return Case(lambda x: x * len(f"{holder}"), _set(holder, "beta", 500))


def text_of_a_namespace_of_argparse() -> Case:
    holder = argparse.Namespace(beta=1)
    return Case(lambda x: x * len(repr(holder)), _set(holder, "beta", 500))


def equality_of_namespaces() -> Case:
    holders = [types.SimpleNamespace(beta=1.0), types.SimpleNamespace(beta=1.0)]
    return Case(lambda x: x if holders[0] == holders[1] else -x, _set(holders[0], "beta", 5.0))


def attribute_over_a_class_default() -> Case:
    class Options:
        beta: float | None = 1.0

    holder: Any = Options()
    holder.other = 1

    def change() -> None:
        del holder.other
        holder.beta = None

    return Case(lambda x: x * (holder.beta or 5.0), change)


def attribute_of_a_parameter() -> Case:
    class Scaled(nn.Parameter):
        beta: float

    holder = Scaled(np.ones(6))
    holder.beta = 1.0
    return Case(lambda x: (x * holder * holder.beta).detach(), _set(holder, "beta", 5.0))


def text_by_percent_of_a_namespace() -> Case:
    holder = types.SimpleNamespace(beta=1)
    return Case(lambda x: x * len("%s" % holder), _set(holder, "beta", 500))  # noqa: UP031


def text_by_format_of_a_namespace() -> Case:
    holder = types.SimpleNamespace(beta=1)
    return Case(lambda x: x * len("{}".format(holder)), _set(holder, "beta", 500))  # noqa: UP032


def namespace_in_a_list() -> Case:
    holder, holders = types.SimpleNamespace(beta=1), [types.SimpleNamespace(beta=1)]
    return Case(lambda x: x if holder in holders else -x, _set(holder, "beta", 500))


def count_of_a_namespace() -> Case:
    holder, holders = types.SimpleNamespace(beta=1), [types.SimpleNamespace(beta=1)]
    return Case(lambda x: x * (1 + holders.count(holder)), _set(holder, "beta", 500))


def equality_by_an_operator() -> Case:
    holders = [types.SimpleNamespace(beta=1.0), types.SimpleNamespace(beta=1.0)]
    return Case(lambda x: x * (1 + operator.eq(*holders)), _set(holders[0], "beta", 5.0))


class Pickled: ...  # a class inside a function cannot be pickled


def pickled_object() -> Case:
    holder = Pickled()
    return Case(lambda x: x * len(pickle.dumps(holder)), _set(holder, "beta", "a long text"))


def attributes_on_demand_in_a_slot() -> Case:
    class Options:
        __slots__ = ("_table",)

        def __init__(self) -> None:
            self._table = {"beta": 1.0}

        def __getattr__(self, name: str) -> Any:
            return self._table[name]  # raises KeyError where AttributeError is expected

    holder = Options()
    return Case(lambda x: x * holder.beta, _put(holder._table, "beta"))


def registered_subclass() -> Case:
    class Base(abc.ABC): ...  # noqa: B024

    class Options: ...

    holder = Options()
    return Case(lambda x: x if isinstance(holder, Base) else -x, lambda: Base.register(Options))


def name_of_a_class() -> Case:
    class Options: ...

    return Case(lambda x: x * len(Options.__name__), _set(Options, "__name__", "Name"))


def docstring_of_a_function() -> Case:
    def function() -> None:
        """One."""

    return Case(lambda x: x * len(function.__doc__ or ""), _set(function, "__doc__", "Another."))


def annotations_of_a_function() -> Case:
    def function(a: int) -> None: ...

    return Case(
        lambda x: x * len(function.__annotations__), _put(function.__annotations__, "b", int)
    )


def shape_of_an_array() -> Case:
    holder = np.ones(4)
    return Case(lambda x: x * len(holder), _set(holder, "shape", (2, 2)))


def array_that_is_writable_again() -> Case:
    holder = np.ones(1)
    holder.flags.writeable = False

    def change() -> None:
        holder.flags.writeable = True
        holder[0] = 5.0

    return Case(lambda x: x * float(holder[0]), change)


def object_as_a_key() -> Case:
    class Options:
        beta = 1.0

    holder = Options()
    table = {(holder, 1): 1.0}
    return Case(lambda x: x * next(iter(table))[0].beta, _set(holder, "beta", 5.0))


def default_of_a_constructor() -> Case:
    @dataclasses.dataclass
    class Options:
        beta: float = 1.0

    return Case(lambda x: x * Options().beta, _set(Options.__init__, "__defaults__", (5.0,)))


def mutable_default_of_a_constructor() -> Case:
    table = [1.0]

    class Options:
        def __init__(self, held: Any = table) -> None:
            self.beta = held[0]

    return Case(lambda x: x * Options().beta, _put(table, 0))


def default_of_a_named_tuple() -> Case:
    kind: Any = collections.namedtuple("kind", "beta", defaults=[1.0])
    return Case(lambda x: x * kind().beta, _set(kind.__new__, "__defaults__", (5.0,)))


def attributes_by_a_bound_getattribute() -> Case:
    class Options:
        beta = 1.0

    holder, name = Options(), "".join(["be", "ta"])
    holder.beta = 1.0
    table = {"get": holder.__getattribute__}
    return Case(lambda x: x * table["get"](name), _set(holder, "beta", 5.0))


def default_of_a_context_variable() -> Case:
    inner = [1.0]
    holder: contextvars.ContextVar[list[float]] = contextvars.ContextVar("beta", default=inner)
    return Case(lambda x: x * holder.get()[0], _put(inner, 0))


def views_of_a_dictionary() -> Case:
    holder = {"beta": 1.0}
    keys, values, items = holder.keys(), holder.values(), holder.items()
    return Case(lambda x: x * len(keys) * sum(values) * len(items), _put(holder, "gamma"))


def factory_of_a_default_dictionary() -> Case:
    holder: Any = collections.defaultdict(lambda: 1.0)
    return Case(
        lambda x: x * holder.default_factory(), _set(holder, "default_factory", lambda: 5.0)
    )


def value_between_processes() -> Case:
    holder = multiprocessing.Value("d", 1.0)
    return Case(lambda x: x * holder.value, _set(holder, "value", 5.0))


def array_of_an_object_of_a_package() -> Case:
    """Only the package's own code names the attribute, and it runs in the trace alone."""
    holder = scipy.interpolate.interp1d([0.0, 1.0], [1.0, 3.0])
    return Case(lambda x: x * float(holder(0.5)), lambda: holder.y.fill(5.0))


def whether_an_array_is_read_only() -> Case:
    holder = np.ones(2)
    return Case(
        lambda x: x if holder.flags.writeable else 2 * x,
        lambda: holder.setflags(write=False),
    )


def array_that_the_function_has_made() -> Case:
    class Options:
        table: Any = None

        def get(self) -> Any:
            if self.table is None:
                self.table = np.ones(6)
            return self.table

    holder = Options()
    return Case(lambda x: x * holder.get(), lambda: holder.table.fill(5.0))


def weak_method() -> Case:
    class Options:
        beta = 1.0

        def compute(self) -> float:
            return self.beta

    holder = Options()
    reference = weakref.WeakMethod(holder.compute)
    return Case(lambda x: x * reference()(), _set(holder, "beta", 5.0))  # type: ignore[misc]


def settings_that_are_cached_anew() -> Case:
    loaded = iter([1.0, 5.0])  # as from a file that is read outside

    @functools.lru_cache
    def settings() -> Any:
        return types.SimpleNamespace(beta=next(loaded))

    def change() -> None:
        settings.cache_clear()
        settings()

    settings()
    return Case(lambda x: x * settings().beta, change)


def number_that_is_cached_anew() -> Case:
    loaded = iter([1, 5])

    @functools.cache
    def beta(key: int) -> int:
        return next(loaded)

    def change() -> None:
        beta.cache_clear()
        beta(1)

    beta(1)
    return Case(lambda x: x * beta(1), change)


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
    object_of_an_optimizer, text_in_memory, attributes_as_a_whole, another_class, bases_of_a_class,
    subclasses_of_a_class, text_of_a_namespace, text_of_a_namespace_of_argparse,
    equality_of_namespaces, attribute_over_a_class_default, attribute_of_a_parameter,
    text_by_percent_of_a_namespace, text_by_format_of_a_namespace, namespace_in_a_list,
    count_of_a_namespace, equality_by_an_operator, pickled_object, attributes_on_demand_in_a_slot,
    registered_subclass, name_of_a_class, docstring_of_a_function, annotations_of_a_function,
    shape_of_an_array, array_that_is_writable_again, object_as_a_key, default_of_a_constructor,
    mutable_default_of_a_constructor, default_of_a_named_tuple, attributes_by_a_bound_getattribute,
    default_of_a_context_variable, views_of_a_dictionary, factory_of_a_default_dictionary,
    value_between_processes, array_of_an_object_of_a_package, array_that_the_function_has_made,
    whether_an_array_is_read_only,
    weak_method, settings_that_are_cached_anew, number_that_is_cached_anew,
]  # fmt: skip


# A function that may read any variable is looked through with all modules that are loaded, also those
# of other tests, some of whose values cannot be watched: `make xla` has these tests beside few others.
READING_ALL = (dictionary_of_globals, text_that_is_evaluated)
ROWS = [pytest.param(x, marks=pytest.mark.xla) if x in READING_ALL else x for x in SEEN]


@pytest.mark.parametrize("make", ROWS)
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


@pytest.mark.xla
def test_an_object_without_a_name_among_the_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nameless_of_test", object())
    function = ex.compile(lambda x: x * globals()["GLOBAL"])
    np.testing.assert_array_equal(function(X).numpy(), X * GLOBAL)
