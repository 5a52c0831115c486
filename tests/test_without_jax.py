"""What needs JAX says so where it is not; nothing else asks for it."""

from __future__ import annotations

import subprocess
import sys

_ASKS = """
import sys
import extensor as ex
net = ex.models.mlp([2, 2])
ex.train.Trainer(net, ex.mse_loss, ex.optim.SGD(net.parameters(), lr=0.1), callbacks=[])
assert "jax" not in sys.modules
ex.compile, ex.export_stablehlo
assert "jax" not in sys.modules
sys.modules["jax"] = None  # as if it were not installed
for ask in (
    lambda: ex.compile(lambda x: x, backend="xla"),
    lambda: ex.export_stablehlo(lambda x: x, "file", "cpu", (1.0,)),
    lambda: ex.train.Trainer(net, ex.mse_loss, ex.optim.SGD(net.parameters(), lr=0.1), compile="xla"),
):
    try:
        ask()
    except ImportError as error:
        print(error)
"""


def test_jax_is_asked_for_only_when_it_is_needed_and_the_error_says_how_to_get_it() -> None:
    run = subprocess.run([sys.executable, "-c", _ASKS], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == 3 * [
        "compile: backend 'xla' needs JAX, which is not installed; pip install extensor[xla] "
        "(for a GPU or TPU the variant of jaxlib that JAX's page names)"
    ]
