"""A network of two layers reads the 8x8 digits: the shortest program that trains something real.

Run it with ``python examples/mlp.py --epochs 20``.
"""

from __future__ import annotations

import argparse

import extensor as ex
from extensor.data import DataLoader, Normalize


def main(epochs: int, seed: int = 0) -> float:
    """Train and print as it goes; returns the accuracy on the test digits."""
    ex.random.manual_seed(seed)
    training, test = ex.data.digits()
    scaled = Normalize(0.0, 16.0)
    loader = DataLoader(training, batch_size=32, shuffle=True, transform=scaled)
    net = ex.nn.Sequential(
        ex.nn.Flatten(),
        ex.nn.Linear(64, 64),
        ex.nn.ReLU(),
        ex.nn.Linear(64, 10),
    )
    optimizer = ex.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(1, epochs + 1):
        for images, labels in loader:
            optimizer.zero_grad()
            loss = ex.cross_entropy(net(images), labels)
            loss.backward()
            optimizer.step()
        if epoch % 5 == 0 or epoch == epochs:
            print(f"epoch {epoch:3d}  loss {loss.item():.3f}")
    with ex.no_grad():
        ((images, labels),) = DataLoader(test, batch_size=len(test), transform=scaled)
        accuracy = (net(images).argmax(axis=1) == labels).astype(ex.float32).mean().item()
    print(f"{accuracy:.1%} of the test digits")
    return float(accuracy)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    main(parser.parse_args().epochs)
