"""The samples that PyTorch tests its own ops, modules and optimizers with."""

from __future__ import annotations

import sys
from types import ModuleType
from unittest import TestCase

# PyTorch's tests import it for texts that they expect, of which no sample has any.
_EXPECTTEST = ModuleType("expecttest")
_EXPECTTEST.TestCase = TestCase  # type: ignore[attr-defined]
sys.modules.setdefault("expecttest", _EXPECTTEST)

from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from torch.testing._internal.common_modules import module_db  # noqa: E402
from torch.testing._internal.common_optimizers import optim_db  # noqa: E402

OPS = {(info.name, info.variant_test_name): info for info in op_db}
MODULES = {info.module_cls.__name__: info for info in module_db}
OPTIMIZERS = {info.optim_cls.__name__: info for info in optim_db}
