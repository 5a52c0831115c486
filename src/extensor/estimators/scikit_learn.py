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
    text = "A column-vector y was passed when a 1d array was expected; y.ravel() has the shape "
    warn(f"{text}({samples},)", kind)


def warn(text: str, kind: type[Warning] = UserWarning) -> None:
    """Warn of the line that called an estimator, however far that is from here."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(__package__):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)


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
    return sys.modules.get("sklearn") is not None
