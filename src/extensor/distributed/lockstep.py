"""Micro-batches of a step that are computed side by side, because they wait for sums over all.

Those of one worker are threads that take turns: one runs until it asks for a sum, then the next. When all
have asked, their worker brings the sum about with the other workers, and they go on. So there is one
order of things, whatever the number of workers, and only one thread ever speaks to MPI.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from threading import Semaphore, Thread
from typing import Any

import numpy as np

from extensor.core import modes
from extensor.core.tensor import Tensor, wrap
from extensor.differentiation.custom_function import Context, Function
from extensor.distributed.micro_batches import TreeNode, share, total
from extensor.distributed.workers import Workers
from extensor.errors import value_error
from extensor.random.global_generators import GlobalState, preserve_global_generators

_TAG = 4
_MODES = ("recording", "anomaly", "casting", "epsilon")


class _AbandonedError(Exception):
    """Ends a micro-batch that is not needed any more."""


class _Turn(Thread):
    """One micro-batch, which runs when it is its turn."""

    def __init__(self, number: int, body: Callable[[_Turn], None]) -> None:
        super().__init__(name=f"extensor-micro-batch-{number}", daemon=True)
        self.number = number
        self.error: BaseException | None = None
        self.is_over = False
        self.is_abandoned = False
        self.asks: Any = None  # an array that is to be added up
        self._body = body
        self._modes = {name: getattr(modes.mode, name) for name in _MODES}
        self._context = copy_context()  # so that the caller's context variables are seen
        self._go, self._pause = Semaphore(0), Semaphore(0)

    def run(self) -> None:
        for name, value in self._modes.items():
            setattr(modes.mode, name, value)
        self._go.acquire()
        try:
            if not self.is_abandoned:
                self._context.run(self._body, self)
        except BaseException as error:  # the thread that waits for it raises it
            self.error = error
        self.is_over = True
        self._pause.release()

    def go_on(self) -> None:
        """Let it run until it asks for something or is over."""
        self._go.release()
        self._pause.acquire()

    def added(self, array: Any) -> Any:
        """The sum of the arrays of all micro-batches; called by the thread itself."""
        self.asks = array
        self._pause.release()
        self._go.acquire()
        if self.is_abandoned:
            raise _AbandonedError
        return self.asks


class _Added(Function):
    """A tensor added up over all micro-batches. Each of them uses the sum: so are the gradients."""

    @staticmethod
    def forward(ctx: Context, x: Tensor, turn: _Turn) -> Tensor:
        ctx.turn = turn
        return wrap(turn.added(np.ascontiguousarray(x.numpy())))

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> tuple[Tensor, None]:
        return _Added.apply(grad_output, ctx.turn), None


class Lockstep:
    """The micro-batches ``count`` of a step; ``keep`` and ``bring`` are asked at each turn.

    ``keep`` gives what a micro-batch leaves behind in the model, ``bring`` puts it back.
    """

    def __init__(
        self, workers: Workers, count: int, keep: Callable[[], Any], bring: Callable[[Any], None]
    ) -> None:
        self._workers = workers
        self._count = count
        self._keep, self._bring = keep, bring
        self._shares = [share(count, workers.size, rank) for rank in range(workers.size)]

    def run(
        self, body: Callable[[int, Callable[[Tensor], Tensor], Callable[[Any], Any]], None]
    ) -> dict[int, Any]:
        """Let ``body`` compute the micro-batches of this worker; returns what each left behind.

        It is given a number, what adds up a tensor over all micro-batches, and the same for arrays.
        """
        with preserve_global_generators(0):
            return self._run(body)

    def _run(self, body: Callable[..., None]) -> dict[int, Any]:
        begun = self._keep()
        own = self._shares[self._workers.rank]
        turns = [_Turn(number, lambda turn: body(*_arguments(turn))) for number in own]
        left = {turn.number: begun for turn in turns}
        # These are of the process, so each micro-batch gets its own back when it is its turn.
        chance = {turn.number: GlobalState.now() for turn in turns}
        for turn in turns:
            turn.start()
        try:
            while not all(turn.is_over for turn in turns):
                for turn in turns:
                    self._bring(left[turn.number])
                    chance[turn.number].bring_back()
                    turn.go_on()
                    left[turn.number] = self._keep()
                    chance[turn.number] = GlobalState.now()
                    if turn.error is not None:
                        raise turn.error
                self._add(turns)
        finally:
            self._bring(begun)
            for turn in turns:
                turn.is_abandoned = True
                if not turn.is_over:
                    turn.go_on()
        return left

    def _add(self, turns: Sequence[_Turn]) -> None:
        waiting = [turn for turn in turns if not turn.is_over]
        if not waiting:
            return
        shapes = {(turn.asks.shape, turn.asks.dtype) for turn in waiting}
        if len(waiting) < len(turns) or len(shapes) > 1:
            requirement = "all micro-batches must pass the same batch norms in the same order"
            raise value_error("sync_batch_norm", requirement, micro_batches=len(waiting))
        ((shape, dtype),) = shapes
        rows = np.empty((self._count, *shape), dtype)
        for turn in waiting:
            rows[turn.number] = turn.asks
        self._exchange(rows)
        leaves = [(TreeNode(0, number), row) for number, row in enumerate(rows)]
        found = total(self._count, leaves, lambda left, right: np.add(left, right))
        for turn in waiting:
            turn.asks = found.copy()

    def _exchange(self, rows: Any) -> None:
        """Give the own rows to all workers that have any, and get theirs."""
        workers = self._workers
        transfer = workers.transfer()
        own = self._shares[workers.rank]
        for peer in workers.others:
            theirs = self._shares[peer]
            if theirs:
                transfer.receive(peer, _TAG, rows[theirs.start : theirs.stop])
                transfer.send(peer, _TAG, rows[own.start : own.stop])
        transfer.wait("statistics of batch norm")


def _arguments(turn: _Turn) -> tuple[int, Callable[[Tensor], Tensor], Callable[[Any], Any]]:
    return turn.number, lambda tensor: _Added.apply(tensor, turn), turn.added
