"""What Classifier and Regressor say of inputs that are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from estimating import IRIS, WORDS, small
from scipy import sparse
from sklearn.exceptions import NotFittedError

import extensor as ex

X, Y = IRIS
FITTED = small().fit(X, Y)
NUMBERED = small(ex.Regressor).fit(X, Y)
ONE_BAD = X.copy()
ONE_BAD[3, 1] = np.inf
OBJECTS = X.astype(object)
OBJECTS[2, 1] = "two"
LABELS = "Classifier.fit: y must be labels, one for each sample, or a matrix of 0 and 1 "
OPTIMIZER = (
    "Classifier: optimizer must be the name of one, or a function of parameters, lr and "
    "weight_decay, as functools.partial(ex.optim.SGD, momentum=0.9), got "
)


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (
            lambda: small(hidden=(8, 0)).fit(X, Y),
            "Classifier: hidden must be 1 or more, got hidden=0",
        ),
        (
            lambda: small(hidden="8").fit(X, Y),
            "Classifier: hidden must be the widths of the hidden layers, such as (100,), "
            "got hidden='8'",
        ),
        (lambda: small(epochs=0).fit(X, Y), "Classifier: epochs must be 1 or more, got epochs=0"),
        (
            lambda: small(batch_size="all").fit(X, Y),
            "Classifier: batch_size must be 'auto' or an integer, got batch_size='all'",
        ),
        (lambda: small(lr=0).fit(X, Y), "Classifier: lr must be greater than 0, got lr=0"),
        (lambda: small(lr=np.inf).fit(X, Y), "Classifier: lr must be finite, got lr=inf"),
        (lambda: small(dropout=1).fit(X, Y), "Classifier: dropout must be below 1, got dropout=1"),
        (
            lambda: small(validation_fraction=1.0).fit(X, Y),
            "Classifier: validation_fraction must be between 0 and 1, got validation_fraction=1.0",
        ),
        (
            lambda: small(early_stopping=True, validation_fraction=0.001).fit(X, Y),
            "Classifier.fit: validation_fraction must leave samples to learn from and to validate "
            "with, got validation_fraction=0.001, samples=150",
        ),
        (
            lambda: small(optimizer="adamm").fit(X, Y),
            "Classifier: optimizer must be one of ex.optim (did you mean 'adam'?), "
            "got optimizer='adamm'",
        ),
        (lambda: small(optimizer=len).fit(X, Y), OPTIMIZER + "optimizer='builtin_function_or_method'"),
        (lambda: small(optimizer=3).fit(X, Y), OPTIMIZER + "optimizer=3"),
        (
            lambda: small(optimizer=lambda params, lr, weight_decay: 1).fit(X, Y),
            "Classifier: optimizer must be what gives an Optimizer, got optimizer=1",
        ),
        (
            lambda: small(random_state="a").fit(X, Y),
            "Classifier: random_state must be None, an integer or a source of random numbers, "
            "got random_state='a'",
        ),
        (
            lambda: small(random_state=-1).fit(X, Y),
            "Classifier: random_state must be from 0 to 2**64 - 1, got random_state=-1",
        ),
        (
            lambda: small().fit("iris.csv", Y),
            "Classifier.fit: X must be an array, a table, or lists of equal lengths, "
            "got X='iris.csv'",
        ),
        (
            lambda: small().fit([[1.0], [1.0, 2.0]], [0, 1]),
            "Classifier.fit: X must be an array, a table, or lists of equal lengths, got X='list'",
        ),
        (
            lambda: small().fit(X[0], Y),
            "Classifier.fit: X must have two axes, samples and features (Reshape your data: "
            "X.reshape(1, -1) is one sample, X.reshape(-1, 1) one feature), got X_shape=(4,)",
        ),
        (
            lambda: small().fit(X[:, :0], Y),
            "Classifier.fit: X must have features (0 feature(s) (shape=(150, 0)) while a minimum "
            "of 1 is required)",
        ),
        (
            lambda: small().fit(X + 1j, Y),
            "Classifier.fit: X must be real (Complex data not supported), got dtype='complex128'",
        ),
        (
            lambda: FITTED.predict(ONE_BAD),
            "Classifier.predict: X must be finite and have nothing missing, but contains inf, "
            "got row=3, column=1",
        ),
        (
            lambda: small().fit(pd.DataFrame({"a": [1, 2], "b": [1.0, None]}), [0, 1]),
            "Classifier.fit: X must be finite and have nothing missing, but contains NaN, "
            "got row=1, column='b'",
        ),
        (
            lambda: small().fit(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), [0, 1]),
            "Classifier.fit: X must be numbers: an argument must be neither a string nor any "
            "other object but a number (words must be encoded first), "
            "got row=0, column='b', type='str'",
        ),
        (
            lambda: small().fit(pd.DataFrame({"a": pd.to_datetime(["2020", "2021"])}), [0, 1]),
            "Classifier.fit: X must be numbers (words must be encoded first), "
            "got dtype='datetime64[us]'",
        ),
        (
            lambda: small().fit(pd.DataFrame([[1.0, 2.0]], columns=["a", 1]), [0]),
            "Classifier.fit: the columns of X must all have strings for names, or none, got name=1",
        ),
        (
            lambda: small().fit(X * 1e200, Y),
            "Classifier.fit: X must have squares that are finite (or scale=False), got column=0",
        ),
        (
            lambda: small().fit(X.astype(np.float32), Y).predict(X * 1e100),
            "Classifier.predict: X must be what float32 can hold when scaled, got row=0",
        ),
        (
            lambda: small(ex.Regressor, scale=False).fit(X.astype(np.float32), Y * 1e300),
            "Regressor.fit: y and weights must be what float32 can hold",
        ),
        (
            lambda: FITTED.predict(X[:, :2]),
            "Classifier.predict: X has 2 features, but Classifier is expecting 4 features as input",
        ),
        (
            lambda: small().fit(X, None),
            "Classifier.fit: y must be given (it requires y to be passed, but the target y is None)",
        ),
        (
            lambda: small().fit(X, Y[1:]),
            "Classifier.fit: y must have a target for each of the 150 samples, got targets=149",
        ),
        (
            lambda: small().fit(X, X[:, 0]),
            LABELS + "(Unknown label type: continuous), got shape=(150,), dtype='float64'",
        ),
        (
            lambda: small().fit(X, X[:, :2]),
            LABELS + "(Unknown label type: multiclass-multioutput), got shape=(150, 2), "
            "dtype='float64'",
        ),
        (
            lambda: small().fit(X[:2], np.array(["a", 1], object)),
            LABELS + "(Unknown label type: unknown), got shape=(2,), dtype='object'",
        ),
        (
            lambda: small().fit(X[:2], np.array(["a", None], object)),
            "Classifier.fit: y must have nothing missing, but contains NaN, got row=1",
        ),
        (
            lambda: small().fit(X, np.ones(150)),
            "Classifier.fit: y must have more than one class, got classes=1",
        ),
        (
            lambda: small(ex.Regressor).fit(X, WORDS),
            "Regressor.fit: y must be numbers (words must be encoded first), got dtype='<U10'",
        ),
        (
            lambda: NUMBERED.partial_fit(X, X),
            "Regressor.partial_fit: y must be as before, a row, got y_shape=(150, 4)",
        ),
        (
            lambda: small(ex.Regressor).fit(X, X).partial_fit(X, Y),
            "Regressor.partial_fit: y must be as before, of 4 columns, got y_shape=(150,)",
        ),
        (
            lambda: small().fit(X, Y, np.ones(3)),
            "Classifier.fit: sample_weight must be a row of 150, one for each sample, "
            "got sample_weight_shape=(3,)",
        ),
        (
            lambda: small().fit(X, Y, -np.ones(150)),
            "Classifier.fit: sample_weight must be finite and not negative, got row=0, weight=-1.0",
        ),
        (
            lambda: small().fit(X, Y, np.zeros(150)),
            "Classifier.fit: a weight must be other than zero (sample_weight is zeros)",
        ),
        (
            lambda: small(class_weight="even").fit(X, Y),
            "Classifier: class_weight must be None, 'balanced' or a dict of classes and weights, "
            "got class_weight='even'",
        ),
        (
            lambda: small(class_weight={3: 1.0}).fit(X, Y),
            "Classifier: class_weight must name classes of 0, 1, 2, got label=3",
        ),
        (
            lambda: small(class_weight={0: -1.0}).fit(X, Y),
            "Classifier: class_weight[0] must be 0 or greater, got class_weight[0]=-1.0",
        ),
        (
            lambda: small(class_weight={0: 1.0}).fit(X, np.eye(3, dtype=int)[Y]),
            "Classifier: class_weight must be None where samples have several labels, "
            "got class_weight='dict'",
        ),
        (
            lambda: small(class_weight="balanced").partial_fit(X, Y, [0, 1, 2]),
            "Classifier.partial_fit: class_weight must be None or a dict, as a part does not show "
            "all classes, got class_weight='balanced'",
        ),
        (
            lambda: small(early_stopping=True).partial_fit(X, Y, [0, 1, 2]),
            "Classifier.partial_fit: early_stopping must be False, as one epoch has nothing to "
            "stop, got early_stopping=True",
        ),
        (
            lambda: small().partial_fit(X, Y),
            "Classifier.partial_fit: classes must be given in the first call, all that there will "
            "be, got classes=None",
        ),
        (
            lambda: small().partial_fit(X, Y, [0, 1]),
            "Classifier.partial_fit: y must be of the classes that are known, got row=100, label=2",
        ),
        (
            lambda: FITTED.partial_fit(X, WORDS),
            "Classifier.partial_fit: y must be of the classes that are known, "
            "got row=0, label='setosa'",
        ),
        (
            lambda: FITTED.partial_fit(X, Y, [0, 1]),
            "Classifier.partial_fit: classes must be those of y and of the first call, "
            "got classes=[0, 1]",
        ),
        (
            lambda: FITTED.partial_fit(X, np.eye(3, dtype=int)[Y]),
            "Classifier.partial_fit: y must be as before, one label for each sample, "
            "got y_shape=(150, 3)",
        ),
        (
            lambda: small().fit(X, Y).set_params(hidden=(9,)).partial_fit(X, Y),
            "Classifier.partial_fit: hidden must stay as it was when training began",
        ),
        (
            lambda: FITTED.score(X, np.eye(3, dtype=int)[Y]),
            "Classifier.score: y must be of the shape that predict gives, "
            "got predicted_shape=(150,), y_shape=(150, 3)",
        ),
    ],
)  # fmt: skip
def test_texts(work: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        work()
    assert str(caught.value) == text


def test_not_fitted_yet() -> None:
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError) as caught:
            getattr(ex.Classifier(), method)(X)
        expected = f"Classifier.{method}: the estimator must be fitted first, by fit"
        assert str(caught.value) == expected


def test_sparse_inputs_are_refused() -> None:
    for matrix in (sparse.csr_matrix(X), sparse.coo_array(X)):
        with pytest.raises(TypeError) as caught:
            small().fit(matrix, Y)
        assert str(caught.value) == (
            "Classifier.fit: X must be dense: sparse ones are not supported (X.toarray()), "
            f"got X='{type(matrix).__name__}'"
        )


def test_names_are_missed() -> None:
    table = pd.DataFrame(X, columns=list("abcd"))
    named = small().fit(table, Y)
    expected = "X does not have valid feature names, but Classifier was fitted with feature names"
    with pytest.warns(UserWarning, match=f"^{expected}$") as noted:
        named.predict(X)
    assert noted[0].filename == __file__
    expected = "X has feature names, but Classifier was fitted without feature names"
    with pytest.warns(UserWarning, match=f"^{expected}$"):
        FITTED.predict(table)
    with pytest.raises(ValueError, match="feature names should match") as caught:
        named.predict(table.rename(columns={"b": "e"}))
    assert str(caught.value) == (
        "Classifier.predict: The feature names should match those that were passed during fit.\n"
        "Feature names unseen at fit time:\n- e\n"
        "Feature names seen at fit time, yet now missing:\n- b\n"
    )
