"""Derivatives of functions: products with the Jacobian, the Jacobian itself and the Hessian."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.core import backward_pass, modes
from extensor.core.op import OPS
from extensor.core.tensor import Tensor, to_array, wrap
from extensor.errors import type_error, value_error
from extensor.errors.explanation import explaining

if TYPE_CHECKING:
    from extensor.typing import TensorLike

Fn = Callable[..., Any]
R = TypeVar("R")


@explaining
def vjp(fn: Callable[..., R], *inputs: TensorLike) -> tuple[R, Callable[..., Any]]:
    """``fn(*inputs)``, and the function that multiplies a vector by its Jacobian from the left.

    The function takes one vector for each output and may be called any number of times. It returns
    a tensor where there is one input, otherwise a tuple; with ``create_graph=True`` they can be
    differentiated again.

    Parameters
    ----------
    fn : callable
        Takes ``inputs`` as tensors and returns a tensor or a tuple of tensors.
    *inputs : tensor_like
        Where to differentiate; floating.

    Returns
    -------
    tuple
        The result of ``fn``, and the function.

    Raises
    ------
    TypeError
        If an input is not floating or ``fn`` does not return tensors.

    Examples
    --------
    >>> import extensor as ex
    >>> output, pull = ex.vjp(lambda x: x * x, [1.0, 2.0])
    >>> pull([1.0, 1.0])
    tensor([2., 4.])
    """
    aliases = _aliases("vjp", inputs)
    outputs, many = _run("vjp", fn, aliases)

    def pull(*vectors: Any, create_graph: bool = False) -> Any:
        if len(vectors) != len(outputs):
            requirement = f"one vector is needed for each of {len(outputs)} outputs"
            raise value_error("vjp", requirement, vectors=len(vectors))
        gradients = _gradients(outputs, aliases, vectors, create_graph)
        return gradients if len(inputs) > 1 else gradients[0]

    return _given_back(outputs, many, modes.is_grad_enabled()), pull


@explaining
def jvp(
    fn: Callable[..., R],
    inputs: TensorLike | tuple[TensorLike, ...],
    tangents: TensorLike | tuple[TensorLike, ...],
    create_graph: bool = False,
) -> tuple[R, R]:
    """``fn(*inputs)``, and its Jacobian multiplied by ``tangents`` from the right.

    The product with a vector from the left is linear in that vector: its gradient is the product
    from the right, so two backward passes give it.

    Parameters
    ----------
    fn : callable
        Takes ``inputs`` as tensors and returns a tensor or a tuple of tensors.
    inputs : tensor_like or tuple of tensor_like
        Where to differentiate; floating.
    tangents : tensor_like or tuple of tensor_like
        A vector for each input, of its shape.
    create_graph : bool, default False
        Whether the results can be differentiated again.

    Returns
    -------
    tuple
        The result of ``fn``, and the product, of the same shape.

    Raises
    ------
    ValueError
        If there is not one tangent for each input.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.jvp(lambda x: x * x, [1.0, 2.0], [0.0, 1.0])[1]
    tensor([0., 4.])
    """
    given, _ = _as_tuple(inputs)
    directions, _ = _as_tuple(tangents)
    if len(given) != len(directions):
        requirement = "tangents must have one entry for each input"
        raise value_error("jvp", requirement, inputs=len(given), tangents=len(directions))
    aliases = _aliases("jvp", given)
    seeds = [x._seed("jvp", direction) for x, direction in zip(aliases, directions, strict=True)]
    outputs, many = _run("jvp", fn, aliases)
    vectors = [wrap(np.zeros(x.shape, x.dtype)) for x in outputs]
    for vector in vectors:
        vector.requires_grad = True
    gradients = _gradients(outputs, aliases, vectors, True)
    results = _gradients(gradients, vectors, seeds, create_graph)
    connected = create_graph and modes.is_grad_enabled()
    return _given_back(outputs, many, connected), _given_back(results, many, connected)


@explaining
def jacobian(
    fn: Fn, inputs: TensorLike | tuple[TensorLike, ...], create_graph: bool = False
) -> Any:
    """The derivative of each element of ``fn(*inputs)`` by each element of the inputs.

    For an output of shape ``s`` and an input of shape ``t`` it has shape ``s + t``. Where
    ``inputs`` is a tuple the result is one too, and where ``fn`` returns a tuple the result is a
    tuple of those.

    Parameters
    ----------
    fn : callable
        Takes ``inputs`` as tensors and returns a tensor or a tuple of tensors.
    inputs : tensor_like or tuple of tensor_like
        Where to differentiate; floating.
    create_graph : bool, default False
        Whether the result can be differentiated again.

    Returns
    -------
    Tensor or tuple
        The Jacobian, or a tuple of them for each input, for each output.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.jacobian(lambda x: x * x, [1.0, 2.0])
    tensor([[2., 0.],
            [0., 4.]])
    """
    given, several = _as_tuple(inputs)
    aliases = _aliases("jacobian", given)
    outputs, many = _run("jacobian", fn, aliases)
    blocks = []
    for output in outputs:
        rows = []
        for index in range(output.size):
            seed = np.zeros(output.size, output.dtype)
            seed[index] = 1
            vector = wrap(seed.reshape(output.shape))
            rows.append(_gradients([output], aliases, [vector], create_graph))
        block = tuple(
            _stack_rows([row[i] for row in rows], output.shape, x) for i, x in enumerate(aliases)
        )
        blocks.append(block if several else block[0])
    return tuple(blocks) if many else blocks[0]


@explaining
def hessian(fn: Fn, inputs: TensorLike | tuple[TensorLike, ...], create_graph: bool = False) -> Any:
    """The second derivatives of ``fn(*inputs)``, which must have one element.

    For an input of shape ``s`` it has shape ``s + s``. Where ``inputs`` is a tuple the result is a
    tuple of tuples: ``hessian[i][j]`` is the derivative by input ``i`` and input ``j``.

    Parameters
    ----------
    fn : callable
        Takes ``inputs`` as tensors and returns a tensor of one element.
    inputs : tensor_like or tuple of tensor_like
        Where to differentiate; floating.
    create_graph : bool, default False
        Whether the result can be differentiated again.

    Returns
    -------
    Tensor or tuple
        The second derivatives.

    Raises
    ------
    ValueError
        If ``fn`` does not return one element.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.hessian(lambda x: (x * x * x).sum(), [1.0, 2.0])
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    given, several = _as_tuple(inputs)

    def gradient(*xs: Tensor) -> tuple[Tensor, ...]:
        outputs, many = _run("hessian", fn, xs)
        if many or outputs[0].size != 1:
            shapes = [x.shape for x in outputs]
            raise value_error("hessian", "fn must return one element", shapes=shapes)
        return _gradients(outputs, xs, [wrap(np.ones_like(outputs[0]._array))], True)

    blocks = jacobian(gradient, given, create_graph)
    return blocks if several else blocks[0][0]


def _as_tuple(inputs: Any) -> tuple[tuple[Any, ...], bool]:
    """The inputs as a tuple, and whether they were one. A list of numbers is one input."""
    if isinstance(inputs, tuple):
        return inputs, True
    if isinstance(inputs, list) and inputs and all(isinstance(x, Tensor) for x in inputs):
        return tuple(inputs), True
    return (inputs,), False


def _aliases(name: str, inputs: Sequence[Any]) -> tuple[Tensor, ...]:
    """A place on the tape of its own for each input, so that one given twice is two inputs."""
    aliases = []
    for index, value in enumerate(inputs):
        x = value if isinstance(value, Tensor) else wrap(to_array(value, op=name))
        if not is_floating(x.dtype):
            raise type_error(name, f"inputs[{index}] must be floating", dtype=str(x.dtype))
        if x.requires_grad:
            with modes.enable_grad():
                alias = OPS["identity"].function(x)
        else:
            alias = x.detach()
            alias.requires_grad = True
        aliases.append(alias)
    return tuple(aliases)


def _run(name: str, fn: Fn, inputs: Sequence[Tensor]) -> tuple[list[Tensor], bool]:
    """The outputs of ``fn`` as a list, and whether there may be several."""
    with modes.enable_grad():
        result = fn(*inputs)
    many = isinstance(result, list | tuple)
    outputs = list(result) if many else [result]
    for output in outputs:
        if not isinstance(output, Tensor):
            raise type_error(name, "fn must return tensors", output=type(output).__name__)
    return outputs, many


def gradients_or_none(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], vectors: Sequence[Any], create_graph: bool
) -> Sequence[Tensor | None]:
    """The gradients of all inputs: None where ``outputs`` do not depend on one."""
    pairs = [(y, v) for y, v in zip(outputs, vectors, strict=True) if y.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    found: Sequence[Tensor | None] = backward_pass.grad(
        [y for y, _ in pairs],
        inputs,
        [v for _, v in pairs],
        create_graph=create_graph,
        allow_unused=True,
        retain_graph=True,
    )
    return found


def _gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], vectors: Sequence[Any], create_graph: bool
) -> tuple[Tensor, ...]:
    """The same, with zeros instead of None."""
    found = gradients_or_none(outputs, inputs, vectors, create_graph)
    return tuple(
        wrap(np.zeros(x.shape, x.dtype)) if gradient is None else gradient
        for x, gradient in zip(inputs, found, strict=True)
    )


def _stack_rows(rows: Sequence[Tensor], shape: tuple[int, ...], x: Tensor) -> Tensor:
    if not rows:
        return wrap(np.zeros(shape + x.shape, x.dtype))
    stacked = OPS["stack"].function(list(rows), 0)
    return OPS["reshape"].function(stacked, (*shape, *x.shape))  # type: ignore[no-any-return]


def _given_back(outputs: Sequence[Tensor], many: bool, connected: bool) -> Any:
    results = tuple(outputs) if connected else tuple(x.detach() for x in outputs)
    return results if many else results[0]
