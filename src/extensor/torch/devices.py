"""Devices: there is the CPU, and names by which a script finds that there is no other."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

from extensor import settings
from extensor.errors.torch_names import CPU as SENTENCE


class device:  # noqa: N801  as PyTorch has it
    """A device: the CPU. Any other is an error.

    Parameters
    ----------
    type : str
        "cpu".
    index : int, optional
        0.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device(type='cpu')
    """

    type = "cpu"
    index = None

    def __init__(self, type: Any, index: int | None = None) -> None:
        check_device("device", type)
        if index not in (None, 0):
            raise RuntimeError(f"device: there is one CPU, got index={index}")

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, device)

    def __hash__(self) -> int:
        return hash("cpu")

    def __repr__(self) -> str:
        return "device(type='cpu')"

    def __str__(self) -> str:
        return "cpu"

    def __enter__(self) -> device:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def check_device(op: str, given: Any) -> None:
    """Raise unless ``given`` is None or the CPU."""
    if given is not None and not isinstance(given, device) and given not in ("cpu", "cpu:0"):
        raise RuntimeError(f"{op}: {SENTENCE}, got device={given!r}")


CPU = device("cpu")


class NoDevice:
    """The module of a kind of device that is not there, such as ``torch.cuda``."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.amp = None

    def is_available(self) -> bool:
        return False

    def is_built(self) -> bool:
        return False

    def is_initialized(self) -> bool:
        return False

    def is_bf16_supported(self) -> bool:
        return False

    def device_count(self) -> int:
        return 0

    def manual_seed(self, seed: int) -> None:
        """Nothing: there are no generators of such a device to seed."""

    def manual_seed_all(self, seed: int) -> None:
        """Nothing: there are no generators of such a device to seed."""

    def empty_cache(self) -> None:
        """Nothing: there is no memory of such a device."""

    def synchronize(self, device: Any = None) -> None:
        """Nothing: results are there when a call returns."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise RuntimeError(f"torch.{self._name}.{name}: {SENTENCE}")


cuda = NoDevice("cuda")
mps = NoDevice("mps")
xpu = NoDevice("xpu")


class _Accelerator(NoDevice):
    def current_accelerator(self, check_available: bool = False) -> None:
        """None: there is no accelerator."""


accelerator = _Accelerator("accelerator")
# Results are the same in every run and for every number of threads: these switches choose nothing.
_cudnn = SimpleNamespace(
    deterministic=True,
    benchmark=False,
    enabled=False,
    allow_tf32=False,
    is_available=lambda: False,
    version=lambda: None,
)
_matmul = SimpleNamespace(allow_tf32=False, fp32_precision="ieee")
backends = SimpleNamespace(
    cudnn=_cudnn,
    mps=NoDevice("backends.mps"),
    cuda=SimpleNamespace(matmul=_matmul, is_built=lambda: False),
    mkldnn=SimpleNamespace(is_available=lambda: False),
    openmp=SimpleNamespace(is_available=lambda: True),
)


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Nothing: every algorithm here is deterministic.

    Parameters
    ----------
    mode, warn_only : bool
        Any values.
    """


def set_float32_matmul_precision(precision: str) -> None:
    """Nothing: products of float32 have the full precision, "highest".

    Parameters
    ----------
    precision : str
        PyTorch may compute less exactly for the others, but need not.
    """


def set_default_device(device: Any) -> None:
    """Check that the device is the CPU.

    Parameters
    ----------
    device : device_like
        The CPU.
    """
    check_device("set_default_device", device)


def get_default_device() -> device:
    """The CPU."""
    return CPU


def get_num_threads() -> int:
    """The number of threads that kernels use."""
    return settings.get_num_threads()


def set_num_threads(number: int) -> None:
    """Let kernels use a number of threads.

    Parameters
    ----------
    number : int
        How many.
    """
    settings.set_num_threads(number)


no_context = contextlib.nullcontext
