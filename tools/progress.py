"""Run a command that builds the native module, and show how far it is.

    python tools/progress.py pip install --verbose .

On a terminal it updates one line, elsewhere it writes one for every tenth part. All other output of
the command is shown only if it fails. Says in a sentence what is missing before anything starts.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time

COMPILERS = ("c++", "g++", "clang++")
MISSING = """extensor: no C++ compiler was found. Install one and run the command again:
  Debian, Ubuntu:  apt install g++
  Fedora:          dnf install gcc-c++
  macOS:           xcode-select --install"""
STEP = re.compile(r"\[(\d+)/(\d+)\] (.*)")


def main(command: list[str]) -> int:
    """Run the command. Returns its code, or 1 if there is no compiler."""
    if "CXX" not in os.environ and not any(map(shutil.which, COMPILERS)):
        print(MISSING, file=sys.stderr)
        return 1
    line, lines, begin = Line(), [], time.monotonic()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}  # pip would keep its lines until the end
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
    ) as process:
        assert process.stdout is not None
        for text in process.stdout:
            lines.append(text)
            if match := STEP.search(text):
                done, total = int(match[1]), int(match[2])
                if done == 0:  # a step that only looks, such as for changed files
                    continue
                line.show(done, total, file_name(match[3]), time.monotonic() - begin)
    line.end()
    if process.returncode:
        sys.stderr.writelines(lines)
    return process.returncode


def file_name(step: str) -> str:
    """The source that is compiled, with its instruction set: ``matrix/gemm.cpp (v3)``."""
    if found := re.search(r"CMakeFiles/kernels_(\w+)\.dir/(?:kernels/)?(\S+)\.o\b", step):
        return f"{found[2]} ({found[1]})"
    if found := re.search(r"\.dir/(\S+)\.o\b", step):
        return found[1]
    return "shared headers" if "cmake_pch" in step else "linking"


class Line:
    """The line that says how far the build is."""

    def __init__(self) -> None:
        self.is_terminal = sys.stderr.isatty()
        self.tenth = -1
        self.was_shown = False

    def show(self, done: int, total: int, name: str, seconds: float) -> None:
        """Show a step of the build that has come to its end."""
        if not self.is_terminal and done * 10 // total == self.tenth:
            return
        self.tenth = done * 10 // total
        left = seconds / done * (total - done)
        remaining = f"about {left:.0f} s left" if done > total // 10 else "a minute or two"
        text = f"compiling {done}/{total}, {remaining}: {name}"
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r\x1b[K{text[:width]}" if self.is_terminal else f"{text}\n")
        sys.stderr.flush()
        self.was_shown = True

    def end(self) -> None:
        """Leave an empty line where the line was."""
        if self.is_terminal and self.was_shown:
            sys.stderr.write("\r\x1b[K")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
