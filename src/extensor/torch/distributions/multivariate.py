"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import Any

from extensor import ops, random
from extensor.torch import shapes
from extensor.torch.distributions.distribution import Distribution, noise
from extensor.torch.tensor_class import handed_out


class MultivariateNormal(Distribution):
    """The normal distribution of vectors.

    Parameters
    ----------
    loc : Tensor
        The mean.
    covariance_matrix : Tensor, optional
        The covariance.
    precision_matrix : Tensor, optional
        Its inverse, which is refused here.
    scale_tril : Tensor, optional
        Or the lower triangle whose square the covariance is.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> normal = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    >>> normal.log_prob(torch.zeros(2))
    tensor(-1.837877)
    """

    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if precision_matrix is not None:
            raise NotImplementedError(
                "MultivariateNormal: precision_matrix is not implemented here"
            )
        if (covariance_matrix is None) == (scale_tril is None):
            raise ValueError("MultivariateNormal: needs either covariance_matrix or scale_tril")
        lower = cholesky(covariance_matrix) if scale_tril is None else scale_tril
        batch = shapes.broadcast_shapes(tuple(loc.shape[:-1]), tuple(lower.shape[:-2]))
        size = loc.shape[-1]
        self.loc = shapes.expand(loc, (*batch, size))
        self.scale_tril = shapes.expand(lower, (*batch, size, size))
        super().__init__(batch, (size,))

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        return self.scale_tril @ self.scale_tril.mT

    @property
    def variance(self) -> Any:
        return (self.scale_tril**2).sum(-1)

    def rsample(self, sample_shape: Any = ()) -> Any:
        draw = noise(random.randn, self._extended_shape(sample_shape), self.loc)
        return self.loc + handed_out(ops.matmul(self.scale_tril, ops.unsqueeze(draw, -1))).squeeze(
            -1
        )

    def _log_determinant(self) -> Any:
        return self.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Any) -> Any:
        solved = solve_lower(self.scale_tril, value - self.loc)
        squares = (solved**2).sum(-1)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + squares) - self._log_determinant()

    def entropy(self) -> Any:
        return 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi)) + self._log_determinant()


def cholesky(matrix: Any) -> Any:
    """The lower triangle whose square is ``matrix``, column by column, so that it has a gradient."""
    size = matrix.shape[-1]
    columns: list[Any] = []
    for j in range(size):
        column = matrix[..., j]
        for before in columns:
            column = column - before * before[..., j : j + 1]
        pivot = column[..., j : j + 1]
        if not bool((pivot > 0).all()):
            raise ValueError("cholesky: the matrix must be positive definite")
        column = column / pivot.sqrt()
        zeros = handed_out(ops.multiply(column[..., :j], 0))
        columns.append(shapes.cat([zeros, column[..., j:]], -1))
    return shapes.stack(columns, -1)


def solve_lower(lower: Any, b: Any) -> Any:
    """``x`` with ``lower @ x = b``, row by row."""
    rows: list[Any] = []
    for i in range(lower.shape[-1]):
        rest = b[..., i]
        for j, x in enumerate(rows):
            rest = rest - lower[..., i, j] * x
        rows.append(rest / lower[..., i, i])
    return shapes.stack(rows, -1)
