from collections.abc import Callable
from typing import Any

from extensor.tensor import Tensor

kernels: dict[str, Callable[..., Any]]
instruction_set: str

class Mode:
    recording: bool
    anomaly: bool
    casting: bool
    epsilon: float

mode: Mode

class TensorBase:
    _array: Any
    _requires_grad: bool
    _node: Any
    _hooks: Any
    grad: Tensor | None

class NodeBase:
    rule: Any
    saved: tuple[Any, ...]
    parents: tuple[Any, ...]
    hooks: Any
    place: str | None
    number: int
    clock: int
    def __init__(self, rule: Any, saved: tuple[Any, ...], parents: tuple[Any, ...]) -> None: ...

class Dispatcher:
    def __init__(
        self,
        long_way: Callable[..., Any],
        kernel: Callable[..., Any] | None,
        names: tuple[str, ...],
        defaults: tuple[Any, ...],
        places: tuple[int, ...],
        arity: int,
        optional: tuple[bool, ...],
    ) -> None: ...
    def set_rule(
        self,
        rule: Any,
        differentiable: tuple[int, ...],
        kinds: tuple[int, ...],
        indices: tuple[int, ...],
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Replayer:
    def __init__(self, kernel: Callable[..., Any], eps_at: int, single: bool) -> None: ...
    def __call__(self, grad_output: Any, saved: tuple[Any, ...], needs: Any, /) -> Any: ...

def wrap(array: Any, /) -> Tensor: ...
def empty(shape: tuple[int, ...], dtype: Any, /) -> Any: ...
def next_number() -> int: ...
def clock() -> int: ...
def advance_clock() -> int: ...
def set_classes(tensor: type, node: type, /) -> None: ...
def set_observed(observed: bool, /) -> None: ...
def num_threads() -> int: ...
def set_num_threads(count: int, /) -> None: ...
def memory_stats() -> dict[str, int]: ...
def reset_peak_memory() -> None: ...
def trim_memory() -> int: ...
def set_memory_cache_limit(size: int, /) -> None: ...
def register_bfloat16(typenum: int, /) -> None: ...
