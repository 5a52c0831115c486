"""The tests of compiled functions need JAX (`make peers`) and run on its CPU."""

from __future__ import annotations

import os

# Before JAX is imported: programs are small here, and what takes time is to compile them well.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
