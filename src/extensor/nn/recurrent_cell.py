"""One step of a recurrence as a module, for loops of one's own, with PyTorch's keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extensor.arrays.dtypes import DType
from extensor.core.creation import empty
from extensor.core.tensor import Tensor
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn.parameter import Parameter
from extensor.nn.recurrent import Initial, Last, Recurrence, checked_nonlinearity
from extensor.ops import gru_cell, lstm_cell, rnn_cell
from extensor.ops.recurrent import Nonlinearity
from extensor.typing import TensorLike


@also_takes(**DEVICE)
class _Cell(Recurrence[Initial, Last]):
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

    def _step(self, x: Tensor, *states: Tensor) -> Last:
        raise NotImplementedError

    def forward(self, x: TensorLike, hx: Initial | None = None) -> Last:
        """Compute the next state.

        Parameters
        ----------
        x : tensor_like, (batch, input_size) or (input_size,)
            The input of the step.
        hx : tensor_like, (batch, hidden_size) or (hidden_size,), optional
            The state before the step, by default 0; for an LSTM a pair of hidden state and cell.

        Returns
        -------
        Tensor, or for an LSTM a pair
            The state after the step.
        """
        x = self._tensor(x)
        shape = (*x.shape[:-1], self.hidden_size)
        states = self._initial_states(hx, [shape] * self._states, x)
        if x.ndim != 1:
            return self._step(x, *states)
        after: Any = self._step(x.unsqueeze(0), *(state.unsqueeze(0) for state in states))
        last: Any = tuple(state[0] for state in after) if self._states > 1 else after[0]
        return last  # type: ignore[no-any-return]

    def _weights(self) -> tuple[Parameter | None, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh


@also_takes(**DEVICE)
class RNNCell(_Cell[TensorLike, Tensor]):
    """One step of a recurrent layer of Elman's kind.

    It is ``tanh(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh)``, or relu.

    Parameters
    ----------
    input_size : int
        Number of features of the input.
    hidden_size : int
        Number of features of the state.
    bias : bool, default True
        Whether to have the two biases.
    nonlinearity : {"tanh", "relu"}, default "tanh"
        Function that is applied to the sum.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight_ih : Parameter, (hidden_size, input_size)
        Weights of the input.
    weight_hh : Parameter, (hidden_size, hidden_size)
        Weights of the hidden state.
    bias_ih, bias_hh : Parameter, (hidden_size,)
        Biases, None with ``bias=False``. All parameters are initially uniform in ``[-b, b]`` with
        ``b = 1 / sqrt(hidden_size)``.

    Raises
    ------
    ValueError
        If ``nonlinearity`` is unknown. In a call, if the shapes do not fit.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    RNN : Whole sequences, which is faster.
    ex.rnn_cell : The function.

    Notes
    -----
    Shape: (batch, input_size) and a state (batch, hidden_size) -> the next state, of the same
    shape. The batch axis may be missing from all.

    Examples
    --------
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

    def _step(self, x: Tensor, *states: Tensor) -> Any:
        run: Callable[..., Tensor] = rnn_cell
        return run(x, *states, *self._weights(), nonlinearity=self.nonlinearity)


class GRUCell(_Cell[TensorLike, Tensor]):
    """One step of a gated recurrent unit.

    See `GRU` for the formula.

    Parameters
    ----------
    input_size : int
        Number of features of the input.
    hidden_size : int
        Number of features of the state.
    bias : bool, default True
        Whether to have the two biases.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight_ih : Parameter, (3 * hidden_size, input_size)
        Weights of the input. The rows are those of the gates r, z and n.
    weight_hh : Parameter, (3 * hidden_size, hidden_size)
        Weights of the hidden state.
    bias_ih, bias_hh : Parameter, (3 * hidden_size,)
        Biases, None with ``bias=False``. All parameters are initially uniform in ``[-b, b]`` with
        ``b = 1 / sqrt(hidden_size)``.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    GRU : Whole sequences, which is faster.
    ex.gru_cell : The function.

    Notes
    -----
    Shape: (batch, input_size) and a state (batch, hidden_size) -> the next state, of the same
    shape. The batch axis may be missing from all.

    Examples
    --------
    >>> import extensor as ex
    >>> cell, h = ex.nn.GRUCell(3, 4), None
    >>> for x in ex.ones((7, 5, 3)):
    ...     h = cell(x, h)
    >>> h.shape
    (5, 4)
    """

    _gates = 3

    def _step(self, x: Tensor, *states: Tensor) -> Any:
        return gru_cell(x, *states, *self._weights())


class LSTMCell(_Cell[tuple[TensorLike, TensorLike], tuple[Tensor, Tensor]]):
    """One step of long short-term memory.

    See `LSTM` for the formula. The state is a pair of the hidden state and the cell.

    Parameters
    ----------
    input_size : int
        Number of features of the input.
    hidden_size : int
        Number of features of the state.
    bias : bool, default True
        Whether to have the two biases.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight_ih : Parameter, (4 * hidden_size, input_size)
        Weights of the input. The rows are those of the gates i, f, g and o.
    weight_hh : Parameter, (4 * hidden_size, hidden_size)
        Weights of the hidden state.
    bias_ih, bias_hh : Parameter, (4 * hidden_size,)
        Biases, None with ``bias=False``. All parameters are initially uniform in ``[-b, b]`` with
        ``b = 1 / sqrt(hidden_size)``.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    LSTM : Whole sequences, which is faster.
    ex.lstm_cell : The function.

    Notes
    -----
    Shape: (batch, input_size) and a state pair of (batch, hidden_size) -> the next state, of the
    same shape. The batch axis may be missing from all.

    Examples
    --------
    >>> import extensor as ex
    >>> cell, state = ex.nn.LSTMCell(3, 4), None
    >>> for x in ex.ones((7, 5, 3)):
    ...     state = cell(x, state)
    >>> h, c = state
    >>> h.shape, c.shape
    ((5, 4), (5, 4))
    """

    _gates = 4
    _states = 2

    def _step(self, x: Tensor, *states: Tensor) -> Any:
        return lstm_cell(x, *states, *self._weights())
