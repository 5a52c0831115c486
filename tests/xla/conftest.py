"""The tests of compiled functions: only where JAX is, and on its CPU."""

from __future__ import annotations

import os
from importlib.util import find_spec

# Before JAX is imported: programs are small here, and what takes time is to compile them well.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

# JAX is an extra; without it there is nothing to test.
collect_ignore_glob = [] if find_spec("jax") else ["test_*.py"]
