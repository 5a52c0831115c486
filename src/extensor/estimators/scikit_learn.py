"""What scikit-learn has classes for: its own where it is loaded, others where it is not."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from extensor.errors import marked


class NotFittedError(ValueError, AttributeError):
    """What scikit-learn calls so, which it knows by its own class of this name."""


def not_fitted(op: str) -> Exception:
    """The error for an estimator that has learned nothing yet."""
    kind: Any = NotFittedError
    if _is_loaded():
        from sklearn.exceptions import NotFittedError as Known

        kind = Known
    error: Exception = marked(kind(f"{op}: the estimator must be fitted first, by fit"))
    return error


def warn_of_column(samples: int) -> None:
    """Say that a matrix of one column was taken for a row of labels."""
    kind: Any = UserWarning
    if _is_loaded():
        from sklearn.exceptions import DataConversionWarning

        kind = DataConversionWarning
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; y.ravel() has the shape "
        f"({samples},)",
        kind,
        stacklevel=5,
    )


def tags(kind: str) -> Any:
    """The tags of a ``"classifier"`` or a ``"regressor"``; scikit-learn asks for them."""
    from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

    is_classifier = kind == "classifier"
    return Tags(
        estimator_type=kind,
        target_tags=TargetTags(required=True, multi_output=not is_classifier),
        classifier_tags=ClassifierTags(multi_label=True) if is_classifier else None,
        regressor_tags=None if is_classifier else RegressorTags(),
    )


def _is_loaded() -> bool:
    return "sklearn" in sys.modules
