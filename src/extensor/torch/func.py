"""``torch.func``: derivatives of functions, functions over batches, modules as functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from extensor import ops
from extensor.core import backward_pass, modes
from extensor.core.tensor import Tensor as CoreTensor
from extensor.torch import shapes
from extensor.torch.tensor_class import handed_out

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "stack_module_state",
    "vjp",
    "vmap",
]


# Trees: tensors in dicts, lists and tuples.


def _leaves(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return [x for item in tree.values() for x in _leaves(item)]
    if isinstance(tree, list | tuple):
        return [x for item in tree for x in _leaves(item)]
    return [tree]


def _mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    if isinstance(tree, dict):
        return type(tree)((key, _mapped(function, x)) for key, x in tree.items())
    if isinstance(tree, list | tuple):
        made = [_mapped(function, x) for x in tree]
        return type(tree)(*made) if hasattr(tree, "_fields") else type(tree)(made)
    return function(tree)


def _rebuilt(tree: Any, values: Any) -> Any:
    rest = iter(values)
    return _mapped(lambda _: next(rest), tree)


def _alias(x: Any) -> Any:
    """A tensor to differentiate by: connected to the given one, if that is recorded."""
    if not isinstance(x, CoreTensor):
        return x
    if x._requires_grad:
        return handed_out(ops.clone(x))
    made = handed_out(CoreTensor.detach(x))
    made.requires_grad = True
    return made


def _released(x: Any, outer: bool) -> Any:
    """A result: on the tape only if something outside is differentiated too."""
    return handed_out(x if outer or not isinstance(x, CoreTensor) else CoreTensor.detach(x))


def _numbers(argnums: int | tuple[int, ...]) -> tuple[int, ...]:
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def grad_and_value(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that returns the gradient of ``func`` and its value."""

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        outer = any(isinstance(x, CoreTensor) and x._requires_grad for x in _leaves((args, kwargs)))
        chosen = _numbers(argnums)
        with modes.enable_grad():
            given = [_mapped(_alias, x) if i in chosen else x for i, x in enumerate(args)]
            result = func(*given, **kwargs)
            value, aux = result if has_aux else (result, None)
            wanted = [given[i] for i in chosen]
            inputs = _leaves(wanted)
            found = backward_pass.grad(value, inputs, None, True, True)
        outer = outer or (value._requires_grad and _nesting.depth > 1)
        parts = [
            _released(ops.multiply(x, 0) if part is None else part, outer)
            for x, part in zip(inputs, found, strict=True)
        ]
        gradients = _rebuilt(wanted, parts)
        gradient = gradients[0] if isinstance(argnums, int) else tuple(gradients)
        value = _released(value, outer)
        return gradient, (value, aux) if has_aux else value

    return _nested(call)


class _Nesting:
    depth = 0


_nesting = _Nesting()


def _nested(call: Callable[..., Any]) -> Callable[..., Any]:
    """Counts the transforms around a call: inside of another its results stay on the tape."""

    @wraps(call)
    def counted(*args: Any, **kwargs: Any) -> Any:
        with _deeper():
            return call(*args, **kwargs)

    return counted


@contextmanager
def _deeper() -> Iterator[None]:
    _nesting.depth += 1
    try:
        yield
    finally:
        _nesting.depth -= 1


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that returns the gradient of ``func``, and its other results with ``has_aux``."""
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return call


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The result of ``func``, and the function that multiplies a vector by its Jacobian."""
    with modes.enable_grad():
        given = [_mapped(_alias, x) for x in primals]
        result = func(*given)
    value, aux = result if has_aux else (result, None)
    inputs = _leaves(given)

    def pull(*cotangents: Any) -> Any:
        vectors = _leaves(cotangents[0] if len(cotangents) == 1 else cotangents)
        found = backward_pass.grad(_leaves(value), inputs, vectors, False, True, True)
        parts = [
            handed_out(CoreTensor.detach(ops.multiply(x, 0)) if part is None else part)
            for x, part in zip(inputs, found, strict=True)
        ]
        made = _rebuilt(given, parts)
        return tuple(made)

    value = _mapped(lambda x: handed_out(CoreTensor.detach(x)), value)
    return (value, pull, aux) if has_aux else (value, pull)


def jvp(func: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """The result of ``func``, and the product of its Jacobian and a vector."""
    from extensor.torch.autograd import functional

    return functional.jvp(func, tuple(primals), tuple(tangents))


def jacrev(
    func: Callable[..., Any],
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that returns the derivative of each output by each element of the inputs."""
    if has_aux:
        raise NotImplementedError("jacrev: has_aux is not implemented here")

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        outer = _nesting.depth > 1 or any(
            isinstance(x, CoreTensor) and x._requires_grad for x in _leaves((args, kwargs))
        )
        chosen = _numbers(argnums)
        with modes.enable_grad():
            given = [_mapped(_alias, x) if i in chosen else x for i, x in enumerate(args)]
            value = func(*given, **kwargs)
            wanted = [given[i] for i in chosen]
            jacobians = _mapped(lambda y: _rows(y, wanted, outer), value)
        if isinstance(argnums, int):
            return _mapped_tensors(lambda parts: parts[0], jacobians)
        return _mapped_tensors(tuple, jacobians)

    return _nested(call)


class _Parts(list[Any]):
    """The Jacobians of one output by the chosen arguments: one leaf of a tree."""


def _mapped_tensors(function: Callable[[Any], Any], tree: Any) -> Any:
    if isinstance(tree, _Parts):
        return function(tree)
    if isinstance(tree, dict):
        return {key: _mapped_tensors(function, x) for key, x in tree.items()}
    return type(tree)(_mapped_tensors(function, x) for x in tree)


def _rows(output: Any, wanted: list[Any], outer: bool) -> _Parts:
    inputs = _leaves(wanted)
    rows: list[list[Any]] = [[] for _ in inputs]
    flat = ops.reshape(output, (-1,))
    for index in range(flat.shape[0]):
        found = backward_pass.grad(ops.getitem(flat, index), inputs, None, True, True)
        for row, x, part in zip(rows, inputs, found, strict=True):
            row.append(ops.multiply(x, 0) if part is None else part)
    made = [
        _released(ops.reshape(ops.stack(row), (*output.shape, *x.shape)), outer)
        for row, x in zip(rows, inputs, strict=True)
    ]
    return _Parts(_rebuilt(wanted, made))


def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """The same as `jacrev`, which computes it here."""
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """The function that returns the second derivatives of ``func``."""
    return jacrev(jacrev(func, argnums), argnums)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function over a batch: one call for each sample, whose results are stacked.

    ``randomness="same"`` is refused.
    """
    if randomness == "same":
        raise NotImplementedError("vmap: randomness='same' is not implemented here")

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        dims = in_dims if isinstance(in_dims, tuple | list) else (in_dims,) * len(args)
        pairs = [pair for arg, dim in zip(args, dims, strict=True) for pair in _with_dims(arg, dim)]
        sizes = {x.shape[dim] for x, dim in pairs if dim is not None}
        sizes |= {x.shape[0] for x in _leaves(kwargs) if isinstance(x, CoreTensor)}
        if len(sizes) != 1:
            raise ValueError(f"vmap: the batches must be of one size, got {sorted(sizes)}")
        results = []
        for index in range(sizes.pop()):
            taken = [_taken(arg, dim, index) for arg, dim in zip(args, dims, strict=True)]
            named = {key: _taken(x, 0, index) for key, x in kwargs.items()}
            results.append(func(*taken, **named))
        leaves = [_leaves(result) for result in results]
        ends = (
            _leaves(out_dims) if isinstance(out_dims, tuple | list) else [out_dims] * len(leaves[0])
        )
        stacked = [
            shapes.stack(parts, end)
            for parts, end in zip(zip(*leaves, strict=True), ends, strict=True)
        ]
        return _rebuilt(results[0], stacked)

    return call


def _with_dims(arg: Any, dim: Any) -> list[tuple[Any, Any]]:
    if isinstance(arg, CoreTensor):
        return [(arg, dim)]
    if isinstance(arg, dict):
        keys = dim if isinstance(dim, dict) else dict.fromkeys(arg, dim)
        return [pair for key, x in arg.items() for pair in _with_dims(x, keys[key])]
    if isinstance(arg, list | tuple):
        own = dim if isinstance(dim, list | tuple) else [dim] * len(arg)
        return [pair for x, each in zip(arg, own, strict=True) for pair in _with_dims(x, each)]
    return []


def _taken(arg: Any, dim: Any, index: int) -> Any:
    if isinstance(arg, CoreTensor):
        return arg if dim is None else shapes.select(arg, dim, index)
    if isinstance(arg, dict):
        keys = dim if isinstance(dim, dict) else dict.fromkeys(arg, dim)
        return type(arg)((key, _taken(x, keys[key], index)) for key, x in arg.items())
    if isinstance(arg, list | tuple):
        own = dim if isinstance(dim, list | tuple) else [dim] * len(arg)
        return type(arg)(_taken(x, each, index) for x, each in zip(arg, own, strict=True))
    return arg


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: Any = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """The result of a module with other tensors in place of its parameters and buffers."""
    given: dict[str, Any] = {}
    dicts = parameter_and_buffer_dicts
    for part in [dicts] if isinstance(dicts, dict) else dicts:
        given.update(part)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    own = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    unknown = given.keys() - own.keys()
    if unknown or (strict and own.keys() - given.keys()):
        raise RuntimeError(
            f"functional_call: names must be those of the module, got {sorted(unknown)}"
        )
    holders = []
    for path, value in given.items():
        parent, _, name = path.rpartition(".")
        holder = vars(module.get_submodule(parent))
        holders.append((holder, name, holder[name]))
        # Past the checks of modules, which expect parameters: the same object may stand at other paths.
        for each in _holders_of(module, own[path]) if tie_weights else []:
            if (each[0], each[1]) != (holder, name):
                holders.append((each[0], each[1], each[0][each[1]]))
                each[0][each[1]] = value
        holder[name] = value
    try:
        return module(*args, **(kwargs or {}))
    finally:
        for holder, name, value in reversed(holders):
            holder[name] = value


def _holders_of(module: Any, tensor: Any) -> list[tuple[dict[str, Any], str]]:
    return [
        (vars(inner), name)
        for inner in module.modules()
        for name, value in vars(inner).items()
        if value is tensor
    ]


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several modules of one kind, stacked."""

    def stacked(dicts: Any, requires_grad: bool) -> dict[str, Any]:
        made = {}
        for name in dicts[0]:
            made[name] = shapes.stack([each[name].detach() for each in dicts])
            if requires_grad:
                made[name].requires_grad = True
        return made

    parameters = stacked([dict(model.named_parameters()) for model in models], True)
    return parameters, stacked([dict(model.named_buffers()) for model in models], False)


def __dir__() -> list[str]:
    return sorted(__all__)
