"""Losses of distances between vectors, as modules."""

from __future__ import annotations

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.errors.keywords import REDUCED, also_takes
from extensor.nn.loss import Loss
from extensor.ops.loss import Reduction
from extensor.typing import TensorLike


@also_takes(**REDUCED, eps=(1e-6, 0.0))
class TripletMarginLoss(Loss):
    """Triplet loss: ``max(0, |anchor - positive| - |anchor - negative| + margin)``.

    The distances are p-norms along the last axis. Unlike in PyTorch no epsilon is added to the
    differences.

    Parameters
    ----------
    margin : float, default 1.0
        How much farther from the anchor the negative vector should be than the positive one.
    p : float, default 2.0
        Order of the norm.
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
    ex.triplet_loss : The function, with its derivative.

    Notes
    -----
    Shape: three times (..., features) -> () or, with "none", (...).

    References
    ----------
    Balntas et al., "Learning local feature descriptors with triplets and shallow convolutional
    neural networks", 2016.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.TripletMarginLoss()([[0.0, 0.0]], [[3.0, 4.0]], [[0.0, 5.5]])
    tensor(0.5)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        *,
        swap: bool = False,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.margin = margin
        self.p = p
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
        return ops.triplet_loss(
            anchor, positive, negative, self.margin, self.p, self.swap, self.reduction
        )


@also_takes(**REDUCED)
class CosineEmbeddingLoss(Loss):
    """Cosine loss of pairs of vectors that should be alike or not.

    It is ``1 - cos`` where the target is 1 and ``max(0, cos - margin)`` where it is -1.

    Parameters
    ----------
    margin : float, default 0.0
        Cosine above which unlike vectors cost something, from -1 to 1.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.cosine_embedding_loss : The function, with its derivative.

    Notes
    -----
    Shape: x1 and x2 (..., features), target (...) -> () or, with "none", (...).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.CosineEmbeddingLoss()([[1.0, 0.0]], [[0.0, 2.0]], [1])
    tensor(1.)
    """

    def __init__(self, margin: float = 0.0, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.margin = margin

    def forward(self, x1: TensorLike, x2: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        x1 : tensor_like, (..., features)
            First vectors.
        x2 : tensor_like, (..., features)
            Second vectors.
        target : tensor_like, (...)
            1 for pairs that should be alike, -1 for pairs that should not.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.cosine_embedding_loss(x1, x2, target, self.margin, self.reduction)
