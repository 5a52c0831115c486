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
    """The base of all containers: the items are attributes, so they are found as any others."""

    _kind: type[Item]

    def _items(self) -> dict[str, Item]:
        return {name: x for name, x in vars(self).items() if isinstance(x, self._kind)}

    def _check_item(self, value: Any) -> Any:
        """An item; a plain tensor becomes a parameter where parameters are held."""
        if self._kind is Parameter and isinstance(value, Tensor):
            value = value if isinstance(value, Parameter) else Parameter(value.detach())
        if not isinstance(value, self._kind):
            requirement = f"an item must be a {self._kind.__name__}"
            raise type_error(type(self).__name__, requirement, item=type(value).__name__)
        return value

    def __len__(self) -> int:
        return len(self._items())


class _HeldInOrder(_Held[Item]):
    """A list: the names are the numbers from 0."""

    def append(self, item: Module | Tensor) -> Self:
        """Add an item at the end.

        Parameters
        ----------
        item : Module or Tensor
            The item.

        Returns
        -------
        Self
            The list itself.

        Raises
        ------
        TypeError
            If the item is of another kind than the list holds.
        """
        setattr(self, self._free_name(), self._check_item(item))
        return self

    def extend(self, items: Iterable[Module | Tensor]) -> Self:
        """Add items at the end.

        Parameters
        ----------
        items : iterable
            The items.

        Returns
        -------
        Self
            The list itself.
        """
        for item in _iterate(type(self).__name__, items):
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
        setattr(self, self._name(index), self._check_item(item))

    def __delitem__(self, index: int) -> None:
        removed = self._name(index)
        self._set_all([(name, item) for name, item in self._items().items() if name != removed])

    def insert(self, index: int, item: Module | Tensor) -> None:
        """Add an item before the one at ``index``; the names of later ones change.

        Parameters
        ----------
        index : int
            Where the item will be. A negative number counts from the end.
        item : Module or Tensor
            The item.
        """
        items = list(self._items().items())
        items.insert(self._place(index), (self._free_name(), self._check_item(item)))
        self._set_all(items)

    def pop(self, index: int = -1) -> Any:
        """Remove an item; the names of later ones change.

        Parameters
        ----------
        index : int, default -1
            Which item, by default the last.

        Returns
        -------
        Module or Parameter
            The item.

        Raises
        ------
        IndexError
            If there is no such item.
        """
        item = self[index]
        del self[index]
        return item

    def _set_all(self, items: list[tuple[str, Item]]) -> None:
        for name in self._items():
            delattr(self, name)
        for name, item in self._renumber(items):
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
            requirement = f"index must be in [{-len(names)}, {len(names) - 1}]"
            raise index_error(type(self).__name__, requirement, index=index) from None

    def _place(self, index: Any) -> int:
        try:
            return as_index(index)
        except TypeError:
            requirement = "index must be an int"
            raise type_error(type(self).__name__, requirement, index=shown(index)) from None

    def _renumber(self, items: list[tuple[str, Item]]) -> list[tuple[str, Item]]:
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
        setattr(self, name, self._check_item(item))

    def __delitem__(self, name: str) -> None:
        if name not in self._items():
            raise KeyError(name)
        delattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._items())

    def __contains__(self, name: object) -> bool:
        return name in self._items()

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return self._items().keys()

    def values(self) -> Iterable[Item]:
        """Return the items."""
        return self._items().values()

    def items(self) -> Iterable[tuple[str, Item]]:
        """Return pairs of names and items."""
        return self._items().items()

    def update(self, items: Any) -> None:
        """Set several items.

        Parameters
        ----------
        items : mapping or iterable of pairs
            Names and items.
        """
        op = type(self).__name__
        for pair in items.items() if hasattr(items, "items") else _iterate(op, items):
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                requirement = "items must be a mapping, or pairs of a name and an item"
                raise type_error(op, requirement, item=shown(pair))
            self[pair[0]] = pair[1]


class Sequential(_HeldInOrder[Module]):
    """Modules that are called one after the other.

    The output of each is the input of the next. A `Sequential` is also a list: it has ``len``,
    indices, slices, ``append``, ``insert``, ``extend`` and ``pop``. A slice is a `Sequential` of
    the same modules under the same names.

    Parameters
    ----------
    *modules : Module, or one mapping of str to Module
        The modules in order, named "0", "1" and so on; or a single dict, whose keys name them.

    Raises
    ------
    TypeError
        If an item is not a module.
    ValueError
        If a name in the dict is empty, contains a dot or is an attribute already.

    Notes
    -----
    Shape: that of the first module's input -> that of the last module's output. Only the first
    module may take any type, and every module takes one argument.

    Examples
    --------
    >>> import extensor as ex
    >>> net = ex.nn.Sequential(ex.nn.Linear(2, 3), ex.nn.ReLU())
    >>> net
    Sequential(
      (0): Linear(in_features=2, out_features=3)
      (1): ReLU()
    )
    >>> net[0].weight.shape
    (3, 2)
    >>> ex.nn.Sequential({"hidden": ex.nn.Linear(2, 3)}).hidden
    Linear(in_features=2, out_features=3)
    """

    _kind = Module

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # a dict may have named the modules

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.add_module(name, self._check_item(module))
        else:
            given: Any = modules
            self.extend(given)

    def forward(self, x: Any) -> Tensor:
        """Call the modules one after the other.

        Parameters
        ----------
        x : tensor_like
            The input of the first module.

        Returns
        -------
        Tensor
            The output of the last module; ``x`` itself if there is none.
        """
        for module in vars(self).values():
            if isinstance(module, Module):
                x = module(x)
        return x  # type: ignore[no-any-return]

    def _of(self, items: list[tuple[str, Module]]) -> Sequential:
        return Sequential(dict(items))

    def _renumber(self, items: list[tuple[str, Module]]) -> list[tuple[str, Module]]:
        if all(name.isdigit() for name, _ in items):
            return super()._renumber(items)
        return items


class ModuleList(_HeldInOrder[Module]):
    """List of modules, which are parts of the module that holds the list.

    Modules in a plain Python list would not be found by ``parameters()`` and ``state_dict()``. The
    list cannot be called: write a loop in ``forward``.

    Parameters
    ----------
    modules : iterable of Module, optional
        The first items.

    Raises
    ------
    TypeError
        If an item is not a module.

    Examples
    --------
    >>> import extensor as ex
    >>> blocks = ex.nn.ModuleList(ex.nn.Linear(4, 4) for _ in range(3))
    >>> blocks.append(ex.nn.ReLU())[-1]
    ReLU()
    >>> [name for name, _ in blocks[:1].named_parameters()]
    ['0.weight', '0.bias']
    """

    _kind = Module

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        self.extend(() if modules is None else modules)


class ModuleDict(_HeldByName[Module]):
    """Dict of modules, which are parts of the module that holds the dict.

    Modules in a plain Python dict would not be found by ``parameters()`` and ``state_dict()``.

    Parameters
    ----------
    modules : mapping or iterable of pairs of str and Module, optional
        The first items.

    Raises
    ------
    TypeError
        If an item is not a module.
    ValueError
        If a key is empty, contains a dot or is an attribute of the class, such as "keys".

    Examples
    --------
    >>> import extensor as ex
    >>> heads = ex.nn.ModuleDict({"mean": ex.nn.Linear(4, 1)})
    >>> heads["scale"] = ex.nn.Linear(4, 1)
    >>> list(heads), heads["mean"].out_features
    (['mean', 'scale'], 1)
    """

    _kind = Module

    def __init__(
        self,
        modules: Mapping[str, Module] | ModuleDict | Iterable[tuple[str, Module]] | None = None,
    ) -> None:
        self.update(() if modules is None else modules)


class ParameterList(_HeldInOrder[Parameter]):
    """List of parameters, which are parts of the module that holds the list.

    Parameters
    ----------
    values : iterable of Tensor, optional
        The first items. Plain tensors become parameters.

    Raises
    ------
    TypeError
        If an item is not a tensor.

    Examples
    --------
    >>> import extensor as ex
    >>> scales = ex.nn.ParameterList([ex.ones(2), ex.zeros(3)])
    >>> scales[1]
    tensor([0., 0., 0.], requires_grad=True)
    >>> len(scales)
    2
    """

    _kind = Parameter

    def __init__(self, values: Iterable[Tensor] | None = None) -> None:
        self.extend(() if values is None else values)


class ParameterDict(_HeldByName[Parameter]):
    """Dict of parameters, which are parts of the module that holds the dict.

    Parameters
    ----------
    parameters : mapping or iterable of pairs of str and Tensor, optional
        The first items. Plain tensors become parameters.

    Raises
    ------
    TypeError
        If an item is not a tensor.
    ValueError
        If a key is empty, contains a dot or is an attribute of the class, such as "keys".

    Examples
    --------
    >>> import extensor as ex
    >>> scales = ex.nn.ParameterDict({"mean": ex.zeros(2)})
    >>> scales["scale"] = ex.ones(2)
    >>> sorted(scales.keys())
    ['mean', 'scale']
    """

    _kind = Parameter

    def __init__(
        self,
        parameters: Mapping[str, Tensor]
        | ParameterDict
        | Iterable[tuple[str, Tensor]]
        | None = None,
    ) -> None:
        self.update(() if parameters is None else parameters)


def _iterate(op: str, items: Any) -> Iterator[Any]:
    try:
        return iter(items)
    except TypeError:
        raise type_error(op, "items must be iterable", items=shown(items)) from None
