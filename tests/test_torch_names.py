"""PyTorch's names: meanings where they differ from ours, memory that views share, and refusals."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extensor as ex
import extensor.torch as torch
from extensor.torch import nn
from extensor.torch.nn import functional as F  # noqa: N812
from extensor.torch.utils.data import DataLoader, Dataset, IterableDataset, WeightedRandomSampler

Tensor: Any = torch.Tensor


def test_importing_the_library_does_not_import_the_names() -> None:
    program = "import sys, extensor; print('extensor.torch' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert printed.stdout.strip() == b"False"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x.size()", (2, 3)),
        ("x.size(1)", 3),
        ("x.shape.numel()", 6),
        ("x.transpose(0, 1).shape", (3, 2)),
        ("x.max(1).indices.tolist()", [2, 2]),
        ("x.max(x.flip(0)).tolist()", [[3, 4, 5], [3, 4, 5]]),
        ("x.sort(1, True)[1][0].tolist()", [2, 1, 0]),
        ("[y.shape[1] for y in x.split(2, dim=1)]", [2, 1]),
        ("x.repeat(1, 2).shape", (2, 6)),
        ("x.std(0).tolist()", [pytest.approx(2.1213203)] * 3),
        ("x.unsqueeze(-1).squeeze(0).shape", (2, 3, 1)),
        ("x.expand(4, -1, -1).shape", (4, 2, 3)),
        ("F.pad(x, (1, 0)).shape", (2, 4)),
        ("x.long().sum().dtype", np.dtype(np.int64)),
        ("(x > 1).sum().dtype", np.dtype(np.int64)),
        ("torch.arange(3, dtype=torch.uint8).sum().dtype", np.dtype(np.int64)),
        ("(torch.arange(3) / 2).dtype", np.dtype(np.float32)),
        ("(x * torch.tensor(2.0, dtype=torch.float64)).dtype", np.dtype(np.float32)),
        ("(torch.arange(3) * torch.tensor(2.0, dtype=torch.float64)).dtype", np.dtype(np.float64)),
        ("(x.half() + x[0, 0]).dtype", np.dtype(np.float16)),
        ("(x.int() + torch.arange(3)).dtype", np.dtype(np.int64)),
        ("(-torch.arange(4)).remainder(3).tolist()", [0, 2, 1, 0]),
        ("(-torch.arange(4)).fmod(3).tolist()", [0, -1, -2, 0]),
        ("torch.meshgrid(torch.arange(2), torch.arange(3), indexing='xy')[0].shape", (3, 2)),
        ("x == None", False),
        ("torch.is_tensor(nn.Linear(2, 2).weight)", True),
        ("type(nn.Linear(2, 2)(torch.ones(1, 2))) is torch.Tensor", True),
        ("isinstance(nn.Linear(2, 2).bias, nn.Parameter)", True),
        ("torch.cuda.is_available() or torch.backends.mps.is_available()", False),
        ("torch.tensor([1, 2]).to(torch.float64).dtype", np.dtype(np.float64)),
        ("x.to('cpu') is x", True),
        ("x.type()", "torch.FloatTensor"),
    ],
)
def test_meanings_are_those_of_pytorch(expression: str, expected: Any) -> None:
    x: Any = torch.arange(6.0).view(2, 3)
    result = eval(expression, {"torch": torch, "nn": nn, "F": F, "x": x})
    assert result == expected


@pytest.mark.parametrize(
    "show",
    [
        lambda x: x.view(-1),
        lambda x: x[0],
        lambda x: x.T,
        lambda x: x.data,
        lambda x: x.detach(),
        lambda x: x.permute(1, 0)[1:],
        lambda x: x.unsqueeze(0),
        lambda x: x.narrow(1, 0, 2),
        lambda x: x.split(1)[0],
        lambda x: x.unbind(1)[0],
    ],
)
@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.add_(1),
        lambda v: v.mul_(3).sub_(1),
        lambda v: v.zero_(),
        lambda v: v.fill_(9),
        lambda v: v.copy_(torch.ones(1)),
        lambda v: v.clamp_(max=0.5),
        lambda v: v.uniform_(5, 6),
        lambda v: v.normal_(),
        lambda v: v.__iadd__(1),
    ],
)
def test_changes_in_place_reach_the_memory_of_views(
    show: Callable[[Any], Any], change: Callable[[Any], Any]
) -> None:
    x: Any = torch.arange(6.0).reshape(2, 3) + 1
    before = x.clone()
    seen = show(x)
    assert change(seen) is seen
    changed = (x != before).sum().item()
    assert 0 < changed <= seen.numel()
    assert torch.equal(seen, show(x))


def test_a_saved_tensor_that_changes_is_an_error() -> None:
    w: Any = torch.ones(3, requires_grad=True)
    h = w * 2
    loss = (h * h).sum()
    h.data.add_(1)
    with pytest.raises(RuntimeError, match="changed in place before the backward pass"):
        loss.backward()


def test_a_recorded_change_is_differentiated() -> None:
    w: Any = torch.ones(3, requires_grad=True)
    h = w * 2
    h.mul_(w).add_(1, alpha=3)
    h.clamp_(max=10).pow_(2)
    h.sum().backward()
    assert w.grad.tolist() == [40.0, 40.0, 40.0]  # of (2 w^2 + 3)^2


def test_a_recorded_change_of_a_view_is_refused() -> None:
    h: Any = torch.ones(3, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=r"x = x\.add\(\.\.\.\), or change a clone"):
        h[0].add_(1)


def test_a_leaf_changes_inside_no_grad_only() -> None:
    w: Any = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        w.add_(1)
    with torch.no_grad():
        w.add_(1)
    assert w.tolist() == [2.0, 2.0, 2.0]
    assert w.is_leaf
    assert w.requires_grad


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: torch.ones(2, device="cuda"), RuntimeError, "CPU"),
        (lambda: torch.ones(2).cuda(), RuntimeError, "CPU"),
        (lambda: torch.device("cuda:0"), RuntimeError, "CPU"),
        (lambda: nn.Linear(2, 2).to("cuda"), RuntimeError, "CPU"),
        (lambda: torch.cuda.Stream(), RuntimeError, "CPU"),
        (lambda: torch.ones(4).T.view(3), ValueError, "view|reshape"),
        (lambda: torch.ones(2, 3).t().view(6), RuntimeError, "use reshape"),
        (lambda: torch.arange(3).mean(), RuntimeError, "floating"),
        (lambda: torch.ones(3)[::-1], ValueError, "flip"),
        (lambda: torch.exp(torch.ones(2), out=torch.ones(2)), TypeError, "out"),
        (lambda: torch.fft, AttributeError, "fft"),
        (lambda: nn.Linearr, AttributeError, "Linearr"),
        (lambda: torch.ones(2, requires_grad=True).numpy(), RuntimeError, "detach"),
        (lambda: nn.ReLU(True)(torch.ones(2, requires_grad=True)), RuntimeError, "leaf"),
        (lambda: torch.save(nn.Linear(2, 2), io.BytesIO()), TypeError, "state_dict"),
        (lambda: nn.Softmax(), TypeError, "dim"),
    ],
)
def test_what_cannot_be_done_is_refused(
    call: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()


def test_modes_in_all_forms() -> None:
    w = torch.ones(2, requires_grad=True)

    @torch.no_grad()
    def with_parentheses() -> Any:
        return w * 2

    @torch.no_grad
    def without() -> Any:
        return w * 2

    assert not with_parentheses().requires_grad
    assert not without().requires_grad
    with torch.inference_mode(), torch.enable_grad():
        assert (w * 2).requires_grad
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    with torch.inference_mode(mode=False):
        assert torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_files_hold_nested_values(tmp_path: Path) -> None:
    saved = {
        "epoch": 3,
        "model": nn.Linear(2, 2).state_dict(),
        5: (torch.arange(3), [1.5, None, "a"]),
        "weight": nn.Parameter(torch.ones(2)),
        "dtype": torch.float64,
    }
    path = tmp_path / "state.pt"
    torch.save(saved, path)
    loaded = torch.load(path, map_location=torch.device("cpu"))
    assert loaded["epoch"] == 3
    assert loaded[5][0].tolist() == [0, 1, 2]
    assert loaded[5][1] == [1.5, None, "a"]
    assert isinstance(loaded["weight"], nn.Parameter)
    assert loaded["dtype"] == torch.float64
    nn.Linear(2, 2).load_state_dict(loaded["model"])
    buffer = io.BytesIO()
    torch.save(torch.arange(2), buffer)
    buffer.seek(0)
    assert torch.load(buffer).tolist() == [0, 1]
    path.write_bytes(b"PK\x03\x04 and more")
    with pytest.raises(RuntimeError, match="pickle"):
        torch.load(path)


class Squares(Dataset[Any]):
    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> Any:
        return {"x": np.float32(index), "pair": (index, [index**2, "a"])}


def test_a_loader_collates_nested_samples() -> None:
    batches = list(DataLoader(Squares(), batch_size=3, num_workers=2, pin_memory=True))
    assert [len(batch["x"]) for batch in batches] == [3, 3, 1]
    assert batches[1]["pair"][0].tolist() == [3, 4, 5]
    assert batches[1]["pair"][1][0].tolist() == [9, 16, 25]
    assert batches[1]["pair"][1][1] == ["a", "a", "a"]
    shuffled: Any = DataLoader(range(10), batch_size=5, shuffle=True, generator=torch.Generator())
    assert sorted(torch.cat(list(shuffled)).tolist()) == list(range(10))
    sampler = WeightedRandomSampler([0.0, 1.0, 0.0], 4)
    assert [int(x) for x in DataLoader([10, 20, 30], batch_size=None, sampler=sampler)] == [20] * 4


def test_an_iterable_data_set_has_its_own_order() -> None:
    class Count(IterableDataset[Any]):
        def __iter__(self) -> Any:
            return iter(range(5))

    loader: Any = DataLoader(Count(), batch_size=2, drop_last=True)
    assert [x.tolist() for x in loader] == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="own order"):
        DataLoader(Count(), shuffle=True)


def test_module_hooks_see_tensors_of_these_names() -> None:
    seen: list[Any] = []
    layer = nn.Linear(2, 2)
    layer.register_forward_hook(lambda m, args, output: seen.append((args[0], output)))
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((gi[0], go[0])))
    x: Any = torch.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert all(type(part) is torch.Tensor for pair in seen for part in pair)
    assert len(seen) == 2


def test_results_of_the_core_meet_these_tensors() -> None:
    x: Any = torch.ones(2, 2)
    assert type(ex.add(x, x)) is ex.Tensor  # the core's functions stay the core's
    assert type(x + ex.ones((2, 2))) is torch.Tensor
    assert x.size == 4  # also a number, as the core reads it


def test_the_runner_takes_pytorchs_place(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, torch, torch.nn.functional as F\n"
        "from torch.nn.utils.rnn import pad_sequence\n"
        "from torchvision import transforms\n"
        "print(torch.__name__, F.relu(torch.tensor([-1.0, 2.0])).tolist(), sys.argv[1:])\n"
        "try:\n    import torch.fft\nexcept ModuleNotFoundError as error:\n    print(error)\n"
    )
    command = [sys.executable, "-m", "extensor.torch", str(script), "--epochs", "3"]
    lines = subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()
    assert lines[0] == "extensor.torch [0.0, 2.0] ['--epochs', '3']"
    assert lines[1].startswith("torch.fft: not implemented here")
