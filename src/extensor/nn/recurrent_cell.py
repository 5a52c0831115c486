"""One step of a recurrence as a module, for loops of one's own, with PyTorch's keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from extensor.arrays.dtypes import DType
from extensor.core.creation import empty, zeros
from extensor.core.tensor import Tensor
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn.parameter import Parameter
from extensor.nn.recurrent import Recurrence, checked_nonlinearity
from extensor.ops import gru_cell, lstm_cell, rnn_cell
from extensor.ops.recurrent import Nonlinearity

if TYPE_CHECKING:
    from extensor.typing import TensorLike


@also_takes(**DEVICE)
class _Cell(Recurrence):
    """Weights ``weight_ih`` (gates * hidden_size, input_size) and ``weight_hh``, and two biases."""

    _first_weight = "weight_ih"
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, *, dtype: DType = None
    ) -> None:
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = self._gates * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), dtype))
        self.weight_hh = Parameter(empty((rows, hidden_size), dtype))
        self.bias_ih = Parameter(empty((rows,), dtype)) if bias else None
        self.bias_hh = Parameter(empty((rows,), dtype)) if bias else None
        self.reset_parameters()

    def _step(self, x: Tensor, *states: Tensor) -> Any:
        raise NotImplementedError

    def forward(self, x: TensorLike, hx: Any = None) -> Any:
        """The next state, or pair of states, after ``x`` from the state ``hx``, or from 0."""
        x = self._tensor(x)
        shape = (*x.shape[:-1], self.hidden_size)
        if hx is None:
            states: tuple[Tensor, ...] = (zeros(shape, x.dtype),) * self._states
        else:
            states = self._given(hx, shape)
        if x.ndim != 1:
            return self._step(x, *states)
        after = self._step(x.unsqueeze(0), *(state.unsqueeze(0) for state in states))
        return tuple(state[0] for state in after) if self._states > 1 else after[0]

    def _weights(self) -> tuple[Parameter | None, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh


@also_takes(**DEVICE)
class RNNCell(_Cell):
    """``tanh(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh)``, or relu.

    Inputs are (batch, input_size) or (input_size,), states (batch, hidden_size) or (hidden_size,).

    >>> import extensor as ex
    >>> cell, h = ex.nn.RNNCell(3, 4), None
    >>> for x in ex.ones((7, 5, 3)):
    ...     h = cell(x, h)
    >>> h.shape
    (5, 4)
    """

    _gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: Nonlinearity = "tanh",
        *,
        dtype: DType = None,
    ) -> None:
        self.nonlinearity = checked_nonlinearity("RNNCell", nonlinearity)
        super().__init__(input_size, hidden_size, bias, dtype=dtype)

    if TYPE_CHECKING:

        def forward(self, x: TensorLike, hx: TensorLike | None = None) -> Tensor: ...

    def _step(self, x: Tensor, *states: Tensor) -> Any:
        run: Callable[..., Tensor] = rnn_cell
        return run(x, *states, *self._weights(), nonlinearity=self.nonlinearity)


class GRUCell(_Cell):
    """One step of :class:`GRU`; called as :class:`RNNCell`."""

    _gates = 3

    if TYPE_CHECKING:

        def forward(self, x: TensorLike, hx: TensorLike | None = None) -> Tensor: ...

    def _step(self, x: Tensor, *states: Tensor) -> Any:
        return gru_cell(x, *states, *self._weights())


class LSTMCell(_Cell):
    """One step of :class:`LSTM`; called as :class:`RNNCell`, but the state is a pair, and so is ``hx``."""

    _gates = 4
    _states = 2

    if TYPE_CHECKING:

        def forward(
            self, x: TensorLike, hx: tuple[TensorLike, TensorLike] | None = None
        ) -> tuple[Tensor, Tensor]: ...

    def _step(self, x: Tensor, *states: Tensor) -> Any:
        return lstm_cell(x, *states, *self._weights())
