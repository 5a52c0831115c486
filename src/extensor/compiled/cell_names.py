"""Names for the arrays that a function has bound, as files have them."""

from __future__ import annotations

import inspect
from typing import Any

from extensor.compiled.residence import cells_in
from extensor.compiled.state import State
from extensor.nn.module import Module
from extensor.optim.states import History


def name_cells(function: Any, state: State) -> list[tuple[str, str]]:
    """The name and the kind of each cell of ``state``, in its order.

    Modules and averages have the names of their ``state_dict``. Groups and parameters of optimizers
    are counted as there, over all optimizers. Other tensors have the names of variables of
    ``function``, or are counted.
    """
    variables = _variables(function)
    known = _name_tensors(state.reached.modules)
    named = {
        id(x): known.get(id(x)) or (f"tensor.{variables.get(id(x), place)}", "tensor")
        for place, x in enumerate(state.tensors)
    }
    graded = [x for x in state.tensors if x._requires_grad and x.grad is not None]
    cells = list(named.values())
    cells += [(f"gradient.{named[id(x)][0]}", "gradient") for x in graded]
    averages = iter(numbered("ema", len(state.reached.averages)))
    first = 0
    owners: list[tuple[Any, str]] = [*state.owners]
    for owner, attribute in owners:
        arrays = cells_in(owner, attribute)
        if isinstance(owner, History):
            cells += [
                (f"optimizer.state.{first + i}.{name}", "optimizer state")
                for name, role in zip(owner.names, arrays, strict=True)
                for i, array in enumerate(role)
                if array is not None
            ]
            first += len(owner.group["params"])
        else:
            prefix = next(averages)
            cells += [(f"{prefix}.average.{i}", "average") for i in range(len(arrays))]
    return cells


def name_arrays(function: Any, state: State) -> list[str]:
    """The names of the NumPy arrays that are bound, in their order."""
    variables = _variables(function)
    return [f"array.{variables.get(key, place)}" for place, key in enumerate(state.arrays)]


def numbered(word: str, count: int) -> list[str]:
    """``word`` if there is one such thing, else ``word.0``, ``word.1`` and so on."""
    return [word] if count == 1 else [f"{word}.{i}" for i in range(count)]


def _variables(function: Any) -> dict[int, str]:
    """The names of what ``function`` finds in its closure and its module, by identity."""
    try:
        found = inspect.getclosurevars(function)
    except (TypeError, ValueError):  # a module or a partial; a variable that is not set yet
        return {}
    return {id(x): name for name, x in {**found.globals, **found.nonlocals}.items()}


def _name_tensors(modules: list[Module]) -> dict[int, tuple[str, str]]:
    """The paths of tensors in the modules that no other module holds, and their kinds."""
    below = {id(child) for module in modules for child in module.children()}
    roots = [module for module in modules if id(module) not in below]
    named: dict[int, tuple[str, str]] = {}
    for prefix, module in zip(numbered("model", len(roots)), roots, strict=True):
        for name, parameter in module.named_parameters():
            named[id(parameter)] = f"{prefix}.{name}", "parameter"
        for name, buffer in module.named_buffers():
            named[id(buffer)] = f"{prefix}.{name}", "buffer"
    return named
