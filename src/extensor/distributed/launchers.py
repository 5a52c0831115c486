"""What a launcher of workers says in their environment, and the exit codes it is told."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

TEMPORARY_FAILURE = 75  # what sysexits.h calls a failure after which to try again
INTERRUPTED = 130  # what shells say after Ctrl-C
# Where launchers say how many they have started: Open MPI, MPICH and its kin, Slurm.
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PMI_ID", "SLURM_PROCID")
# What those leave that do not say it: PRRTE's prterun, MPICH's mpiexec -pmi-port.
_SIGNS = ("PMIX_RANK", "PMI_PORT")
_SURVIVABLE = "OMPI_MCA_mpi_ft_enable"  # as Open MPI spells it


def started(environment: Mapping[str, str]) -> int:
    """How many workers a launcher says it has started; 1 if there was none, 0 if it does not say.

    With ``EXTENSOR_ALONE=1`` each process trains by itself, whoever started it.
    """
    if environment.get("EXTENSOR_ALONE", "0") not in ("", "0"):
        return 1
    texts = [environment.get(name, "") for name in _SIZES]
    sizes = [int(text) for text in texts if text.isdigit()]
    if not sizes and any(name in environment for name in _SIGNS):
        return 0
    return next((size for size in sizes if size > 1), 1)


def own_rank() -> str:
    """The number of this worker as its launcher says it; empty if it does not."""
    texts = (os.environ.get(name, "") for name in _RANKS)
    return next((text for text in texts if text.isdigit()), "")


def own_name(size: int) -> str:
    """This worker as errors name it, before MPI says its number."""
    of = f" of {size}" if size else ""
    return f"worker {own_rank() or '?'}{of} ({socket.gethostname()}, process {os.getpid()})"


def can_survive() -> bool:
    """True if workers that are left when one was killed go on: Open MPI with ULFM."""
    return os.environ.get(_SURVIVABLE) == "1"
