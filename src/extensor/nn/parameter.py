"""The tensors that a module learns."""

from __future__ import annotations

from extensor.core.tensor import Tensor
from extensor.typing import TensorLike


class Parameter(Tensor):
    """Tensor that a module learns.

    A `Parameter` that is an attribute of a `Module` is found by ``parameters()``, saved by
    ``state_dict()`` and cast by ``to()``. It is a leaf tensor that requires a gradient. Results
    computed with it are plain tensors.

    Parameters
    ----------
    data : tensor_like
        The initial values. The memory of a tensor or array is shared, not copied.
    requires_grad : bool, default True
        Whether gradients are computed for it. False freezes the parameter.

    Raises
    ------
    TypeError
        If ``requires_grad`` is set and ``data`` is not floating.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Parameter([1.0, 2.0])
    tensor([1., 2.], requires_grad=True)
    >>> layer = ex.nn.Linear(2, 1)
    >>> layer.temperature = ex.nn.Parameter(ex.ones(()))
    >>> [name for name, _ in layer.named_parameters()]
    ['weight', 'bias', 'temperature']
    """

    __slots__ = ()

    def __init__(self, data: TensorLike, requires_grad: bool = True) -> None:
        super().__init__(data, requires_grad=requires_grad)
