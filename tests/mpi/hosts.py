#!/usr/bin/env python3
"""Network namespaces that stand for hosts, so that workers speak TCP with each other; needs root.

    python tests/mpi/hosts.py up 4        10.79.0.1 to .4 on a bridge of their own
    python tests/mpi/hosts.py down 4

Called by mpiexec in place of ssh, it runs a command on a host: ``hosts.py 10.79.0.2 command``.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

BRIDGE = "extmpi"
NETWORK = "10.79.0."


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def host(number: int | str) -> str:
    return f"{BRIDGE}{number}"


def up(count: int) -> None:
    ip("link", "add", BRIDGE, "type", "bridge")
    ip("addr", "add", f"{NETWORK}254/24", "dev", BRIDGE)
    ip("link", "set", BRIDGE, "up")
    for number in range(1, count + 1):
        name, outside = host(number), f"{BRIDGE}v{number}"
        ip("netns", "add", name)
        ip("link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "set", outside, "master", BRIDGE, "up")
        ip("-n", name, "addr", "add", f"{NETWORK}{number}/24", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")
        ip("-n", name, "link", "set", "lo", "up")


def end_all(count: int) -> None:
    """End whatever still runs on the hosts, which are ours alone."""
    for number in range(1, count + 1):
        found = subprocess.run(
            ["ip", "netns", "pids", host(number)], capture_output=True, text=True, check=True
        )
        for process in found.stdout.split():
            with suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)


def mend_all(count: int) -> None:
    """Bring all links back, when nothing runs on the hosts any more."""
    end_all(count)
    for number in range(1, count + 1):
        ip("-n", host(number), "link", "set", "eth0", "up")


def down(count: int) -> None:
    end_all(count)
    for number in range(1, count + 1):
        ip("netns", "del", host(number))
    ip("link", "del", BRIDGE)


def launcher(kind: str, python: str, count: int) -> list[str]:
    """The words of mpiexec for one worker on each of ``count`` hosts."""
    hosts = ",".join(f"{NETWORK}{number}:1" for number in range(1, count + 1))
    mpiexec = str(Path(python).with_name("mpiexec"))
    if kind == "mpich":
        agent = ["-launcher", "rsh", "-launcher-exec", __file__]
        return [
            mpiexec,
            "-iface",
            BRIDGE,
            *agent,
            "-hosts",
            hosts,
            "-n",
            str(count),
        ]
    network = f"{NETWORK}0/24"
    settings = [
        *("--prtemca", "plm_ssh_agent", __file__, "--prtemca", "prte_if_include", network),
        *("--mca", "btl_tcp_if_include", network, "--mca", "btl", "tcp,self"),
        *("--mca", "pml", "ob1"),
    ]
    return [mpiexec, *settings, "--host", hosts, "-n", str(count)]


def run_on(words: list[str]) -> None:
    """Become the command on a host; what it has of its own is its name, its network and /dev/shm."""
    while words[0].startswith("-"):
        words = words[1:]
    number = words[0].rpartition(".")[2]
    inside = (
        f"hostname {host(number)}; mount -t tmpfs tmpfs /dev/shm; "
        f"exec /bin/sh -c {shlex.quote(' '.join(words[1:]))}"
    )
    around = ["ip", "netns", "exec", host(number), "unshare", "-u", "-i", "-m"]
    os.execvp("ip", [*around, "/bin/sh", "-c", inside])


def main() -> None:
    match sys.argv[1:]:
        case ["up", count]:
            up(int(count))
        case ["down", count]:
            down(int(count))
        case words:
            run_on(words)


if __name__ == "__main__":
    main()
