"""A map that is linear in each of two inputs, as a module."""

from __future__ import annotations

from math import sqrt

from extensor.arrays.dtypes import DType
from extensor.core.creation import empty
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn import init
from extensor.nn.layer_inputs import in_dtype_of
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter
from extensor.ops import bilinear
from extensor.typing import TensorLike


@also_takes(**DEVICE)
class Bilinear(Module):
    """Map that is linear in each of two inputs: ``x1 @ weight[o] @ x2 + bias[o]`` for each output o.

    Parameters
    ----------
    in1_features : int
        Size of the last axis of the first input.
    in2_features : int
        Size of the last axis of the second input.
    out_features : int
        Size of the last axis of the output.
    bias : bool, default True
        Whether to add a learnable bias.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, (out_features, in1_features, in2_features)
        The matrices. Initially uniform in ``[-b, b]`` with ``b = 1 / sqrt(in1_features)``.
    bias : Parameter, (out_features,)
        Numbers added to the outputs, initially uniform in the same interval. None with
        ``bias=False``.

    Raises
    ------
    ValueError
        If ``in1_features`` is not above 0. In a call, if the shapes do not fit.
    TypeError
        In a call, if an input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.bilinear : The function.

    Notes
    -----
    Shape: (..., in1_features) and (..., in2_features) -> (..., out_features).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Bilinear(4, 5, 3)(ex.ones((2, 4)), ex.ones((2, 5))).shape
    (2, 3)
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        *,
        dtype: DType = None,
    ) -> None:
        if in1_features < 1:
            requirement = "in1_features must be above 0"
            raise value_error("Bilinear", requirement, in1_features=in1_features)
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in1_features, in2_features), dtype))
        self.bias = Parameter(empty((out_features,), dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values for the weight and the bias."""
        bound = 1 / sqrt(self.in1_features)
        for parameter in (self.weight, self.bias):
            if parameter is not None:
                init.uniform_(parameter, -bound, bound)

    def forward(self, x1: TensorLike, x2: TensorLike) -> Tensor:
        """Map both inputs to the outputs.

        Parameters
        ----------
        x1 : tensor_like, (..., in1_features)
            The first input.
        x2 : tensor_like, (..., in2_features)
            The second input.

        Returns
        -------
        Tensor, (..., out_features)
            The result.
        """
        first, second = (in_dtype_of(self, self.weight, x) for x in (x1, x2))
        return bilinear(first, second, self.weight, self.bias)
