"""Scripts of PyTorch run with this package in its place."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from extensor.torch import distributions
from extensor.torch.nn import PARTS

# By the name that a script imports: the module here.
MODULES = {
    "torch": "extensor.torch",
    "torch.amp": "extensor.torch.amp",
    "torch.autograd": "extensor.torch.autograd",
    "torch.autograd.functional": "extensor.torch.autograd.functional",
    "torch.distributions": "extensor.torch.distributions",
    "torch.func": "extensor.torch.func",
    "torch.nn": "extensor.torch.nn",
    "torch.nn.functional": "extensor.torch.nn.functional",
    "torch.nn.init": "extensor.torch.nn.init",
    "torch.nn.utils": "extensor.torch.nn.utils",
    "torch.nn.utils.parametrizations": "extensor.torch.nn.utils.parametrizations",
    "torch.nn.utils.rnn": "extensor.torch.nn.utils.rnn",
    "torch.optim": "extensor.torch.optim",
    "torch.optim.lr_scheduler": "extensor.torch.optim.lr_scheduler",
    "torch.optim.swa_utils": "extensor.torch.optim.swa_utils",
    "torch.utils": "extensor.torch.utils",
    "torch.utils.checkpoint": "extensor.torch.utils.checkpoint",
    "torch.utils.data": "extensor.torch.utils.data",
    "torchvision": "extensor.torch.vision",
    "torchvision.transforms": "extensor.torch.vision.transforms",
}
# Names of modules for which there is an object with the same names.
_OBJECTS = {
    "torch.cuda": "cuda",
    "torch.backends": "backends",
    "torch.backends.cuda": "backends.cuda",
    "torch.backends.cudnn": "backends.cudnn",
    "torch.backends.mps": "backends.mps",
    "torch.linalg": "linalg",
    "torch.nn.modules": "nn.modules",
    **{f"torch.nn.modules.{part}": "nn.modules" for part in PARTS},
    "torch.nn.parameter": "nn",
    "torch.optim.optimizer": "optim",
    "torch.cuda.amp": "amp",
    **{
        f"torch.distributions.{name.lower()}": "distributions"
        for name in ("kl", "distribution", *distributions.__all__)
        if name[0].isupper() or name in ("kl", "distribution")
    },
    **{f"torch.utils.data.{name}": "utils.data" for name in ("dataset", "dataloader", "sampler")},
}


class _Refusal(MetaPathFinder):
    """The end of the search for modules of PyTorch's that are not here."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        root = fullname.partition(".")[0]
        if root in ("torch", "torchvision", "torchaudio", "torchtext"):
            raise ModuleNotFoundError(
                f"{fullname}: not implemented here; extensor.torch has {', '.join(sorted(MODULES))}",
                name=fullname,
            )


def install() -> None:
    """Let ``import torch`` import this package, in this process."""
    for name, ours in MODULES.items():
        sys.modules[name] = import_module(ours)
    torch = sys.modules["torch"]
    for name, path in _OBJECTS.items():
        found: Any = torch
        for part in path.split("."):
            found = getattr(found, part)
        module = found
        if not isinstance(found, ModuleType):
            module = ModuleType(name)
            module.__dict__.update(
                {key: x for key, x in vars(found).items() if not key.startswith("__")}
            )
            module.__getattr__ = found.__getattribute__  # type: ignore[method-assign]
        sys.modules[name] = module
    if not any(isinstance(finder, _Refusal) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Refusal())


def run(arguments: Sequence[str]) -> None:
    """Run a script, or with ``-m`` a module, with the arguments after it."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print("usage: python -m extensor.torch script.py [arguments]", file=sys.stderr)
        print("       python -m extensor.torch -m module [arguments]", file=sys.stderr)
        raise SystemExit(0 if arguments else 2)
    install()
    if arguments[0] == "-m":
        sys.argv = list(arguments[1:])
        sys.path.insert(0, "")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    script = Path(arguments[0])
    if not script.is_file():
        raise SystemExit(f"extensor.torch: there is no script {script}")
    sys.argv = list(arguments)
    sys.path.insert(0, str(script.parent.resolve()))
    runpy.run_path(str(script), run_name="__main__")
