"""Distances between vectors as modules, and a loss that is made of them."""

from __future__ import annotations

from collections.abc import Callable

from extensor import ops
from extensor.core.creation import asarray
from extensor.core.tensor import Tensor
from extensor.errors import arguments, value_error
from extensor.nn.loss import Loss
from extensor.nn.module import Module
from extensor.ops.loss import REDUCTIONS, Reduction
from extensor.typing import TensorLike


class CosineSimilarity(Module):
    """Cosine of the angle between vectors: ``sum(x1 * x2) / (|x1| * |x2|)``.

    Parameters
    ----------
    dim : int, default 1
        Axis of the vectors.
    eps : float, default 1e-08
        Least length to divide by.

    Raises
    ------
    ValueError
        In a call, if the shapes do not broadcast or an option is out of range.

    See Also
    --------
    ex.cosine_similarity : The function, with its derivative.

    Notes
    -----
    Shape: shapes that broadcast -> the common shape without ``dim``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.CosineSimilarity()([[3.0, 4.0]], [[4.0, 3.0]])
    tensor([0.96])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        self.dim = dim
        self.eps = eps

    def forward(self, x1: TensorLike, x2: TensorLike) -> Tensor:
        """Compute the result.

        Parameters
        ----------
        x1 : tensor_like
            Vectors.
        x2 : tensor_like
            Vectors to compare them with, in a shape that broadcasts.

        Returns
        -------
        Tensor
            The cosines.
        """
        return ops.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """Distance of vectors: the p-norm of ``x1 - x2 + eps`` along the last axis.

    Parameters
    ----------
    p : float, default 2.0
        Order of the norm.
    eps : float, default 1e-06
        Number added to each difference.
    keepdim : bool, default False
        Whether the last axis stays, with size 1.

    Raises
    ------
    ValueError
        In a call, if the shapes do not broadcast or an option is out of range.

    See Also
    --------
    ex.pairwise_distance : The function, with its derivative.

    Notes
    -----
    Shape: (..., features), shapes that broadcast -> (...).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.PairwiseDistance(eps=0.0)([[0.0, 0.0]], [[3.0, 4.0]])
    tensor([5.])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self.p = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: TensorLike, x2: TensorLike) -> Tensor:
        """Compute the result.

        Parameters
        ----------
        x1 : tensor_like
            Vectors.
        x2 : tensor_like
            Vectors to compare them with, in a shape that broadcasts.

        Returns
        -------
        Tensor
            The distances.
        """
        return ops.pairwise_distance(x1, x2, self.p, self.eps, self.keepdim)


class TripletMarginWithDistanceLoss(Loss):
    """Triplet loss with a distance of your choice: ``max(0, near - far + margin)``.

    Here ``near`` and ``far`` are the distances of the anchor from the positive and the negative vector.

    Parameters
    ----------
    distance_function : callable, optional
        Function of two tensors that returns their distances, by default `PairwiseDistance`.
    margin : float, default 1.0
        How much farther from the anchor the negative vector should be than the positive one.
    swap : bool, default False
        Whether the distance of the negative vector from the positive one replaces that from the
        anchor where it is smaller.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    TripletMarginLoss : The same with p-norms.

    Notes
    -----
    Shape: three times (..., features) -> () or, with "none", (...).

    Examples
    --------
    >>> import extensor as ex
    >>> far = lambda a, b: abs(a - b).max(axis=-1)
    >>> loss = ex.nn.TripletMarginWithDistanceLoss(distance_function=far)
    >>> loss([[0.0, 0.0]], [[3.0, 4.0]], [[0.0, 4.5]])
    tensor(0.5)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if not margin > 0:
            raise value_error(
                "TripletMarginWithDistanceLoss", "margin must be above 0", margin=margin
            )
        self.distance_function = (
            PairwiseDistance() if distance_function is None else distance_function
        )
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: TensorLike, positive: TensorLike, negative: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        anchor : tensor_like, (..., features)
            Vectors to compare with.
        positive : tensor_like, (..., features)
            Vectors that should be near the anchors.
        negative : tensor_like, (..., features)
            Vectors that should be far from the anchors.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        first, second, third = asarray(anchor), asarray(positive), asarray(negative)
        near = self.distance_function(first, second)
        far = self.distance_function(first, third)
        if self.swap:
            far = ops.minimum(far, self.distance_function(second, third))
        losses = ops.relu(near - far + self.margin)
        arguments.choice("TripletMarginWithDistanceLoss", "reduction", self.reduction, REDUCTIONS)
        if self.reduction == "none":
            return losses
        return losses.mean() if self.reduction == "mean" else losses.sum()
