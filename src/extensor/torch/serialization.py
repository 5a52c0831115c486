"""``torch.save`` and ``torch.load`` without pickle: nested values in the format of ``ex.save``."""

from __future__ import annotations

import os
import tempfile
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from extensor.core.tensor import Tensor as CoreTensor
from extensor.io import load as load_state
from extensor.io import save as save_state
from extensor.io.state_file import unpacked
from extensor.torch.devices import check_device, device
from extensor.torch.nn.module import Parameter
from extensor.torch.sizes import Size
from extensor.torch.tensor_class import handed_out

_MARK = "extensor.torch"
_PLAIN = (str, int, float, bool, type(None))
_SEQUENCES: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "Size": Size}


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2) -> None:
    """Write a tensor, or nested dicts, lists and tuples of tensors and plain values, to a file.

    A dict of tensors by names, such as a state dict, is a file of safetensors.

    Parameters
    ----------
    obj : object
        What to write. A module is refused: save its ``state_dict()``.
    f : str, Path or file
        Where to write.
    """
    state = obj if _is_state(obj) else {_MARK: _packed(obj)}
    if not hasattr(f, "write"):
        save_state(f, state)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        save_state(path, state)
        f.write(path.read_bytes())


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
) -> Any:
    """Read what `save` wrote, or a file of safetensors. Files of PyTorch's pickle are refused.

    Parameters
    ----------
    f : str, Path or file
        The file.
    map_location : device_like, optional
        The CPU.
    """
    if (
        map_location is not None
        and not callable(map_location)
        and not isinstance(map_location, dict)
    ):
        check_device("load", map_location)
    if hasattr(f, "read"):
        state = unpacked(f.read(), "the file")
    else:
        _refuse_pickle(f)
        state = load_state(f)
    return _unpacked(state[_MARK]) if _MARK in state else handed_out(state)


def _refuse_pickle(path: Any) -> None:
    if os.path.isfile(path):
        with open(path, "rb") as file:
            begin = file.read(2)
        if begin in (b"PK", b"\x80\x02"):
            raise RuntimeError(
                f"load: {path} is a pickle of PyTorch, which could run any code; write it again with "
                "safetensors.torch.save_file(model.state_dict(), path)"
            )


def _is_state(value: Any) -> bool:
    """Whether ``ex.save`` gives it back as it is."""
    return (
        isinstance(value, dict)
        and bool(value)
        and all(
            isinstance(key, str)
            and key
            and (_is_state(x) or type(x) in _PLAIN or _is_plain_tensor(x))
            for key, x in value.items()
        )
        and _MARK not in value
    )


def _is_plain_tensor(x: Any) -> bool:
    return isinstance(x, CoreTensor) and not x.requires_grad


def _packed(value: Any) -> Any:
    """A value as a dict that says what it is."""
    if type(value) in _PLAIN:
        return {"value": value}
    if isinstance(value, CoreTensor):
        kind = "parameter" if isinstance(value, Parameter) else "tensor"
        return {kind: value.detach(), "requires_grad": value.requires_grad}
    if isinstance(value, np.ndarray | np.generic):
        return {"array": np.asarray(value)}
    if isinstance(value, np.dtype):
        return {"dtype": value.name}
    if isinstance(value, device):
        return {"device": "cpu"}
    if isinstance(value, Mapping):
        pairs = {
            str(i): {"key": _packed(key), "item": _packed(x)}
            for i, (key, x) in enumerate(value.items())
        }
        return {"ordered" if isinstance(value, OrderedDict) else "dict": pairs}
    for name, kind in _SEQUENCES.items():
        if type(value) is kind:
            return {name: {str(i): _packed(x) for i, x in enumerate(value)}}
    if hasattr(value, "state_dict"):
        raise TypeError(
            f"save: save the state_dict() of a {type(value).__name__}, not the object itself"
        )
    raise TypeError(f"save: {type(value).__name__} cannot be saved; nothing is pickled here")


def _unpacked(packed: dict[str, Any]) -> Any:
    kind, content = next(iter(packed.items()))
    if kind in ("tensor", "parameter"):
        value = handed_out(content)
        if kind == "parameter":
            return Parameter(value, packed["requires_grad"])
        value.requires_grad = packed["requires_grad"]
        return value
    if kind == "array":
        return content.numpy()
    if kind == "dtype":
        return np.dtype(content)
    if kind == "device":
        return device(content)
    if kind in ("dict", "ordered"):
        made = {_unpacked(pair["key"]): _unpacked(pair["item"]) for pair in content.values()}
        return OrderedDict(made) if kind == "ordered" else made
    if kind in _SEQUENCES:
        return _SEQUENCES[kind](_unpacked(x) for x in content.values())
    return content
