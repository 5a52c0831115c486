"""``python -m extensor.torch script.py``: run a script of PyTorch."""

import sys

from extensor.torch.runner import run

run(sys.argv[1:])
