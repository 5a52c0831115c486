from collections.abc import Callable
from typing import Any

from extensor.core.tensor import Tensor

kernels: dict[str, Callable[..., Any]]
watchers: list[Callable[[Computed], None]]  # to be looked at, and changed by add and remove alone
instruction_set: str

class Mode:
    recording: bool
    anomaly: bool
    casting: bool
    formulas: bool
    epsilon: float
    node: Any
    module: str | None

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
    @property
    def needs(self) -> tuple[bool, ...]: ...
    def __lt__(self, other: NodeBase, /) -> bool: ...
    def __init__(self, rule: Any, saved: tuple[Any, ...], parents: tuple[Any, ...]) -> None: ...

class Computed:
    op: str
    kernel: str | None
    inputs: tuple[Any, ...]
    outputs: Any
    backward: bool
    rule: str | None
    node: Any
    module: str | None
    begin: int
    end: int

class Computation:
    kernel: Callable[..., Any] | None
    formula: Callable[..., Any] | None
    def __init__(
        self,
        name: str,
        kernel: Callable[..., Any] | None,
        formula: Callable[..., Any] | None,
        backward: bool = False,
    ) -> None: ...
    def __call__(self, *arguments: Any) -> Any: ...
    def finished(self, finish: Callable[[Any], Any], /, *arguments: Any) -> Any: ...

class Planned:
    inputs: tuple[Any, ...]
    depends_on_values: bool
    def run(
        self, inputs: tuple[Any, ...] | None = None, numbers: tuple[float, ...] | None = None
    ) -> Any: ...

def plan(kernel: Callable[..., Any], /, *arguments: Any) -> Planned: ...

class Dispatcher:
    def __init__(
        self,
        name: str,
        long_way: Callable[..., Any],
        kernel: Callable[..., Any] | None,
        names: tuple[str, ...],
        defaults: tuple[Any, ...],
        places: tuple[int, ...],
        arity: int,
        attributes: int,
        optional: tuple[bool, ...],
        variadic: bool,
        updates: tuple[int, ...],
        kept: int,
    ) -> None: ...
    def finish(self, arguments: list[Any], result: Any, floating: bool, /) -> Any: ...
    def set_rule(
        self,
        rule: Any,
        several: bool,
        differentiable: tuple[int, ...],
        kinds: tuple[int, ...],
        indices: tuple[int, ...],
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Replayer:
    def __init__(
        self, name: str, kernel: Callable[..., Any], eps_at: int, single: bool, several: bool
    ) -> None: ...
    def __call__(self, grad_output: Any, saved: tuple[Any, ...], needs: Any, /) -> Any: ...

def wrap(array: Any, /) -> Tensor: ...
def attach(node: Any, outputs: list[Tensor], /) -> None: ...
def bind(
    names: tuple[str, ...],
    defaults: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    /,
) -> list[Any] | None: ...
def description(arrays: tuple[Any, ...], /) -> bytes | None: ...
def contents(things: list[Any], /) -> list[Any]: ...
def holds(things: list[Any], contents: list[Any], /) -> bool: ...
def copied(array: Any, /) -> Any | None: ...
def copy_rows(target: Any, places: Any, source: Any, rows: Any, /) -> None: ...
def empty(shape: tuple[int, ...], dtype: Any, /) -> Any: ...
def next_number() -> int: ...
def clock() -> int: ...
def advance_clock() -> int: ...
def owner(array: Any, /) -> Any: ...
def frozen(attribute: Any, /) -> Any: ...
def shares_memory(tensor: TensorBase, saved: list[Any], /) -> bool: ...
def exchange_gradient(tensor: TensorBase, expected: Any, gradient: Any, /) -> bool: ...
def set_classes(tensor: type, node: type, slot: type, /) -> None: ...
def set_writing(setitem: Callable[..., Any], mark: Callable[..., Any], /) -> None: ...
def add_watcher(watcher: Callable[[Computed], None], /) -> None: ...
def remove_watcher(watcher: Callable[[Computed], None], /) -> None: ...
def num_threads() -> int: ...
def set_num_threads(count: int, /) -> None: ...
def memory_stats() -> dict[str, int]: ...
def reset_peak_memory() -> None: ...
def trim_memory() -> int: ...
def set_memory_cache_limit(size: int, /) -> None: ...
def register_bfloat16(typenum: int, /) -> None: ...
