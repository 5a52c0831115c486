"""A two-layer network trained twice: once by calling backward functions by hand, once by the tape.

The tape replays the very functions that the hand calls, so after every step all parameters are equal
bit for bit.
"""

from __future__ import annotations

import numpy as np

import extensor as ex

STEPS = 1000
LEARNING_RATE = 2.0


def ring(samples: int = 256) -> tuple[ex.Tensor, ex.Tensor]:
    """Points in the plane, labelled by whether they lie inside a circle, with a gap between the two."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, samples)
    inside = rng.random(samples) < 0.5
    radius = np.where(inside, rng.uniform(0.0, 0.7, samples), rng.uniform(1.3, 2.0, samples))
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return ex.tensor(points, ex.float32), ex.tensor(inside[:, None], ex.float32)


def initial_parameters(hidden: int = 32) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    shapes = [(2, hidden), (hidden,), (hidden, 1), (1,)]
    return [rng.normal(0, 1 if len(s) == 2 else 0.1, s).astype(np.float32) for s in shapes]


def loss_of(parameters: list[ex.Tensor], x: ex.Tensor, y: ex.Tensor) -> ex.Tensor:
    w1, b1, w2, b2 = parameters
    hidden = ex.relu(x @ w1 + b1)
    probability = ex.sigmoid(hidden @ w2 + b2)
    return ex.binary_cross_entropy(probability, y)


def gradients_by_hand(
    parameters: list[ex.Tensor], x: ex.Tensor, y: ex.Tensor
) -> tuple[ex.Tensor, list[ex.Tensor]]:
    """The forward pass, then each op's public backward, last to first."""
    w1, b1, w2, b2 = parameters
    product1 = ex.matmul(x, w1)
    sum1 = ex.add(product1, b1)
    hidden = ex.relu(sum1)
    product2 = ex.matmul(hidden, w2)
    sum2 = ex.add(product2, b2)
    probability = ex.sigmoid(sum2)
    loss = ex.binary_cross_entropy(probability, y)

    grad_probability = ex.binary_cross_entropy_backward(
        ex.ones_like(loss), probability, y
    ).grad_prediction
    grad_sum2 = ex.sigmoid_backward(grad_probability, probability)
    grad_product2, grad_b2 = ex.add_backward(grad_sum2, product2.shape, b2.shape)
    grad_hidden, grad_w2 = ex.matmul_backward(grad_product2, hidden, w2)
    grad_sum1 = ex.relu_backward(grad_hidden, sum1)
    grad_product1, grad_b1 = ex.add_backward(grad_sum1, product1.shape, b1.shape)
    grad_w1 = ex.matmul_backward(grad_product1, x, w1).grad_b
    return loss, [grad_w1, grad_b1, grad_w2, grad_b2]


def main() -> float:
    x, y = ring()
    by_hand = [ex.tensor(p) for p in initial_parameters()]
    by_tape = [ex.tensor(p, requires_grad=True) for p in initial_parameters()]
    for step in range(STEPS):
        loss, gradients = gradients_by_hand(by_hand, x, y)
        by_hand = [p - LEARNING_RATE * g for p, g in zip(by_hand, gradients, strict=True)]

        loss_of(by_tape, x, y).backward()
        by_tape = [(p - LEARNING_RATE * p.grad).detach() for p in by_tape]
        for p in by_tape:
            p.requires_grad = True

        for hand, tape in zip(by_hand, by_tape, strict=True):
            assert hand.numpy().tobytes() == tape.numpy().tobytes(), f"step {step} differs"
        if step % 100 == 0 or step == STEPS - 1:
            print(f"step {step:4d}   loss {loss.item():.6f}   parameters equal bit for bit")
    return float(loss.item())


if __name__ == "__main__":
    main()
