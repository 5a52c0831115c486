"""The ready networks: cut apart as people do, by their children; their sizes, and what they write."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import data, models, nn


def raises(text: str) -> Any:
    return pytest.raises((ValueError, TypeError), match=f"^{re.escape(text)}$")


@pytest.mark.parametrize("stem", ["small", "large"])
def test_resnet_in_parts(stem: str) -> None:
    """All but the last layer in a row, as for features, are what the network does before it."""
    net = models.resnet18(stem=stem).eval()
    x = ex.random.randn((2, 3, 16, 16))
    *features, last = net.children()
    with ex.no_grad():
        cut = ex.flatten(nn.Sequential(*features)(x), 1)
        np.testing.assert_array_equal(last(cut).numpy(), net(x).numpy())
    assert [name for name, _ in net.named_children()] == (
        "conv1 bn1 relu maxpool layer1 layer2 layer3 layer4 avgpool fc".split()
    )
    block = net.layer1[0]
    assert [name for name, _ in block.named_children()] == "conv1 bn1 relu conv2 bn2".split()


def test_relus_of_a_resnet_can_be_replaced() -> None:
    net = models.resnet18().eval()
    x = ex.random.randn((1, 3, 8, 8))
    with ex.no_grad():
        before = net(x).numpy().copy()
        for module in net.modules():
            if hasattr(module, "relu"):
                module.relu = nn.Identity()
        assert not np.allclose(net(x).numpy(), before)


def test_lenet_in_parts() -> None:
    net = models.lenet5(image_size=8)
    x = ex.random.randn((3, 1, 8, 8))
    np.testing.assert_array_equal(nn.Sequential(*net.children())(x).numpy(), net(x).numpy())
    layers = ("conv1", "conv2", "fc1", "fc2", "fc3")
    assert list(net.state_dict()) == [f"{k}.{p}" for k in layers for p in ("weight", "bias")]


def shapes(net: nn.Module) -> list[tuple[int, ...]]:
    return [parameter.shape for parameter in net.parameters()]


@pytest.mark.parametrize("hidden", [(), [8], (8, 6)])
def test_an_mlp_by_its_parts_is_the_one_by_its_sizes(hidden: Any) -> None:
    for p in (0.0, 0.5):
        apart = models.mlp(inputs=4, hidden=hidden, outputs=3, p=p)
        assert repr(apart) == repr(models.mlp([4, *hidden, 3], p))
        assert shapes(apart) == shapes(models.mlp([4, *hidden, 3], p))
    assert shapes(models.mlp(inputs=4, outputs=3)) == shapes(models.mlp([4, 64, 64, 3]))


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (
            lambda: models.mlp(),
            "sizes must be given, or both inputs and outputs, got sizes=None, inputs=None, "
            "outputs=None",
        ),
        (
            lambda: models.mlp(inputs=3, hidden=[4]),
            "sizes must be given, or both inputs and outputs, got sizes=None, inputs=3, outputs=None",
        ),
        (
            lambda: models.mlp([2, 1], inputs=2, outputs=1),
            "sizes must stand alone, without inputs, hidden and outputs, got hidden='tuple', "
            "inputs=2, outputs=1",
        ),
        (
            lambda: models.mlp([2, 1], hidden=[]),
            "sizes must stand alone, without inputs, hidden and outputs, got hidden='list', "
            "inputs=None, outputs=None",
        ),
        (
            lambda: models.mlp(inputs=2, hidden=8, outputs=1),
            "hidden must be a list of integers, such as [64, 32, 10], got hidden=8",
        ),
        (
            lambda: models.mlp(inputs=2, hidden=[8, 0], outputs=1),
            "hidden must be 1 or more, got hidden=0",
        ),
        (lambda: models.mlp(inputs=0, outputs=1), "inputs must be 1 or more, got inputs=0"),
        (
            lambda: models.mlp(inputs=2, outputs=1.5),
            "outputs must be an integer, got outputs=1.5",
        ),
    ],
)  # fmt: skip
def test_sizes_of_an_mlp(work: Any, text: str) -> None:
    with raises(f"mlp: {text}"):
        work()


@pytest.mark.parametrize("size", [8, 9, 15, 16, 31, 33, 65, 128, (8, 40), (256, 8), [24, 48]])
def test_pictures_of_any_size(size: Any) -> None:
    """Before the mean the shorter side has 4 to 8 pixels."""
    height, width = (size, size) if isinstance(size, int) else size
    net = models.convnet(5, in_channels=2, image_size=size, width=2)
    x = ex.random.randn((2, 2, height, width))
    assert net(x).shape == (2, 5)
    before = nn.Sequential(*list(net.children())[:-3])(x)
    assert 4 <= min(before.shape[2:]) <= 8
    assert before.shape[1] == 8


def test_a_large_picture_costs_little_more_than_a_small_one() -> None:
    operations = [
        models.convnet(2, image_size=size).summary((1, 3, size, size)).flops
        for size in (32, 64, 256)
    ]
    assert operations[1] < 2 * operations[0]
    assert operations[2] < 8 * operations[0]


def test_a_convnet_tells_rings_from_crosses(rng: np.random.Generator) -> None:
    """Drawn at random places; on pictures that it has not seen."""
    count = 160
    labels = rng.integers(0, 2, count)
    pictures = rng.normal(0, 0.2, (count, 1, 12, 12)).astype(np.float32)
    ring = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]], np.float32)
    cross = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]], np.float32)
    for picture, label in zip(pictures, labels, strict=True):
        row, column = rng.integers(0, 9, 2)
        picture[0, row : row + 3, column : column + 3] += (ring, cross)[label]
    ex.random.manual_seed(0)
    net = models.convnet(2, in_channels=1, image_size=12, width=8)
    optimizer = ex.optim.AdamW(net.parameters(), 0.01)
    x, y = pictures[:128], labels[:128]
    for _ in range(30):
        for begin in range(0, 128, 32):
            optimizer.zero_grad()
            loss = ex.cross_entropy(net(x[begin : begin + 32]), y[begin : begin + 32])
            loss.backward()
            optimizer.step()
    net.eval()
    with ex.no_grad():
        found = net(pictures[128:]).numpy().argmax(1)
    assert (found == labels[128:]).mean() > 0.9


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"num_classes": 0}, "num_classes must be 1 or more, got num_classes=0"),
        ({"in_channels": 0}, "in_channels must be 1 or more, got in_channels=0"),
        ({"image_size": 7}, "image_size must be 8 or more, got image_size=7"),
        ({"image_size": (32, 4)}, "image_size must be 8 or more, got image_size=4"),
        (
            {"image_size": (8, 8, 8)},
            "image_size must be an integer, or two for height and width, got image_size='tuple'",
        ),
        ({"width": 1.5}, "width must be an integer, got width=1.5"),
    ],
)
def test_what_is_no_convnet(options: dict[str, Any], text: str) -> None:
    with raises(f"convnet: {text}"):
        models.convnet(**{"num_classes": 2, **options})


def a_gpt(spread: float = 0.4, p: float = 0.0) -> models.GPT:
    """One of 7 tokens that sees 5; the wider the spread, the more their chances differ."""
    ex.random.manual_seed(10)
    net = models.gpt(7, 5, layers=1, heads=2, width=8, p=p)
    for parameter in net.parameters():
        nn.init.normal_(parameter, 0.0, spread)
    return net


def last_logits(net: models.GPT, tokens: list[int]) -> Any:
    with ex.no_grad():
        return net([tokens[-net.context :]]).numpy()[0, -1].astype(np.float64)


def test_the_likeliest_tokens_are_those_of_argmax() -> None:
    net = a_gpt(spread=2.0)
    row = [1, 2]
    for _ in range(12):
        row.append(int(last_logits(net, row).argmax()))
    assert len(set(row[2:])) > 2
    made = net.generate([1, 2], 12, temperature=0)
    assert made.dtype == np.int64
    assert made.tolist() == row[2:]
    assert net.generate([1, 2], 12, top_k=1).tolist() == row[2:]
    assert net.generate([1, 2], 12, temperature=1e-300).tolist() == row[2:]
    long = [6, 5, 4, 3, 0, 0, 1, 2]
    assert net.generate(long, 1, 0).tolist() == net.generate(long[-5:], 1, 0).tolist()


@pytest.mark.parametrize(("temperature", "top_k"), [(1.0, None), (2.5, None), (0.7, 4), (1.0, 50)])
def test_tokens_are_drawn_from_softmax(temperature: float, top_k: int | None) -> None:
    """Chi-square: 1500 draws of the next token against their chances, at one in a thousand."""
    net = a_gpt()
    logits = last_logits(net, [4, 1]) / temperature
    weights = np.exp(logits - logits.max())
    if top_k is not None:
        weights[np.argsort(-weights)[top_k:]] = 0
    chances = weights / weights.sum()
    draws = 1500
    generator = ex.random.Generator(5)
    found = np.concatenate(
        [net.generate([4, 1], 1, temperature, top_k, generator) for _ in range(draws)]
    )
    counts = np.bincount(found, minlength=7)
    possible = chances > 0
    assert (counts[~possible] == 0).all()
    expected = draws * chances[possible]
    assert expected.min() > 5
    distance = ((counts[possible] - expected) ** 2 / expected).sum()
    at_one_in_a_thousand = {3: 16.27, 6: 22.46}
    assert distance < at_one_in_a_thousand[int(possible.sum()) - 1]


def test_the_same_state_gives_the_same_text() -> None:
    net = a_gpt()
    generator = ex.random.Generator(11)
    first = net.generate([1], 30, generator=generator)
    second = net.generate([1], 30, generator=generator)
    assert first.tolist() != second.tolist()
    generator.set_state((11, 0))
    assert net.generate(np.array([1], np.uint8), 30, generator=generator).tolist() == first.tolist()
    in_parts = ex.random.Generator(11)
    row = [1]
    for count in (7, 0, 20, 3):
        row += net.generate(row, count, generator=in_parts).tolist()
    assert row[1:] == first.tolist()
    ex.random.manual_seed(11)
    assert net.generate(ex.tensor([1]), 30).tolist() == first.tolist()
    before = ex.random.get_state()
    net.generate([1], 5, temperature=0)
    assert ex.random.get_state() == before


def test_what_writes_is_not_trained() -> None:
    """Dropout would make chance of the likeliest; flags are left as they were, also by an error."""
    net = a_gpt(p=0.5)
    net.train()
    net.norm.eval()
    assert (net([[1, 2]]).numpy() != net([[1, 2]]).numpy()).any()
    before = [module.training for module in net.modules()]
    assert {True, False} == set(before)
    made = [net.generate([1, 2], 10, temperature=0).tolist() for _ in range(3)]
    assert made[0] == made[1] == made[2]
    assert [module.training for module in net.modules()] == before
    assert ex.is_grad_enabled()
    assert all(parameter.grad is None for parameter in net.parameters())
    nn.init.constant_(net.head.weight, float("nan"))
    with raises("GPT.generate: the logits of the model must be finite, got logits=nan"):
        net.generate([1], 1)
    assert [module.training for module in net.modules()] == before


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_text_in_other_dtypes(dtype: str) -> None:
    assert a_gpt().to(dtype).generate([1, 2], 8).shape == (8,)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tokens": []}, "tokens must be a row of integers, one or more, got tokens='list'"),
        ({"tokens": [[1]]}, "tokens must be a row of integers, one or more, got tokens='list'"),
        ({"tokens": [0.5]}, "tokens must be a row of integers, one or more, got tokens='list'"),
        ({"tokens": 3}, "tokens must be a row of integers, one or more, got tokens=3"),
        ({"tokens": "text"}, "tokens must be a row of integers, one or more, got tokens='text'"),
        ({"tokens": [1, 7]}, "tokens must be in [0, 6], got token=7"),
        ({"tokens": [1, -1]}, "tokens must be in [0, 6], got token=-1"),
        ({"count": -1}, "count must be 0 or more, got count=-1"),
        ({"count": 2.0}, "count must be an integer, got count=2.0"),
        ({"temperature": -0.5}, "temperature must be 0 or greater, got temperature=-0.5"),
        ({"temperature": float("inf")}, "temperature must be finite, got temperature=inf"),
        ({"temperature": "hot"}, "temperature must be a number, got temperature='hot'"),
        ({"top_k": 0}, "top_k must be 1 or more, got top_k=0"),
        ({"generator": 3}, "generator must be a Generator, got generator=3"),
    ],
)
def test_what_cannot_be_generated(options: dict[str, Any], text: str) -> None:
    with raises(f"GPT.generate: {text}"):
        a_gpt().generate(**{"tokens": [1, 2], "count": 1, **options})


def test_what_was_learned_is_written() -> None:
    text = "to be or not to be, " * 12
    vocabulary = data.Vocabulary.of(text)
    windows = data.TextWindows(vocabulary.encode(text), 16, 1)
    ex.random.manual_seed(0)
    net = models.gpt(len(vocabulary), context=16, layers=1, heads=2, width=32)
    optimizer = ex.optim.AdamW(net.parameters(), 0.01)
    loader = data.DataLoader(windows, 32, shuffle=True, generator=ex.random.Generator(1))
    for _ in range(12):
        for tokens, following in loader:
            optimizer.zero_grad()
            logits = net(tokens).reshape((-1, len(vocabulary)))
            ex.cross_entropy(logits, following.reshape(-1)).backward()
            optimizer.step()
    written = net.generate(vocabulary.encode("to be or not"), 40, temperature=0)
    assert vocabulary.decode(written) == text[12:52]
