"""Modules made of modules, and of parameters: sequences and mappings of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from operator import index as as_index
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from extensor.core.tensor import Tensor
from extensor.errors import index_error, shown, type_error
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter

Item = TypeVar("Item")


class _Held(Module, Generic[Item]):
    """What all containers share: the items are attributes, so they are found as any others."""

    _kind: type[Item]

    def _items(self) -> dict[str, Item]:
        return {name: x for name, x in vars(self).items() if isinstance(x, self._kind)}

    def _checked(self, value: Any) -> Any:
        if not isinstance(value, self._kind):
            raise type_error(
                type(self).__name__,
                f"an item must be a {self._kind.__name__}",
                item=type(value).__name__,
            )
        return value

    def __len__(self) -> int:
        return len(self._items())


class _HeldInOrder(_Held[Item]):
    """A list: the names are the numbers from 0."""

    def append(self, item: Module | Tensor) -> Self:
        """Add an item at the end."""
        setattr(self, self._free_name(), self._checked(item))
        return self

    def extend(self, items: Iterable[Module | Tensor]) -> Self:
        """Add items at the end."""
        for item in _iterated(type(self).__name__, items):
            self.append(item)
        return self

    def __iter__(self) -> Iterator[Item]:
        return iter([x for x in vars(self).values() if isinstance(x, self._kind)])

    def __getitem__(self, index: Any) -> Any:
        items = self._items()
        if isinstance(index, slice):
            return self._of(list(items.items())[index])
        return items[self._name(index)]

    def __setitem__(self, index: int, item: Module | Tensor) -> None:
        setattr(self, self._name(index), self._checked(item))

    def __delitem__(self, index: int) -> None:
        removed = self._name(index)
        self._set_all([(name, item) for name, item in self._items().items() if name != removed])

    def insert(self, index: int, item: Module | Tensor) -> None:
        """Add an item before the one at ``index``."""
        items = list(self._items().items())
        items.insert(self._place(index), (self._free_name(), self._checked(item)))
        self._set_all(items)

    def pop(self, index: int = -1) -> Any:
        """Take an item out, the last one unless told."""
        item = self[index]
        del self[index]
        return item

    def _set_all(self, items: list[tuple[str, Item]]) -> None:
        for name in self._items():
            delattr(self, name)
        for name, item in self._renumbered(items):
            setattr(self, name, item)

    def _free_name(self) -> str:
        # A part of a Sequential keeps its names, so the next number may be taken.
        names = self._items()
        return next(str(i) for i in count(len(names)) if str(i) not in names)

    def _name(self, index: int) -> str:
        names = list(self._items())
        place = self._place(index)
        try:
            return names[place]
        except IndexError:
            raise index_error(
                type(self).__name__,
                f"index must be in [{-len(names)}, {len(names) - 1}]",
                index=index,
            ) from None

    def _place(self, index: Any) -> int:
        try:
            return as_index(index)
        except TypeError:
            requirement = "index must be an int"
            raise type_error(type(self).__name__, requirement, index=shown(index)) from None

    def _renumbered(self, items: list[tuple[str, Item]]) -> list[tuple[str, Item]]:
        return [(str(i), item) for i, (_, item) in enumerate(items)]

    def _of(self, items: list[tuple[str, Item]]) -> Any:
        """A container like this one with some of its items."""
        return type(self)([item for _, item in items])  # type: ignore[call-arg]


class _HeldByName(_Held[Item]):
    """A dict: the names are the keys, any strings without a dot that are no other attribute."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Item: ...

    def __getitem__(self, name: str) -> Any:
        return self._items()[name]

    def __setitem__(self, name: str, item: Module | Tensor) -> None:
        if not isinstance(name, str) or name not in self._items():
            self._new_name(type(self).__name__, name)
        setattr(self, name, self._checked(item))

    def __delitem__(self, name: str) -> None:
        if name not in self._items():
            raise KeyError(name)
        delattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._items())

    def __contains__(self, name: object) -> bool:
        return name in self._items()

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._items().keys()

    def values(self) -> Iterable[Item]:
        """The items."""
        return self._items().values()

    def items(self) -> Iterable[tuple[str, Item]]:
        """The names and items."""
        return self._items().items()

    def update(self, items: Any) -> None:
        """Set items from a mapping or pairs."""
        op = type(self).__name__
        for pair in items.items() if hasattr(items, "items") else _iterated(op, items):
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                requirement = "items must be a mapping, or pairs of a name and an item"
                raise type_error(op, requirement, item=shown(pair))
            self[pair[0]] = pair[1]


class Sequential(_HeldInOrder[Module]):
    """Modules one after the other; given as arguments, or as a dict that names them.

    >>> import extensor as ex
    >>> net = ex.nn.Sequential(ex.nn.Linear(2, 3), ex.nn.ReLU())
    >>> net
    Sequential(
      (0): Linear(in_features=2, out_features=3)
      (1): ReLU()
    )
    """

    _kind = Module

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # a dict may have named the modules

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.add_module(name, self._checked(module))
        else:
            given: Any = modules
            self.extend(given)

    def forward(self, x: Any) -> Tensor:
        for module in vars(self).values():
            if isinstance(module, Module):
                x = module(x)
        return x  # type: ignore[no-any-return]

    def _of(self, items: list[tuple[str, Module]]) -> Sequential:
        return Sequential(dict(items))

    def _renumbered(self, items: list[tuple[str, Module]]) -> list[tuple[str, Module]]:
        if all(name.isdigit() for name, _ in items):
            return super()._renumbered(items)
        return items


class ModuleList(_HeldInOrder[Module]):
    """A list of modules, which a module finds where it would not find a Python list."""

    _kind = Module

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        self.extend(() if modules is None else modules)


class ModuleDict(_HeldByName[Module]):
    """A dict of modules, which a module finds where it would not find a Python dict."""

    _kind = Module

    def __init__(
        self,
        modules: Mapping[str, Module] | ModuleDict | Iterable[tuple[str, Module]] | None = None,
    ) -> None:
        self.update(() if modules is None else modules)


class ParameterList(_HeldInOrder[Parameter]):
    """A list of parameters; plain tensors become parameters."""

    _kind = Parameter

    def __init__(self, values: Iterable[Tensor] | None = None) -> None:
        self.extend(() if values is None else values)

    def _checked(self, value: Any) -> Any:
        return super()._checked(_as_parameter(value))


class ParameterDict(_HeldByName[Parameter]):
    """A dict of parameters; plain tensors become parameters."""

    _kind = Parameter

    def __init__(
        self,
        parameters: Mapping[str, Tensor]
        | ParameterDict
        | Iterable[tuple[str, Tensor]]
        | None = None,
    ) -> None:
        self.update(() if parameters is None else parameters)

    def _checked(self, value: Any) -> Any:
        return super()._checked(_as_parameter(value))


def _iterated(op: str, items: Any) -> Iterator[Any]:
    try:
        return iter(items)
    except TypeError:
        raise type_error(op, "items must be iterable", items=shown(items)) from None


def _as_parameter(value: Any) -> Any:
    is_plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value.detach()) if is_plain else value
