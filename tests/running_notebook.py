"""Executes a notebook in a kernel of this Python, in a process of its own.

``python running_notebook.py FOLDER`` runs ``FOLDER/notebook.ipynb`` in ``FOLDER/work`` and writes what
came of it over it. Sockets and loops that its libraries leave behind end with the process.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager  # type: ignore[attr-defined]
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient


def main(folder: Path) -> None:
    place = folder / "kernels" / "own"
    place.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    text = json.dumps({"argv": argv, "display_name": "own", "language": "python"})
    (place / "kernel.json").write_text(text)
    (folder / "work").mkdir()
    specs = KernelSpecManager(kernel_dirs=[str(folder / "kernels")])
    manager = AsyncKernelManager(kernel_name="own", kernel_spec_manager=specs)
    notebook = nbformat.read(folder / "notebook.ipynb", as_version=4)
    resources = {"metadata": {"path": str(folder / "work")}}
    NotebookClient(notebook, km=manager, timeout=60, resources=resources).execute()
    nbformat.write(notebook, folder / "notebook.ipynb")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
