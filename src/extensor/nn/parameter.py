"""The tensors that a module learns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from extensor.core.tensor import Tensor

if TYPE_CHECKING:
    from extensor.typing import TensorLike


class Parameter(Tensor):
    """A leaf tensor that belongs to the module it is an attribute of.

    It shares the memory of ``data``. What is computed from it is a plain tensor.

    >>> import extensor as ex
    >>> ex.nn.Parameter([1.0, 2.0])
    tensor([1., 2.], requires_grad=True)
    """

    __slots__ = ()

    def __init__(self, data: TensorLike, requires_grad: bool = True) -> None:
        super().__init__(data, requires_grad=requires_grad)
