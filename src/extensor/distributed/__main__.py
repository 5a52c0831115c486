"""Run a program as one of several workers, with a parent that says how it ended.

mpiexec -n 4 python -m extensor.distributed program.py [arguments]
mpiexec -n 4 python -m extensor.distributed -m module [arguments]
"""

from __future__ import annotations

import builtins
import io
import os
import runpy
import sys
import types
import zipfile

from extensor.distributed.supervision import supervise

_MODULE = "-m"


def main() -> None:
    """Run what the arguments name as Python itself would."""
    words = sys.argv[1:]
    if not words or words == [_MODULE] or (words[0].startswith("-") and words[0] != _MODULE):
        is_help = words[:1] in (["-h"], ["--help"])
        print((__doc__ or "").strip(), file=sys.stdout if is_help else sys.stderr)
        raise SystemExit(0 if is_help else 2)
    supervise()
    if words[0] == _MODULE:
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        _run_file(os.path.abspath(words[0]))


def _run_file(path: str) -> None:
    if os.path.isdir(path) or zipfile.is_zipfile(path):
        runpy.run_path(path, run_name="__main__")
        return
    if not sys.flags.safe_path:  # by which Python leaves out the program's folder
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    # Not by runpy, which takes the module away again before what runs at the exit needs it.
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    vars(module).update(__file__=path, __builtins__=builtins)
    exec(code, vars(module))


if __name__ == "__main__":
    main()
