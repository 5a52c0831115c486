"""Padding as modules, with PyTorch's arguments: the widths of the last axis come first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from extensor.arrays.shapes import Shape
from extensor.core.creation import asarray
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.ops import pad
from extensor.ops.padding import Mode
from extensor.ops.windows import Ints, ints
from extensor.typing import TensorLike


class PadModule(Module):
    _axes: ClassVar[int]
    _mode: ClassVar[Mode]
    padding: Shape

    def __init__(self, padding: Ints) -> None:
        name = type(self).__name__
        self.padding = ints(name, "padding", padding, 2 * self._axes, least=-(2**62))

    def forward(self, x: TensorLike) -> Tensor:
        """Pad the last axes of ``x``.

        Parameters
        ----------
        x : tensor_like
            The input.

        Returns
        -------
        Tensor
            The longer tensor.
        """
        return self._padded(asarray(x), 0.0)

    def _padded(self, x: Tensor, value: float) -> Tensor:
        if x.ndim < self._axes:
            wanted = f"x must have at least {self._axes} axes"
            raise value_error(type(self).__name__, wanted, x_shape=x.shape)
        # Pairs (before, after) in the order of the axes.
        pairs = [self.padding[i : i + 2] for i in range(0, 2 * self._axes, 2)][::-1]
        others = x.ndim - self._axes
        for axis, pair in enumerate(pairs, start=others):
            self._check_room(x.shape, axis, pair)
        if self._mode == "circular":  # what is left is continued
            return self._lengthened(self._shortened(x, pairs), pairs, value)
        return self._shortened(self._lengthened(x, pairs, value), pairs)

    def _lengthened(self, x: Tensor, pairs: Sequence[Shape], value: float) -> Tensor:
        widths = [(max(before, 0), max(after, 0)) for before, after in pairs]
        if not any(any(pair) for pair in widths):
            return x
        return pad(x, [*[(0, 0)] * (x.ndim - self._axes), *widths], self._mode, value)

    def _shortened(self, x: Tensor, pairs: Sequence[Shape]) -> Tensor:
        """``x`` without as many elements as negative widths take away."""
        if min(self.padding) >= 0:
            return x
        sizes = x.shape[x.ndim - self._axes :]
        kept: list[Any] = [
            slice(max(-before, 0), size + min(after, 0))
            for size, (before, after) in zip(sizes, pairs, strict=True)
        ]
        return x[(..., *kept)]

    def _check_room(self, shape: Shape, axis: int, pair: Shape) -> None:
        size = shape[axis]
        left = size + sum(min(width, 0) for width in pair)
        most = {"reflect": size - 1, "circular": left}.get(self._mode, max(pair))
        got = {"padding": self.padding, "x_shape": shape}
        if left < 0:
            wanted = f"padding must not take away more than axis {axis} has"
            raise value_error(type(self).__name__, wanted, **got)
        if max(pair) > max(most, 0):
            wanted = f"padding must be at most {most} along axis {axis}"
            raise value_error(type(self).__name__, wanted, **got)


class _ConstantPad(PadModule):
    _mode = "constant"

    def __init__(self, padding: Ints, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, x: TensorLike) -> Tensor:
        """Pad the last axes of ``x``.

        Parameters
        ----------
        x : tensor_like
            The input.

        Returns
        -------
        Tensor
            The longer tensor.
        """
        return self._padded(asarray(x), self.value)


class _ZeroPad(PadModule):
    _mode = "constant"


class ConstantPad1d(_ConstantPad):
    """Padding of sequences with a constant.

    Parameters
    ----------
    padding : int or sequence of ints
        Number of elements added to the last axis: one for all sides, or
        (left, right). A negative number takes elements away.
    value : float
        The constant.

    Raises
    ------
    ValueError
        If ``padding`` has another length. In a call, if it takes away more than there
        is.

    See Also
    --------
    ex.pad : The function.

    Notes
    -----
    Shape: (..., length) -> (..., left + length + right).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.ConstantPad1d((1, 2), 9.0)(ex.tensor([1.0, 2.0, 3.0]))
    tensor([9., 1., 2., 3., 9., 9.])
    """

    _axes = 1


class ConstantPad2d(_ConstantPad):
    """Padding of pictures with a constant.

    Parameters
    ----------
    padding : int or sequence of ints
        Number of elements added to the last two axes: one for all sides, or
        (left, right, top, bottom). A negative number takes elements away.
    value : float
        The constant.

    Raises
    ------
    ValueError
        If ``padding`` has another length. In a call, if it takes away more than there
        is.

    See Also
    --------
    ex.pad : The function.

    Notes
    -----
    Shape: (..., height, width) -> (..., top + height + bottom, left + width + right).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.ConstantPad2d((1, 2, 0, 1), 9.0)(ex.ones((4, 3, 5, 6))).shape
    (4, 3, 6, 9)
    """

    _axes = 2


class ConstantPad3d(_ConstantPad):
    """Padding of volumes with a constant.

    Parameters
    ----------
    padding : int or sequence of ints
        Number of elements added to the last three axes: one for all sides, or
        (left, right, top, bottom, front, back). A negative number takes elements away.
    value : float
        The constant.

    Raises
    ------
    ValueError
        If ``padding`` has another length. In a call, if it takes away more than there
        is.

    See Also
    --------
    ex.pad : The function.

    Notes
    -----
    Shape: (..., depth, height, width) -> the same with longer last axes.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.ConstantPad3d(1, 9.0)(ex.ones((4, 3, 5, 6, 7))).shape
    (4, 3, 7, 8, 9)
    """

    _axes = 3


class ZeroPad1d(_ZeroPad):
    """Padding of sequences with zeros.

    Parameters
    ----------
    padding : int or sequence of ints
        Number of elements added to the last axis: one for all sides, or
        (left, right). A negative number takes elements away.

    Raises
    ------
    ValueError
        If ``padding`` has another length. In a call, if it takes away more than there
        is.

    See Also
    --------
    ex.pad : The function.

    Notes
    -----
    Shape: (..., length) -> (..., left + length + right).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.ZeroPad1d((1, 2))(ex.tensor([1.0, 2.0, 3.0]))
    tensor([0., 1., 2., 3., 0., 0.])
    """

    _axes = 1


class ZeroPad2d(_ZeroPad):
    """Padding of pictures with zeros.

    Parameters
    ----------
    padding : int or sequence of ints
        Number of elements added to the last two axes: one for all sides, or
        (left, right, top, bottom). A negative number takes elements away.

    Raises
    ------
    ValueError
        If ``padding`` has another length. In a call, if it takes away more than there
        is.

    See Also
    --------
    ex.pad : The function.

    Notes
    -----
    Shape: (..., height, width) -> (..., top + height + bottom, left + width + right).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.ZeroPad2d((1, 2, 0, 1))(ex.ones((4, 3, 5, 6))).shape
    (4, 3, 6, 9)
    """

    _axes = 2


class ZeroPad3d(_ZeroPad):
    """Padding of volumes with zeros.

    Parameters
    ----------
    padding : int or sequence of ints
        Number of elements added to the last three axes: one for all sides, or
        (left, right, top, bottom, front, back). A negative number takes elements away.

    Raises
    ------
    ValueError
        If ``padding`` has another length. In a call, if it takes away more than there
        is.

    See Also
    --------
    ex.pad : The function.

    Notes
    -----
    Shape: (..., depth, height, width) -> the same with longer last axes.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.ZeroPad3d(1)(ex.ones((4, 3, 5, 6, 7))).shape
    (4, 3, 7, 8, 9)
    """

    _axes = 3
