"""Jacobians and their products, against known ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.differentiation.derivatives import hessian, jacobian, jvp, vjp

X = np.array([0.3, -0.7, 1.2])
Y = np.array([1.5, 0.4, -0.6])
MATRIX = np.arange(6.0).reshape(2, 3) / 3 - 0.7


def matrix_product(x: Any) -> Any:
    return (ex.tensor(MATRIX) * x).sum(axis=1)


def close(actual: Any, expected: Any) -> None:
    assert actual.shape == np.shape(expected)
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-12, atol=1e-14)


def test_vjp() -> None:
    output, pull = vjp(matrix_product, X)
    close(output, MATRIX @ X)
    for vector in (np.array([1.0, 2.0]), np.array([-1.0, 0.5])):
        close(pull(vector), vector @ MATRIX)


def test_vjp_of_several() -> None:
    (product, total), pull = vjp(lambda x, y: (x * y, x.sum()), X, Y)
    close(product, X * Y)
    close(total, X.sum())
    by_x, by_y = pull(np.ones(3), 2.0)
    close(by_x, Y + 2)
    close(by_y, X)


def test_vjp_can_be_differentiated() -> None:
    x = ex.tensor(X, requires_grad=True)
    _, pull = vjp(lambda x: x * x * x, x)
    gradient = pull(np.ones(3), create_graph=True)
    close(ex.grad(gradient.sum(), x), 6 * X)


def test_jvp() -> None:
    direction = np.array([1.0, -2.0, 0.5])
    output, tangent = jvp(matrix_product, X, direction)
    close(output, MATRIX @ X)
    close(tangent, MATRIX @ direction)
    assert not tangent.requires_grad


def test_jvp_of_several() -> None:
    u, v = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.0, 1.0])
    _, (product, total, constant) = jvp(
        lambda x, y: (x * y, ex.exp(x).sum(), ex.tensor(Y)), (X, Y), (u, v)
    )
    close(product, u * Y + X * v)
    close(total, (np.exp(X) * u).sum())
    close(constant, np.zeros(3))


def test_jvp_can_be_differentiated() -> None:
    x = ex.tensor(X, requires_grad=True)
    direction = np.array([1.0, -2.0, 0.5])
    _, tangent = jvp(lambda x: x * x * x, x, direction, create_graph=True)
    close(tangent, 3 * X**2 * direction)
    close(ex.grad(tangent.sum(), x), 6 * X * direction)


def test_jacobian() -> None:
    close(jacobian(matrix_product, X), MATRIX)
    close(jacobian(ex.exp, X), np.diag(np.exp(X)))
    softmax = np.exp(X) / np.exp(X).sum()
    close(jacobian(ex.softmax, X), np.diag(softmax) - np.outer(softmax, softmax))
    close(jacobian(lambda x: x.sum(), X), np.ones(3))
    close(jacobian(lambda x: x * ex.tensor(Y), np.array(2.0)), Y)


def test_jacobian_has_the_shape_of_output_and_input() -> None:
    x = np.ones((2, 3))
    found = jacobian(lambda x: ex.reshape(x * x, (3, 2)), x)
    close(found, 2 * np.eye(6).reshape(3, 2, 2, 3))
    assert jacobian(lambda x: x * 2, np.zeros((0, 2))).shape == (0, 2, 0, 2)
    assert jacobian(lambda x: x.sum(), np.zeros((0, 2))).shape == (0, 2)


def test_jacobian_of_several() -> None:
    rows = jacobian(lambda x, y: (x * y, x.sum()), (X, Y))
    close(rows[0][0], np.diag(Y))
    close(rows[0][1], np.diag(X))
    close(rows[1][0], np.ones(3))
    close(rows[1][1], np.zeros(3))
    (single,) = jacobian(lambda x: x * x, (X,))
    close(single, np.diag(2 * X))


def test_jacobian_can_be_differentiated() -> None:
    x = ex.tensor(X, requires_grad=True)
    found = jacobian(lambda x: x * x * x, x, create_graph=True)
    close(ex.grad((found * found).sum(), x), 36 * X**3)
    assert x.grad is None
    assert not jacobian(lambda x: x * x, x).requires_grad


def test_hessian() -> None:
    close(hessian(lambda x: (x * x * x).sum(), X), np.diag(6 * X))
    form = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, -1.0]])

    def quadratic(x: Any) -> Any:
        return (ex.tensor(form) * x * ex.reshape(x, (3, 1))).sum() * 0.5

    close(hessian(quadratic, X), form)
    close(hessian(lambda x: (x * 2).sum(), X), np.zeros((3, 3)))
    assert hessian(lambda x: (x * x).sum(), np.ones((2, 3))).shape == (2, 3, 2, 3)


def test_hessian_of_rosenbrock() -> None:
    def rosenbrock(x: Any, y: Any) -> Any:
        return (1 - x) ** 2 + 100 * (y - x * x) ** 2

    x, y = np.array(0.5), np.array(1.5)
    (xx, xy), (yx, yy) = hessian(rosenbrock, (x, y))
    close(xx, 2 - 400 * (1.5 - 3 * 0.25))
    close(xy, -400 * 0.5)
    close(yx, -400 * 0.5)
    close(yy, 200.0)


def test_hessian_can_be_differentiated() -> None:
    x = ex.tensor(X, requires_grad=True)
    found = hessian(lambda x: (x * x * x).sum(), x, create_graph=True)
    close(ex.grad((found * found).sum(), x), 72 * X)


def test_the_same_tensor_may_be_given_twice() -> None:
    x = ex.tensor(X, requires_grad=True)
    by_first, by_second = jacobian(lambda a, b: (a * a * b).sum(), (x, x))
    close(by_first, 2 * X**2)
    close(by_second, X**2)


def test_inside_no_grad() -> None:
    with ex.no_grad():
        output, pull = vjp(lambda x: x * x, X)
        assert not output.requires_grad
        close(pull(np.ones(3)), 2 * X)
        close(hessian(lambda x: (x * x * x).sum(), X), np.diag(6 * X))


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (
            lambda: vjp(lambda x: x * 2, X)[1](),
            "vjp: one vector is needed for each of 1 outputs, got vectors=0",
        ),
        (
            lambda: vjp(lambda x: x * 2, X)[1](np.ones(2)),
            "grad: grad_output must have shape (3,), got grad_output_shape=(2,)",
        ),
        (
            lambda: jvp(lambda x: x, (X, Y), (X,)),
            "jvp: tangents must have one entry for each input, got inputs=2, tangents=1",
        ),
        (
            lambda: jvp(lambda x: x, X, np.ones(2)),
            "jvp: grad_output must have shape (3,), got grad_output_shape=(2,)",
        ),
        (
            lambda: jacobian(ex.exp, np.arange(3)),
            "jacobian: inputs[0] must be floating, got dtype='int64'",
        ),
        (
            lambda: jacobian(lambda x: 1.0, X),
            "jacobian: fn must return tensors, got output='float'",
        ),
        (
            lambda: hessian(lambda x: x * x, X),
            "hessian: fn must return one element, got shapes=[(3,)]",
        ),
    ],
)
def test_errors(run: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        run()
    assert str(caught.value) == text
