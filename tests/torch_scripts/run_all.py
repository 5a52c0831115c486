"""Run scripts in one process, and print what each reports as JSON."""

import contextlib
import io
import json
import runpy
import sys
import traceback
from pathlib import Path

import torch

HERE = Path(__file__).parent
dtype, *names = sys.argv[1:]
results = {}
for path in sorted(HERE.glob("*.py")):
    if path.stem in ("run_all", "seeded") or (names and path.stem not in names):
        continue
    printed = io.StringIO()
    sys.argv = [str(path), dtype]
    sys.modules.pop("seeded", None)
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(path), run_name="__main__")
        results[path.stem] = [float(line) for line in printed.getvalue().split()]
    except Exception:
        results[path.stem] = traceback.format_exc()
    torch.set_default_dtype(torch.float32)
print(json.dumps(results))
