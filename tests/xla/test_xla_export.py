"""Programs in files: written, read again by JAX, and run from call to call as ExTensor would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn
from extensor.core.tensor import Tensor
from extensor.io import atomic
from extensor.optim.optimizer import Optimizer


class Loaded:
    """What a reader without ExTensor makes of the files."""

    def __init__(self, path: Path) -> None:
        from jax import export

        self.program = export.deserialize(bytearray(path.read_bytes()))
        with np.load(f"{path}.npz") as arrays:
            self.state: dict[str, Any] = dict(arrays)
        self.description = json.loads(Path(f"{path}.json").read_text("utf-8"))

    def __call__(self, *inputs: Any) -> list[Any]:
        import jax

        with jax.enable_x64(True):
            changes, outputs = self.program.call(self.state, *inputs)
        entries = self.description["state"]
        assert set(changes) == {name for name, entry in entries.items() if entry["changes"]}
        self.state |= {name: np.asarray(x) for name, x in changes.items()}
        return [np.asarray(x) for x in outputs]


def _exported(function: Any, path: Path, *example: Any) -> Loaded:
    return Loaded(ex.export_stablehlo(function, path / "program", "cpu", example))


def _case(name: str) -> tuple[nn.Module, Any, Any, Any]:
    rng = np.random.default_rng(0)
    ex.random.manual_seed(0)
    if name == "mlp":
        x = rng.standard_normal((4, 6)).astype("float32")
        return ex.models.mlp([6, 8, 3], p=0.5), x, rng.integers(0, 3, 4), ex.cross_entropy
    if name == "lenet5":
        x = rng.standard_normal((2, 1, 28, 28)).astype("float32")
        return ex.models.lenet5(), x, rng.integers(0, 10, 2), ex.cross_entropy
    if name == "resnet18":
        x = rng.standard_normal((2, 3, 32, 32)).astype("float32")
        return ex.models.resnet18(), x, rng.integers(0, 10, 2), ex.cross_entropy
    net = ex.models.gpt(vocabulary=7, context=4, width=8, layers=1, heads=2)
    tokens = rng.integers(0, 7, (2, 4))
    return net, tokens, tokens.copy(), lambda o, y: ex.cross_entropy(o.swapaxes(1, 2), y)


def _step(net: nn.Module, optimizer: Any, loss: Any) -> Any:
    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        value = loss(net(x), y)
        value.backward()
        optimizer.step()
        return value

    return step


@pytest.mark.parametrize("name", ["mlp", "lenet5", "resnet18", "gpt"])
def test_a_step_is_exported_for_four_platforms_and_gives_the_same_when_read(
    name: str, tmp_path: Path
) -> None:
    net, x, y, loss = _case(name)
    optimizer = ex.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    plain = _step(net, optimizer, loss)
    path = ex.export_stablehlo(plain, tmp_path / "step.stablehlo", example=(x, y))
    loaded = Loaded(path)
    platforms = {"cpu", "cuda", "rocm", "tpu"}
    assert set(loaded.program.platforms) == set(loaded.description["platforms"]) == platforms
    assert loaded.description["inputs"] == [
        {"name": "x", "shape": list(x.shape), "dtype": str(x.dtype)},
        {"name": "y", "shape": list(y.shape), "dtype": str(y.dtype)},
    ]
    assert loaded.description["outputs"] == [{"name": "result", "shape": [], "dtype": "float32"}]
    kinds = {n: each["kind"] for n, each in loaded.description["state"].items()}
    for n, _ in net.named_parameters():
        assert kinds[f"model.{n}"] == "parameter"
    for n, tensor in (*net.named_parameters(), *net.named_buffers()):
        np.testing.assert_array_equal(loaded.state[f"model.{n}"], tensor.numpy())
    for _ in range(1 if name == "resnet18" else 3):
        expected = float(plain(ex.tensor(x), ex.tensor(y)))
        assert loaded(x, y)[0] == pytest.approx(expected, rel=1e-5)
    for n, tensor in (*net.named_parameters(), *net.named_buffers()):
        np.testing.assert_allclose(
            loaded.state[f"model.{n}"], tensor.numpy(), rtol=1e-4, atol=1e-5, err_msg=n
        )


OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"weight_decay": 0.01}),
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("Adam", {"weight_decay": 0.01, "amsgrad": True}),
    ("AdamW", {}),
    ("RMSprop", {"momentum": 0.9}),
    ("Adagrad", {"lr_decay": 0.1}),
    ("Adadelta", {}),
    ("LAMB", {}),
    ("Lion", {}),
    ("Muon", {}),
]


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_every_optimizer_goes_on_from_call_to_call(
    name: str, options: dict[str, Any], tmp_path: Path
) -> None:
    w = ex.tensor(np.random.default_rng(0).standard_normal((3, 4), "float32"), requires_grad=True)
    optimizer: Optimizer = getattr(ex.optim, name)([w], lr=0.1, **options)

    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = ((w * x) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss

    x = np.arange(1, 5, dtype="float32")
    step(ex.tensor(x))  # so that counts do not begin at 0
    loaded = _exported(step, tmp_path, x)
    for _ in range(3):
        expected = float(step(ex.tensor(x)))
        assert loaded(x)[0] == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(loaded.state["tensor.w"], w.numpy(), rtol=1e-5, atol=1e-6)
    saved = {f"optimizer.{key}": value for key, value in optimizer.state_dict().items()}
    for key, entry in loaded.description["state"].items():
        if entry["kind"] in ("optimizer state", "count", "number"):
            np.testing.assert_allclose(
                loaded.state[key], np.asarray(saved[key]), rtol=1e-5, atol=1e-6, err_msg=key
            )
    assert loaded.description["fixed"].keys() <= saved.keys()


def test_random_numbers_and_averages_go_on(tmp_path: Path) -> None:
    net, x, y, loss = _case("mlp")
    optimizer = ex.optim.AdamW(net.parameters(), lr=0.01)
    ema = ex.optim.EMA(net, decay=0.75)
    inner = _step(net, optimizer, loss)

    def step(x: Tensor, y: Tensor, scale: float) -> dict[str, Tensor]:
        value = inner(x, y)
        ema.update()
        return {"loss": value, "scaled": value * scale}

    loaded = _exported(step, tmp_path, x, y, 0.5)
    assert [each["name"] for each in loaded.description["inputs"]] == ["x", "y", "scale"]
    names = [each["name"] for each in loaded.description["outputs"]]
    assert names == ["result['loss']", "result['scaled']"]
    assert int(loaded.state["generator.seed"]) == ex.random.get_state()[0]
    for scale in (0.5, 3.0, 7.0):
        expected = step(ex.tensor(x), ex.tensor(y), scale)
        for value, name in zip(loaded(x, y, scale), ("loss", "scaled"), strict=True):
            np.testing.assert_allclose(value, expected[name].numpy(), rtol=1e-5)
    assert int(loaded.state["generator.counter"]) == ex.random.get_state()[1]
    for i, average in enumerate(ema.averages):
        np.testing.assert_allclose(
            loaded.state[f"ema.average.{i}"], average.numpy(), rtol=1e-4, atol=1e-6
        )


def test_two_networks_optimizers_and_generators_are_told_apart(tmp_path: Path) -> None:
    ex.random.manual_seed(0)
    nets = [nn.Linear(2, 2), nn.Linear(2, 2)]
    optimizers = [ex.optim.Adam(nets[0].parameters()), ex.optim.SGD(nets[1].parameters(), lr=0.1)]
    generators = [ex.random.Generator(1), ex.random.Generator(2)]

    def step(x: Tensor) -> list[Tensor]:
        losses = []
        for net, optimizer, generator in zip(nets, optimizers, generators, strict=True):
            optimizer.zero_grad()
            loss = ((net(x) - ex.random.rand(2, generator=generator)) ** 2).sum()
            loss.backward()
            optimizer.step()
            losses.append(loss)
        return losses

    x = np.ones((1, 2), "float32")
    loaded = _exported(step, tmp_path, x)
    for _ in range(2):
        expected = list(map(float, step(ex.tensor(x))))
        np.testing.assert_allclose(loaded(x), expected, rtol=1e-5)
    for i, net in enumerate(nets):
        for name, parameter in net.named_parameters():
            value = loaded.state[f"model.{i}.{name}"]
            np.testing.assert_allclose(value, parameter.numpy(), rtol=1e-5)
        seed, counter = generators[i].get_state()
        assert int(loaded.state[f"generator.{i}.seed"]) == seed
        assert int(loaded.state[f"generator.{i}.counter"]) == counter
    assert int(loaded.state["optimizer.state.0.step"]) == 2
    assert float(loaded.state["optimizer.groups.1.lr"]) == 0.1


def test_a_rate_that_a_schedule_sets_is_named_and_moved_by_the_caller(tmp_path: Path) -> None:
    w = ex.tensor([1.0, 2.0], requires_grad=True)
    optimizer = ex.optim.SGD([w], lr=0.1)
    schedule = ex.optim.ExponentialLR(optimizer, gamma=0.5)

    def step() -> Tensor:
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss

    loaded = _exported(step, tmp_path)
    name = "optimizer.groups.0.lr"
    entry = loaded.description["state"][name]
    assert (entry["schedule"], entry["changes"]) == ("ExponentialLR", False)
    for count in range(3):
        loaded.state[name] = np.asarray(0.1 * 0.5**count)
        assert loaded()[0] == pytest.approx(float(step()), rel=1e-6)


def test_inference_keeps_its_weights_and_needs_no_64_bits(tmp_path: Path) -> None:
    net, x, _, _ = _case("mlp")
    net.eval()
    expected = net(ex.tensor(x)).numpy()
    loaded = _exported(net, tmp_path, x)
    assert loaded.description["needs_x64"] is False
    assert not any(entry["changes"] for entry in loaded.description["state"].values())
    changes, outputs = loaded.program.call(loaded.state, x)  # without jax.enable_x64
    assert changes == {}
    np.testing.assert_allclose(np.asarray(outputs[0]), expected, rtol=1e-5, atol=1e-6)


def test_64_bits_inside_a_program_are_not_asked_of_its_caller(tmp_path: Path) -> None:
    generator = ex.random.Generator(2**40)

    def sums(x: Tensor) -> Tensor:
        return x.astype("float64").cumsum(0).astype("float32")

    x = np.ones(3, "float32")
    loaded = _exported(sums, tmp_path, x)
    assert loaded.description["needs_x64"] is False
    np.testing.assert_array_equal(loaded.program.call(loaded.state, x)[1][0], [1, 2, 3])
    drawing = _exported(lambda: ex.random.rand(2, generator=generator), tmp_path)
    assert drawing.description["needs_x64"] is True
    with pytest.raises(ValueError, match=r"args\[0\]\['generator.counter'\]: expected uint64"):
        drawing.program.call(drawing.state)


def test_bfloat16_is_stored_as_bits_that_the_program_takes(tmp_path: Path) -> None:
    w = ex.tensor([0.1, -0.7, 3.0], dtype="bfloat16", requires_grad=True)
    optimizer = ex.optim.SGD([w], lr=0.5, momentum=0.9)

    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    x = np.asarray([1.0, 2.0, -1.0], ex.bfloat16)
    loaded = _exported(step, tmp_path, x)
    entry = loaded.description["state"]["tensor.w"]
    assert (entry["dtype"], entry["bits_of"]) == ("uint16", "bfloat16")
    for _ in range(2):
        expected = float(step(ex.tensor(x)))
        assert float(loaded(x)[0]) == pytest.approx(expected, rel=2**-7)
    values = loaded.state["tensor.w"].view(ex.bfloat16).astype("float32")
    np.testing.assert_allclose(values, w.numpy().astype("float32"), rtol=2**-7)


def test_results_of_every_origin_are_outputs(tmp_path: Path) -> None:
    w = ex.tensor([1.0, 2.0], requires_grad=True)
    table = np.asarray([5.0, 6.0], "float32")
    unused = ex.tensor([9.0])

    def function(pair: list[Tensor], again: Tensor) -> Any:
        loss = (w * pair[0]).sum()
        loss.backward()
        with ex.no_grad():
            w[...] = w * 2
        return loss.detach(), w, pair[1], {"table": table, "kept": unused, "n": 3}, again * table

    x, y = ex.tensor([1.0, 1.0], requires_grad=True), ex.tensor([3.0, 4.0])
    loaded = _exported(function, tmp_path, [x, y], y)
    assert [each["name"] for each in loaded.description["inputs"]] == ["pair[0]", "pair[1]"]
    assert set(loaded.state) == {"tensor.w", "tensor.unused", "array.table"}
    outputs = dict(
        zip(
            [each["name"] for each in loaded.description["outputs"]],
            loaded(x.numpy(), y.numpy()),
            strict=True,
        )
    )
    assert {name: value.tolist() for name, value in outputs.items()} == {
        "result[0]": 3.0,
        "result[1]": [2.0, 4.0],
        "result[2]": [3.0, 4.0],
        "result[3]['table']": [5.0, 6.0],
        "result[3]['kept']": [9.0],
        "result[4]": [15.0, 24.0],
        "gradient.tensor.w": [1.0, 1.0],
        "gradient.pair[0]": [1.0, 2.0],
    }


def test_gradients_that_are_there_are_added_to_from_call_to_call(tmp_path: Path) -> None:
    w = ex.tensor([1.0, 2.0], requires_grad=True)

    def accumulate(x: Tensor) -> None:
        (w * x).sum().backward()

    x = np.asarray([1.0, 3.0], "float32")
    accumulate(ex.tensor(x))
    loaded = _exported(accumulate, tmp_path, x)
    assert loaded(x) == loaded(x) == []
    assert loaded.state["gradient.tensor.w"].tolist() == [3.0, 9.0]


def test_what_is_written_are_the_present_values(tmp_path: Path) -> None:
    w = ex.tensor([1.0, 2.0], requires_grad=True)
    double = ex.compile(lambda x: w * x)
    with pytest.raises(ValueError, match="must have been called once, or an example"):
        ex.export_stablehlo(double, tmp_path / "a")
    x = np.ones(2, "float32")
    double(x)
    with ex.no_grad():
        w[...] = w * 10
    loaded = Loaded(ex.export_stablehlo(double, tmp_path / "a", "cpu"))
    assert loaded(x)[0].tolist() == [10.0, 20.0]
    assert double.traces == 1


def test_inputs_of_the_last_call_are_those_by_keyword_too(tmp_path: Path) -> None:
    function = ex.compile(lambda x, *more, scale, y: x * scale + y["b"] - more[0])
    x = np.ones(2, "float32")
    function(x, ex.ones(2), y={"b": x * 3}, scale=2.0)
    loaded = Loaded(ex.export_stablehlo(function, tmp_path / "a", "cpu"))
    names = [each["name"] for each in loaded.description["inputs"]]
    assert names == ["x", "more[0]", "y['b']", "scale"]
    assert loaded(x, x * 10, x * 7, 5.0)[0].tolist() == [2.0, 2.0]


def test_the_modes_of_the_last_call_are_needed(tmp_path: Path) -> None:
    product = ex.compile(lambda x: x @ x)
    with ex.amp.autocast("bfloat16"):
        product(ex.ones((2, 2)))
        path = ex.export_stablehlo(product, tmp_path / "a", "cpu")
    assert Loaded(path).description["outputs"][0]["dtype"] == "bfloat16"
    with pytest.raises(ValueError, match=r"modes .* must be those of the last call"):
        ex.export_stablehlo(product, tmp_path / "a", "cpu")


def _w() -> Tensor:
    return ex.tensor([1.0, 2.0], requires_grad=True)


def _decides_by_a_float() -> tuple[Any, ...]:
    return lambda x, beta: x * beta if beta > 0.25 else x, ex.ones(2), 0.5


def _gives_a_number() -> tuple[Any, ...]:
    return lambda x, beta: (x, beta * 2), ex.ones(2), 0.5


def _first_step_differs() -> tuple[Any, ...]:
    w = _w()
    optimizer = ex.optim.SGD([w], lr=0.1, momentum=0.9, dampening=0.5)
    return _step(nn.Identity(), optimizer, lambda o, y: (w * o * y).sum()), ex.ones(2), ex.ones(2)


def _warmup_ends() -> tuple[Any, ...]:
    ema = ex.optim.EMA([_w()], decay=0.5, warmup=True)
    return (ema.update,)


def _scaler() -> tuple[Any, ...]:
    w, scaler = _w(), ex.amp.GradScaler()
    optimizer = ex.optim.SGD([w], lr=0.1)

    def step() -> None:
        optimizer.zero_grad()
        scaler.scale((w * w).sum()).backward()
        scaler.step(optimizer)
        scaler.update()

    return (step,)


def _scaled_loss() -> tuple[Any, ...]:
    scaler = ex.amp.GradScaler()
    return lambda x: scaler.scale(x.sum()), ex.ones(2)


def _never_cleared() -> tuple[Any, ...]:
    w = _w()
    optimizer = ex.optim.SGD([w], lr=0.1)

    def step() -> None:
        (w * w).sum().backward()
        optimizer.step()

    return (step,)


def _cleared_after_use() -> tuple[Any, ...]:
    w = _w()
    optimizer = ex.optim.SGD([w], lr=0.1)
    (w * w).sum().backward()

    def step() -> None:
        (w * w).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    return (step,)


REFUSED: list[tuple[Callable[[], tuple[Any, ...]], str]] = [
    (_decides_by_a_float, "a float on which the function decides .*, got argument='beta'"),
    (_gives_a_number, r"results must be tensors or constants.*, got result='result\[1\]'"),
    (_first_step_differs, r"on optimizer.state.0.step comes out otherwise 1 calls from now"),
    (_warmup_ends, "on ema.count comes out otherwise 8 calls from now"),
    (_scaler, "must not step by a GradScaler"),
    (_scaled_loss, "of a GradScaler they are not exported"),
    (
        _never_cleared,
        r"must be cleared; call zero_grad\(\) at the beginning .*, got tensor='tensor.w'",
    ),
    (_cleared_after_use, r"must not be read and then cleared; .*, got tensor='tensor.w'"),
]


@pytest.mark.parametrize(("make", "text"), REFUSED)
def test_a_program_that_could_not_be_repeated_is_refused(
    make: Callable[[], tuple[Any, ...]], text: str, tmp_path: Path
) -> None:
    function, *example = make()
    with pytest.raises(ValueError, match=f"^export_stablehlo: .*{text}"):
        ex.export_stablehlo(function, tmp_path / "a", "cpu", example)
    assert list(tmp_path.iterdir()) == []


def test_a_step_that_differed_at_first_is_exported_afterwards(tmp_path: Path) -> None:
    function, x, y = _first_step_differs()
    function(x, y)
    loaded = _exported(function, tmp_path, x, y)
    assert loaded.description["fixed"]["optimizer.groups.0.dampening"] == 0.5
    for _ in range(2):
        expected = float(function(x, y))
        assert loaded(x.numpy(), y.numpy())[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_all_files_are_written_or_none(
    failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    ex.export_stablehlo(lambda x: x * 2, path, "cpu", [ex.ones(3)])
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert set(before) == {"a", "a.npz", "a.json"}
    digests = json.loads(before["a.json"])["sha256"]
    assert digests == {name: sha256(before[name]).hexdigest() for name in ("a", "a.npz")}
    write, calls = atomic.Sink.write, iter(range(1, 4))

    def full(sink: atomic.Sink, content: Any) -> None:
        if next(calls) == failing:
            raise OSError(28, "No space left on device")
        write(sink, content)

    monkeypatch.setattr(atomic.Sink, "write", full)
    with pytest.raises(OSError, match="No space left on device"):
        ex.export_stablehlo(lambda x: x * 3, path, "cpu", [ex.ones(4)])
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.npz").mkdir()
    with pytest.raises(
        ValueError, match=r"^export_stablehlo: path must not be a folder, got path="
    ):
        ex.export_stablehlo(lambda x: x, tmp_path / "a", "cpu", [ex.ones(2)])
    assert [file.name for file in tmp_path.iterdir()] == ["a.npz"]


def test_platforms_are_checked(tmp_path: Path) -> None:
    text = (
        "export_stablehlo: platforms must be of ('cpu', 'cuda', 'rocm', 'tpu'), got platform='gpu'"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        ex.export_stablehlo(lambda x: x, tmp_path / "a", ["gpu"], (ex.ones(2),))
