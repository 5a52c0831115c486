"""Padding with copies of what is there, as modules: mirrored, repeated or periodic."""

from __future__ import annotations

from extensor.nn.padding import PadModule


class _ReflectionPad(PadModule):
    _mode = "reflect"


class _ReplicationPad(PadModule):
    _mode = "replicate"


class _CircularPad(PadModule):
    _mode = "circular"


class ReflectionPad1d(_ReflectionPad):
    """Padding of sequences with their mirror image at each edge, without the edge itself.

    Parameters
    ----------
    padding : int or sequence of ints
        Number of elements added to the last axis: one for all sides, or
        (left, right). A negative number takes elements away.

    Raises
    ------
    ValueError
        If ``padding`` has another length. In a call, if it takes away more than there
        is, or reaches the whole length of an axis.

    See Also
    --------
    ex.pad : The function.

    Notes
    -----
    Shape: (..., length) -> (..., left + length + right).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.ReflectionPad1d((1, 2))(ex.tensor([1.0, 2.0, 3.0]))
    tensor([2., 1., 2., 3., 2., 1.])
    """

    _axes = 1


class ReflectionPad2d(_ReflectionPad):
    """Padding of pictures with their mirror image at each edge, without the edge itself.

    Parameters
    ----------
    padding : int or sequence of ints
        Number of elements added to the last two axes: one for all sides, or
        (left, right, top, bottom). A negative number takes elements away.

    Raises
    ------
    ValueError
        If ``padding`` has another length. In a call, if it takes away more than there
        is, or reaches the whole length of an axis.

    See Also
    --------
    ex.pad : The function.

    Notes
    -----
    Shape: (..., height, width) -> (..., top + height + bottom, left + width + right).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.ReflectionPad2d((1, 2, 0, 1))(ex.ones((4, 3, 5, 6))).shape
    (4, 3, 6, 9)
    """

    _axes = 2


class ReflectionPad3d(_ReflectionPad):
    """Padding of volumes with their mirror image at each edge, without the edge itself.

    Parameters
    ----------
    padding : int or sequence of ints
        Number of elements added to the last three axes: one for all sides, or
        (left, right, top, bottom, front, back). A negative number takes elements away.

    Raises
    ------
    ValueError
        If ``padding`` has another length. In a call, if it takes away more than there
        is, or reaches the whole length of an axis.

    See Also
    --------
    ex.pad : The function.

    Notes
    -----
    Shape: (..., depth, height, width) -> the same with longer last axes.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.ReflectionPad3d(1)(ex.ones((4, 3, 5, 6, 7))).shape
    (4, 3, 7, 8, 9)
    """

    _axes = 3


class ReplicationPad1d(_ReplicationPad):
    """Padding of sequences with copies of the outermost elements.

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
    >>> ex.nn.ReplicationPad1d((1, 2))(ex.tensor([1.0, 2.0, 3.0]))
    tensor([1., 1., 2., 3., 3., 3.])
    """

    _axes = 1


class ReplicationPad2d(_ReplicationPad):
    """Padding of pictures with copies of the outermost elements.

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
    >>> ex.nn.ReplicationPad2d((1, 2, 0, 1))(ex.ones((4, 3, 5, 6))).shape
    (4, 3, 6, 9)
    """

    _axes = 2


class ReplicationPad3d(_ReplicationPad):
    """Padding of volumes with copies of the outermost elements.

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
    >>> ex.nn.ReplicationPad3d(1)(ex.ones((4, 3, 5, 6, 7))).shape
    (4, 3, 7, 8, 9)
    """

    _axes = 3


class CircularPad1d(_CircularPad):
    """Periodic padding of sequences: each edge continues with the elements of the other end.

    Parameters
    ----------
    padding : int or sequence of ints
        Number of elements added to the last axis: one for all sides, or
        (left, right). A negative number takes elements away.

    Raises
    ------
    ValueError
        If ``padding`` has another length. In a call, if it takes away more than there
        is, or exceeds the length of an axis.

    See Also
    --------
    ex.pad : The function.

    Notes
    -----
    Shape: (..., length) -> (..., left + length + right).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.CircularPad1d((1, 2))(ex.tensor([1.0, 2.0, 3.0]))
    tensor([3., 1., 2., 3., 1., 2.])
    """

    _axes = 1


class CircularPad2d(_CircularPad):
    """Periodic padding of pictures: each edge continues with the elements of the other end.

    Parameters
    ----------
    padding : int or sequence of ints
        Number of elements added to the last two axes: one for all sides, or
        (left, right, top, bottom). A negative number takes elements away.

    Raises
    ------
    ValueError
        If ``padding`` has another length. In a call, if it takes away more than there
        is, or exceeds the length of an axis.

    See Also
    --------
    ex.pad : The function.

    Notes
    -----
    Shape: (..., height, width) -> (..., top + height + bottom, left + width + right).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.CircularPad2d((1, 2, 0, 1))(ex.ones((4, 3, 5, 6))).shape
    (4, 3, 6, 9)
    """

    _axes = 2


class CircularPad3d(_CircularPad):
    """Periodic padding of volumes: each edge continues with the elements of the other end.

    Parameters
    ----------
    padding : int or sequence of ints
        Number of elements added to the last three axes: one for all sides, or
        (left, right, top, bottom, front, back). A negative number takes elements away.

    Raises
    ------
    ValueError
        If ``padding`` has another length. In a call, if it takes away more than there
        is, or exceeds the length of an axis.

    See Also
    --------
    ex.pad : The function.

    Notes
    -----
    Shape: (..., depth, height, width) -> the same with longer last axes.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.CircularPad3d(1)(ex.ones((4, 3, 5, 6, 7))).shape
    (4, 3, 7, 8, 9)
    """

    _axes = 3
