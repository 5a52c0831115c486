"""An LSTM reads the 8x8 digits line by line, from top to bottom, and says at the end what it saw.

Run it with ``python examples/lstm.py --epochs 30``.
"""

from __future__ import annotations

import argparse

import extensor as ex
from extensor.data import DataLoader, Normalize

SCALED = Normalize(0.0, 16.0)


class Reader(ex.nn.Module):
    """Images (N, 1, lines, pixels) to logits (N, 10)."""

    def __init__(self, pixels: int = 8, hidden: int = 64) -> None:
        self.lstm = ex.nn.LSTM(pixels, hidden, batch_first=True)
        self.head = ex.nn.Linear(hidden, 10)

    def forward(self, images: ex.Tensor) -> ex.Tensor:
        """The logits, from the state after the last line."""
        _, (state, _) = self.lstm(images.squeeze(1))
        logits: ex.Tensor = self.head(state[-1])
        return logits


def accuracy(net: Reader, dataset: ex.data.ArrayDataset) -> float:
    """The share of images that are read correctly."""
    with ex.no_grad():
        ((images, labels),) = DataLoader(dataset, batch_size=len(dataset), transform=SCALED)
        return float((net(images).argmax(axis=1) == labels).astype(ex.float32).mean().item())


def main(epochs: int, seed: int = 0) -> float:
    """Train and print as it goes; returns the accuracy on the test digits."""
    ex.random.manual_seed(seed)
    training, test = ex.data.digits()
    loader = DataLoader(training, batch_size=32, shuffle=True, transform=SCALED)
    net = Reader()
    optimizer = ex.optim.Adam(net.parameters(), lr=5e-3)
    schedule = ex.optim.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(1, epochs + 1):
        for images, labels in loader:
            optimizer.zero_grad()
            loss = ex.cross_entropy(net(images), labels)
            loss.backward()
            ex.clip_grad_norm(net.parameters(), 1.0)
            optimizer.step()
        schedule.step()
        if epoch % 5 == 0 or epoch == epochs:
            print(f"epoch {epoch:3d}  loss {loss.item():.3f}  {accuracy(net, test):.1%}")
    return accuracy(net, test)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=30)
    main(parser.parse_args().epochs)
