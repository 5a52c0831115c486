"""A ResNet-18 for images of CIFAR's size learns coloured shapes, or CIFAR-10 itself.

Run it with ``python examples/resnet.py --steps 50``, or with ``--cifar`` for CIFAR-10, whose files
``ex.data.cifar10`` looks for or downloads. The shapes are drawn on the spot.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import extensor as ex
from extensor.data import ArrayDataset, DataLoader, Normalize, RandomCrop, RandomFlip

SIDE = 32


def shapes(count: int, seed: int) -> ArrayDataset:
    """Squares, discs and crosses of any colour, size and place, on noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:SIDE, :SIDE]
    labels = rng.integers(0, 3, count)
    images = rng.integers(0, 80, (count, 3, SIDE, SIDE)).astype(np.uint8)
    for image, label in zip(images, labels, strict=True):
        radius = rng.integers(5, 10)
        dy, dx = abs(y - rng.integers(9, 23)), abs(x - rng.integers(9, 23))
        inside = [
            np.maximum(dy, dx) <= radius,
            dy**2 + dx**2 <= radius**2,
            (np.minimum(dy, dx) <= 1) & (np.maximum(dy, dx) <= radius),
        ][label]
        image[:, inside] = rng.integers(120, 256, (3, 1))
    return ArrayDataset(images, labels)


def main(steps: int, cifar: bool = False, batch_size: int = 32) -> float:
    """Train and print as it goes; returns the accuracy on test images."""
    ex.random.manual_seed(0)
    training, test = ex.data.cifar10() if cifar else (shapes(2048, 0), shapes(256, 1))
    scaled = Normalize(120.0, 65.0)
    transforms = [scaled, RandomCrop(SIDE, padding=4), RandomFlip()]
    loader = DataLoader(training, batch_size, shuffle=True, drop_last=True, transform=transforms)
    net = ex.models.resnet18(10 if cifar else 3)
    optimizer = ex.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4)
    schedule = ex.optim.CosineAnnealingLR(optimizer, steps)
    done, start = 0, time.perf_counter()
    while done < steps:
        for images, labels in loader:
            optimizer.zero_grad()
            loss = ex.cross_entropy(net(images), labels)
            loss.backward()
            optimizer.step()
            schedule.step()
            done += 1
            if done % 10 == 0 or done == steps:
                rate = done * batch_size / (time.perf_counter() - start)
                print(f"step {done:4d}  loss {loss.item():.3f}  {rate:.0f} images/s", flush=True)
            if done == steps:
                break
    net.eval()
    right = 0.0
    with ex.no_grad():
        for images, labels in DataLoader(test, 64, transform=scaled):
            right += (net(images).argmax(axis=1) == labels).astype(ex.float32).sum().item()
    print(f"{right / len(test):.1%} of {len(test)} test images")
    return right / len(test)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--cifar", action="store_true")
    options = parser.parse_args()
    main(options.steps, options.cifar)
