"""Networks of drawn programs, as text: each takes one batch of inputs and gives four numbers."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from programs.draft import Draft


class Body(NamedTuple):
    """How the inputs become ``width`` features for each sample."""

    inputs: str
    shape: str
    layers: list[str]
    forward: list[str]
    width: int
    norms: list[str]


def draw_model(draft: Draft, random: Random) -> None:
    """Write a class ``Net`` and ``model``; the draft learns what it depends on."""
    body = random.choice([_vector, _vector, _image, _recurrent, _attention, _transformer, _tokens])(
        draft, random
    )
    draft.inputs, draft.input_shape = body.inputs, body.shape
    layers, forward = list(body.layers), list(body.forward)
    tail = _norm(draft, random, body) + _activation(draft, random) + _dropout(draft, random)
    layers += [line for line, _ in tail]
    calls = [call for _, call in tail]
    if calls and random.random() < 0.3:
        draft.note("closure over self")
        whole = "x"
        for call in calls:
            whole = call.replace("(x)", f"({whole})")
        layers.append(f"self.block = lambda x: {whole}")
        forward.append("x = self.block(x)")
    else:
        forward += [f"x = {call}" for call in calls]
    if body.width == 16:
        forward.append("x = x.reshape(x.shape[0], -1)")
    if random.random() < 0.25:
        _shared(draft, random, layers, forward, body.width)
    for chance, write in ((0.2, _noise), (0.15, _buffer), (0.08, _counter), (0.2, _extra)):
        if random.random() < chance:
            write(draft, random, layers, forward, body.width)
    layers.append(f"self.head = nn.Linear({body.width}, 4)")
    if random.random() < 0.06:
        draft.note("penalty kept on the model")
        draft.penalties.append("0.1 * model.penalty")
        forward.append("self.penalty = (x * x).mean()")
    forward.append("return self.head(x)")
    draft.model = [
        "class Net(nn.Module):",
        "    def __init__(self):",
        *(f"        {line}" for line in layers),
        "",
        "    def forward(self, x):",
        *(f"        {line}" for line in forward),
        "",
        "",
        "model = Net()",
    ]


def _vector(draft: Draft, random: Random) -> Body:
    draft.note("MLP")
    norms = ["nn.BatchNorm1d(8)", "nn.LayerNorm(8)", "nn.RMSNorm(8)"]
    return Body("normal", "6", ["self.first = nn.Linear(6, 8)"], ["x = self.first(x)"], 8, norms)


def _image(draft: Draft, random: Random) -> Body:
    draft.note("convolution")
    pool = random.choice(["nn.MaxPool2d(2)", "nn.AvgPool2d(2)"])
    layers = ["self.first = nn.Conv2d(1, 4, 3)", f"self.pool = {pool}"]
    norms = ["nn.BatchNorm2d(4)", "nn.BatchNorm2d(4, momentum=None)", "nn.GroupNorm(2, 4)"]
    return Body("normal", "1, 6, 6", layers, ["x = self.pool(self.first(x))"], 16, norms)


def _recurrent(draft: Draft, random: Random) -> Body:
    kind = random.choice(["LSTM", "GRU"])
    draft.note(kind)
    layers = [f"self.first = nn.{kind}(3, 8, batch_first=True)"]
    return Body("normal", "5, 3", layers, ["x = self.first(x)[0][:, -1]"], 8, ["nn.LayerNorm(8)"])


def _attention(draft: Draft, random: Random) -> Body:
    draft.note("attention")
    draft.has_flat_directions = True
    dropout = random.choice(["", ", dropout=0.2"])
    draft.is_random |= bool(dropout)
    layers = [
        "self.first = nn.Linear(3, 8)",
        f"self.attention = nn.MultiHeadAttention(8, 2{dropout}, batch_first=True)",
    ]
    forward = [
        "x = self.first(x)",
        "x = (x + self.attention(x, x, x, need_weights=False)[0]).mean(axis=1)",
    ]
    return Body("normal", "4, 3", layers, forward, 8, ["nn.LayerNorm(8)"])


def _transformer(draft: Draft, random: Random) -> Body:
    draft.note("transformer layer")
    draft.has_flat_directions = True
    p = random.choice(["0.0", "0.1"])
    draft.is_random |= p != "0.0"
    layers = [
        "self.first = nn.Linear(3, 8)",
        f"self.encoder = nn.TransformerEncoderLayer(8, 2, 12, {p}, batch_first=True)",
    ]
    forward = ["x = self.encoder(self.first(x)).mean(axis=1)"]
    return Body("normal", "4, 3", layers, forward, 8, [])


def _tokens(draft: Draft, random: Random) -> Body:
    draft.note("embedding")
    padding = random.choice(["", ", padding_idx=0"])
    layers = [f"self.first = nn.Embedding(9, 8{padding})"]
    norms = ["nn.BatchNorm1d(8)", "nn.LayerNorm(8)"]
    return Body("tokens", "5", layers, ["x = self.first(x).mean(axis=1)"], 8, norms)


def _norm(draft: Draft, random: Random, body: Body) -> list[tuple[str, str]]:
    if not body.norms or random.random() < 0.4:
        return []
    norm = random.choice(body.norms)
    draft.note(norm.split("(")[0].removeprefix("nn."))
    draft.layers.append("norm")
    if "BatchNorm" in norm:
        draft.has_batch_norm = draft.has_flat_directions = True
    return [(f"self.norm = {norm}", "self.norm(x)")]


def _activation(draft: Draft, random: Random) -> list[tuple[str, str]]:
    kind = random.choice(["Tanh", "ReLU", "GELU", "SiLU"])
    draft.layers.append("activation")
    return [(f"self.activation = nn.{kind}()", "self.activation(x)")]


def _dropout(draft: Draft, random: Random) -> list[tuple[str, str]]:
    if random.random() < 0.65:
        return []
    draft.note("dropout")
    draft.is_random = True
    draft.layers.append("dropout")
    return [("self.dropout = nn.Dropout(0.3)", "self.dropout(x)")]


def _shared(
    draft: Draft, random: Random, layers: list[str], forward: list[str], width: int
) -> None:
    draft.note("shared parameters")
    layers.append(f"self.middle = nn.Linear({width}, {width})")
    kind = random.choice(["called twice", "two names", "one weight"])
    if kind == "called twice":
        forward.append("x = self.middle(ex.tanh(self.middle(x)))")
        return
    if kind == "two names":
        layers.append("self.twin = self.middle")
    else:
        layers.append(f"self.twin = nn.Linear({width}, {width})")
        layers.append("self.twin.weight = self.middle.weight")
    forward.append("x = self.twin(ex.tanh(self.middle(x)))")


def _noise(draft: Draft, random: Random, layers: list[str], forward: list[str], width: int) -> None:
    cast = f'.astype("{draft.dtype}")'
    source, line = random.choice(
        [
            ("ex.random", "x = x + 0.1 * ex.random.randn(*x.shape)"),
            ("np.random", f"x = x + 0.1 * np.random.normal(size=x.shape){cast}"),
            ("random", "x = x * random.uniform(0.5, 1.5)"),
            ("own NumPy generator", f"x = x + 0.1 * self.rng.normal(size=x.shape){cast}"),
        ]
    )
    if source == "own NumPy generator":
        layers.append("self.rng = np.random.default_rng(3)")
    draft.note(f"noise of {source}")
    draft.is_random = True
    draft.has_foreign_state |= source != "ex.random"
    forward += ["if self.training:", f"    {line}"]


def _buffer(
    draft: Draft, random: Random, layers: list[str], forward: list[str], width: int
) -> None:
    draft.note("own buffer")
    draft.has_own_buffer = True
    layers.append(f'self.register_buffer("mean", ex.zeros({width}))')
    update = random.choice(
        [
            "self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(axis=0)",
            "self.mean += 0.1 * (x.detach().mean(axis=0) - self.mean)",
        ]
    )
    forward += ["if self.training:", "    with ex.no_grad():", f"        {update}"]
    forward.append("x = x - 0.5 * self.mean")


def _counter(
    draft: Draft, random: Random, layers: list[str], forward: list[str], width: int
) -> None:
    draft.note("counter of calls")
    draft.has_foreign_state = True
    layers.append("self.calls = 0")
    forward += ["if self.training:", "    self.calls += 1"]
    forward.append("x = x / (1 + 0.1 * self.calls)")


def _extra(draft: Draft, random: Random, layers: list[str], forward: list[str], width: int) -> None:
    """A parameter that the optimizer gets later."""
    draft.has_extra = True
    layers.append(f"self.extra = nn.Parameter(ex.zeros({width}))")
    forward.append("x = x + self.extra")
