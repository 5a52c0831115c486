"""Training on several workers, with the bits of one.

A launcher of MPI starts the workers (``mpiexec -n 4 python train.py``); nothing here launches workers
or listens. A step has the same micro-batches whatever the number of workers, and their gradients are added
in one tree. ``Trainer(micro_batches=8)`` does the rest by itself; your own loop needs
:func:`workers` and :class:`Gradients`.
"""

from extensor.distributed.gradients import Gradients
from extensor.distributed.rendezvous import workers
from extensor.distributed.workers import WorkerLostError, Workers

__all__ = ["Gradients", "WorkerLostError", "Workers", "workers"]


def __dir__() -> list[str]:
    return sorted(__all__)
