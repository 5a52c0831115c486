"""Recurrent layers, several on top of each other and in both directions, with PyTorch's keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any, Generic, TypeVar

from extensor.arrays.dtypes import DType
from extensor.arrays.shapes import Shape
from extensor.core.creation import asarray, empty, zeros
from extensor.core.tensor import Tensor
from extensor.errors import shown, type_error, value_error
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn import init
from extensor.nn.layer_inputs import in_dtype_of
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter
from extensor.ops import concatenate, dropout, flip, gru, linear, lstm, matmul, rnn, stack
from extensor.ops.recurrent import NONLINEARITIES, Nonlinearity
from extensor.typing import TensorLike

States = tuple[Tensor, ...]
Initial = TypeVar("Initial")  # what a call may be given to begin with
Last = TypeVar("Last")  # and the same as it is in the end


def checked_nonlinearity(name: str, nonlinearity: Nonlinearity) -> Nonlinearity:
    if nonlinearity not in NONLINEARITIES:
        requirement = f"nonlinearity must be one of {NONLINEARITIES}"
        raise value_error(name, requirement, nonlinearity=nonlinearity)
    return nonlinearity


MOST_LAYERS = 10_000  # more are a slip, and would be made one by one for hours


class Recurrence(Module, Generic[Initial, Last]):
    """The base of layers and cells: initial weights, and the states given to a call."""

    _gates: int
    proj_size = 0
    _first_weight = "weight_ih_l0"
    _states = 1  # how many tensors the recurrence carries from step to step
    hidden_size: int

    def reset_parameters(self) -> None:
        """Draw new initial values, uniform in ``[-b, b]`` with ``b = 1 / sqrt(hidden_size)``."""
        bound = 1 / sqrt(self.hidden_size) if self.hidden_size else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _tensor(self, x: Any) -> Tensor:
        return asarray(in_dtype_of(self, getattr(self, self._first_weight), x))

    def _initial_states(self, hx: Any, shapes: Sequence[Shape], x: Tensor) -> States:
        """The states that are given, or zeros of the dtype of ``x``."""
        if hx is None:
            return tuple(zeros(shape, x.dtype) for shape in shapes)
        if self._states > 1 and not isinstance(hx, list | tuple):
            requirement = f"hx must be a tuple of {self._states} tensors"
            raise type_error(type(self).__name__, requirement, hx=shown(hx))
        states = tuple(self._tensor(state) for state in (hx if self._states > 1 else (hx,)))
        given = [state.shape for state in states]
        if given != list(shapes):
            alike = len(set(shapes)) == 1
            wanted = f"{self._states} of shape {shapes[0]}" if alike else f"of shapes {shapes}"
            raise value_error(type(self).__name__, f"hx must be {wanted}", shapes=given)
        return states


@also_takes(**DEVICE)
class _Layers(Recurrence[Initial, Last]):
    """Layers and directions of one recurrence, which a subclass gives as ``_run``.

    The weights of layer k are ``weight_ih_lk`` (gates * hidden_size, inputs), ``weight_hh_lk``
    (gates * hidden_size, hidden_size), ``bias_ih_lk`` and ``bias_hh_lk`` (gates * hidden_size,);
    those of the backward direction end in ``_reverse``.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        *,
        dtype: DType = None,
    ) -> None:
        if num_layers < 1:
            raise value_error(
                type(self).__name__, "num_layers must be 1 or more", num_layers=num_layers
            )
        if num_layers > MOST_LAYERS:
            requirement = f"num_layers must be at most {MOST_LAYERS}"
            raise value_error(type(self).__name__, requirement, num_layers=num_layers)
        if not 0 <= dropout <= 1:
            raise value_error(type(self).__name__, "dropout must be in [0, 1]", dropout=dropout)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        self._names: list[list[str]] = []
        directions = ("", "_reverse") if bidirectional else ("",)
        rows, output_size = self._gates * hidden_size, self.proj_size or hidden_size
        for layer in range(num_layers):
            inputs = output_size * len(directions) if layer else input_size
            for direction in directions:
                end = f"_l{layer}{direction}"
                shapes: dict[str, Shape] = {
                    f"weight_ih{end}": (rows, inputs),
                    f"weight_hh{end}": (rows, output_size),
                }
                if bias:
                    shapes |= {f"bias_ih{end}": (rows,), f"bias_hh{end}": (rows,)}
                if self.proj_size:
                    shapes[f"weight_hr{end}"] = (output_size, hidden_size)
                for name, shape in shapes.items():
                    self.register_parameter(name, Parameter(empty(shape, dtype)))
                self._names.append(list(shapes))
        self.reset_parameters()

    def _run(self, x: Tensor, states: States, weights: list[Parameter]) -> tuple[Tensor, States]:
        """One layer in one direction over (time, batch, inputs): the outputs, the last states."""
        raise NotImplementedError

    def forward(self, x: TensorLike, hx: Initial | None = None) -> tuple[Tensor, Last]:
        """Run all layers over a sequence.

        Parameters
        ----------
        x : tensor_like, (steps, batch, input_size)
            The sequences: with ``batch_first`` (batch, steps, input_size), and (steps, input_size)
            for one without a batch axis.
        hx : tensor_like, (num_layers * directions, batch, hidden_size), optional
            The first states, by default 0; an LSTM takes a pair of hidden states and cells. Without
            a batch axis in ``x`` they have none.

        Returns
        -------
        output : Tensor, (steps, batch, directions * hidden_size)
            The hidden states of the last layer at each step, in the layout of ``x``.
        state : Tensor, or for an LSTM a pair
            The last states of all layers and directions, in the layout of ``hx``.
        """
        x = self._tensor(x)
        has_batch = x.ndim == 3
        if not has_batch:
            x = x.unsqueeze(1)
        elif self.batch_first:
            x = x.swapaxes(0, 1)
        first = self._first_states(hx, x, has_batch)
        directions = 2 if self.bidirectional else 1
        last: list[States] = []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                index = layer * directions + direction
                weights = [getattr(self, name) for name in self._names[index]]
                begin = tuple(state[index] for state in first)
                output, end = self._run(flip(x, 0) if direction else x, begin, weights)
                outputs.append(flip(output, 0) if direction else output)
                last.append(end)
            x = concatenate(outputs, -1) if self.bidirectional else outputs[0]
            if self.dropout and layer + 1 < self.num_layers:
                x = dropout(x, self.dropout, self.training)
        if not has_batch:
            x = x[:, 0]
        elif self.batch_first:
            x = x.swapaxes(0, 1)
        return x, self._last_states(last, has_batch)

    def _first_states(self, hx: Any, x: Tensor, has_batch: bool) -> States:
        batch = (x.shape[1],) if has_batch else ()
        widths = (self.proj_size or self.hidden_size, self.hidden_size)[: self._states]
        shapes = [(len(self._names), *batch, width) for width in widths]
        states = self._initial_states(hx, shapes, x)
        return states if has_batch else tuple(state.unsqueeze(1) for state in states)

    def _last_states(self, last: Sequence[States], has_batch: bool) -> Any:
        stacked = [stack(states) for states in zip(*last, strict=True)]
        result = stacked if has_batch else [state[:, 0] for state in stacked]
        return tuple(result) if self._states > 1 else result[0]


@also_takes(**DEVICE, proj_size=(0,))
class RNN(_Layers[TensorLike, Tensor]):
    """Recurrent layers of Elman's kind, on top of each other and in one or both directions.

    Each step computes::

        h = tanh(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh)

    Parameters
    ----------
    input_size : int
        Number of features of the input at each step.
    hidden_size : int
        Number of features of the hidden state.
    num_layers : int, default 1
        Number of layers. Each but the first reads the outputs of the one below.
    nonlinearity : {"tanh", "relu"}, default "tanh"
        Function that is applied at each step.
    bias : bool, default True
        Whether to have the two biases.
    batch_first : bool, default False
        Whether the batch is the first axis of inputs and outputs, instead of the steps. States are
        not affected.
    dropout : float, default 0.0
        Probability of dropout on the outputs of every layer but the last, in training.
    bidirectional : bool, default False
        Whether a second recurrence in each layer reads the sequence from its end. Outputs of both
        directions are concatenated.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight_ih_l{k} : Parameter, (hidden_size, inputs)
        Weights of the input of layer k, where ``inputs`` is ``input_size`` for layer 0, else
        ``hidden_size`` times the number of directions.
    weight_hh_l{k} : Parameter, (hidden_size, hidden_size)
        Weights of the hidden state.
    bias_ih_l{k}, bias_hh_l{k} : Parameter, (hidden_size,)
        Biases, unless ``bias=False``. Names of the second direction end in ``_reverse``. All
        parameters are initially uniform in ``[-b, b]`` with ``b = 1 / sqrt(hidden_size)``.

    Raises
    ------
    ValueError
        If ``num_layers`` is not from 1 to 10000, ``nonlinearity`` is unknown or ``dropout`` is not
        in [0, 1]. In a call, if the shapes do not fit.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    RNNCell : One step, for loops written by hand.
    ex.rnn : The function of one layer in one direction.

    Notes
    -----
    Shape: (steps, batch, input_size), or with ``batch_first`` (batch, steps, input_size), or
    without a batch (steps, input_size) -> the same with ``hidden_size`` times the number of
    directions as the last size, and the last states (num_layers * directions, batch, hidden_size).

    References
    ----------
    Elman, "Finding structure in time", 1990.

    Examples
    --------
    >>> import extensor as ex
    >>> output, state = ex.nn.RNN(3, 4, num_layers=2)(ex.ones((7, 5, 3)))
    >>> output.shape, state.shape
    ((7, 5, 4), (2, 5, 4))
    """

    _gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: Nonlinearity = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        *,
        dtype: DType = None,
    ) -> None:
        self.nonlinearity = checked_nonlinearity("RNN", nonlinearity)
        options = (bias, batch_first, dropout, bidirectional)
        super().__init__(input_size, hidden_size, num_layers, *options, dtype=dtype)

    def _run(self, x: Tensor, states: States, weights: list[Parameter]) -> tuple[Tensor, States]:
        run: Callable[..., Tensor] = rnn  # with or without biases, which a list does not tell
        output = run(x, *states, *weights, nonlinearity=self.nonlinearity)
        return output, (output[-1],)


@also_takes(**DEVICE, proj_size=(0,))
class GRU(_Layers[TensorLike, Tensor]):
    """Gated recurrent units, on top of each other and in one or both directions.

    Each step computes::

        r = sigmoid(W_ir @ x + b_ir + W_hr @ h + b_hr)
        z = sigmoid(W_iz @ x + b_iz + W_hz @ h + b_hz)
        n = tanh(W_in @ x + b_in + r * (W_hn @ h + b_hn))
        h = (1 - z) * n + z * h

    Parameters
    ----------
    input_size : int
        Number of features of the input at each step.
    hidden_size : int
        Number of features of the hidden state.
    num_layers : int, default 1
        Number of layers. Each but the first reads the outputs of the one below.
    bias : bool, default True
        Whether to have the two biases.
    batch_first : bool, default False
        Whether the batch is the first axis of inputs and outputs, instead of the steps. States are
        not affected.
    dropout : float, default 0.0
        Probability of dropout on the outputs of every layer but the last, in training.
    bidirectional : bool, default False
        Whether a second recurrence in each layer reads the sequence from its end. Outputs of both
        directions are concatenated.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight_ih_l{k} : Parameter, (3 * hidden_size, inputs)
        Weights of the input of layer k, where ``inputs`` is ``input_size`` for layer 0, else
        ``hidden_size`` times the number of directions. The rows are those of the gates r, z and n,
        one below the other.
    weight_hh_l{k} : Parameter, (3 * hidden_size, hidden_size)
        Weights of the hidden state.
    bias_ih_l{k}, bias_hh_l{k} : Parameter, (3 * hidden_size,)
        Biases, unless ``bias=False``. Names of the second direction end in ``_reverse``. All
        parameters are initially uniform in ``[-b, b]`` with ``b = 1 / sqrt(hidden_size)``.

    Raises
    ------
    ValueError
        If ``num_layers`` is not from 1 to 10000 or ``dropout`` is not in [0, 1]. In a call, if the
        shapes do not fit.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    GRUCell : One step, for loops written by hand.
    ex.gru : The function of one layer in one direction.

    Notes
    -----
    Shape: (steps, batch, input_size), or with ``batch_first`` (batch, steps, input_size), or
    without a batch (steps, input_size) -> the same with ``hidden_size`` times the number of
    directions as the last size, and the last states (num_layers * directions, batch, hidden_size).

    References
    ----------
    Cho et al., "Learning phrase representations using RNN encoder-decoder", 2014.

    Examples
    --------
    >>> import extensor as ex
    >>> gru = ex.nn.GRU(3, 4, batch_first=True, bidirectional=True)
    >>> output, state = gru(ex.ones((5, 7, 3)))
    >>> output.shape, state.shape
    ((5, 7, 8), (2, 5, 4))
    >>> gru.weight_ih_l0.shape, gru.weight_hh_l0_reverse.shape
    ((12, 3), (12, 4))
    """

    _gates = 3

    def _run(self, x: Tensor, states: States, weights: list[Parameter]) -> tuple[Tensor, States]:
        output = gru(x, *states, *weights)
        return output, (output[-1],)


@also_takes(**DEVICE)
class LSTM(_Layers[tuple[TensorLike, TensorLike], tuple[Tensor, Tensor]]):
    """Long short-term memory, in layers on top of each other and in one or both directions.

    Each step computes::

        i = sigmoid(W_ii @ x + b_ii + W_hi @ h + b_hi)
        f = sigmoid(W_if @ x + b_if + W_hf @ h + b_hf)
        g = tanh(W_ig @ x + b_ig + W_hg @ h + b_hg)
        o = sigmoid(W_io @ x + b_io + W_ho @ h + b_ho)
        c = f * c + i * g
        h = o * tanh(c)

    The state is a pair of the hidden state ``h`` and the cell ``c``.

    Parameters
    ----------
    input_size : int
        Number of features of the input at each step.
    hidden_size : int
        Number of features of the hidden state.
    num_layers : int, default 1
        Number of layers. Each but the first reads the outputs of the one below.
    bias : bool, default True
        Whether to have the two biases.
    batch_first : bool, default False
        Whether the batch is the first axis of inputs and outputs, instead of the steps. States are
        not affected.
    dropout : float, default 0.0
        Probability of dropout on the outputs of every layer but the last, in training.
    bidirectional : bool, default False
        Whether a second recurrence in each layer reads the sequence from its end. Outputs of both
        directions are concatenated.
    proj_size : int, default 0
        Size of the projection ``W_hr @ h`` that is output in place of h and read by the next step; 0
        for none. It must be smaller than ``hidden_size``.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight_ih_l{k} : Parameter, (4 * hidden_size, inputs)
        Weights of the input of layer k, where ``inputs`` is ``input_size`` for layer 0, else
        ``hidden_size`` times the number of directions. The rows are those of the gates i, f, g and
        o, one below the other.
    weight_hh_l{k} : Parameter, (4 * hidden_size, hidden_size)
        Weights of the hidden state. With a projection there are ``proj_size`` columns.
    weight_hr_l{k} : Parameter, (proj_size, hidden_size)
        The projection, if there is one.
    bias_ih_l{k}, bias_hh_l{k} : Parameter, (4 * hidden_size,)
        Biases, unless ``bias=False``. Names of the second direction end in ``_reverse``. All
        parameters are initially uniform in ``[-b, b]`` with ``b = 1 / sqrt(hidden_size)``.

    Raises
    ------
    ValueError
        If ``num_layers`` is not from 1 to 10000 ``dropout`` is not in [0, 1] or ``proj_size``
        is not smaller than ``hidden_size``. In a call, if the shapes do not fit.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    LSTMCell : One step, for loops written by hand.
    ex.lstm : The function of one layer in one direction.

    Notes
    -----
    Shape: (steps, batch, input_size), or with ``batch_first`` (batch, steps, input_size), or
    without a batch (steps, input_size) -> the same with ``hidden_size`` times the number of
    directions as the last size, and the last ``(h, c)``, each (num_layers * directions, batch,
    hidden_size).

    References
    ----------
    Hochreiter and Schmidhuber, "Long short-term memory", 1997.

    Examples
    --------
    >>> import extensor as ex
    >>> lstm = ex.nn.LSTM(3, 4)
    >>> output, (h, c) = lstm(ex.ones((7, 5, 3)))
    >>> output.shape, h.shape, c.shape
    ((7, 5, 4), (1, 5, 4), (1, 5, 4))
    >>> output, (h, c) = lstm(ex.ones((2, 5, 3)), (h, c))
    """

    _gates = 4
    _states = 2

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        *,
        dtype: DType = None,
    ) -> None:
        if not 0 <= proj_size < max(hidden_size, 1):
            got = {"proj_size": proj_size, "hidden_size": hidden_size}
            raise value_error("LSTM", "proj_size must be in [0, hidden_size)", **got)
        self.proj_size = proj_size
        options = (num_layers, bias, batch_first, dropout, bidirectional)
        super().__init__(input_size, hidden_size, *options, dtype=dtype)

    def _run(self, x: Tensor, states: States, weights: list[Parameter]) -> tuple[Tensor, States]:
        if self.proj_size:
            return self._run_projected(x, states, weights)
        output, cell = lstm(x, *states, *weights)
        return output, (output[-1], cell)

    def _run_projected(
        self, x: Tensor, states: States, weights: list[Parameter]
    ) -> tuple[Tensor, States]:
        """The recurrence of what is projected, whose weights are ``weight_hh @ weight_hr``.

        What the first step reads has been projected already: it is part of its input.
        """
        to_gates, from_output, *biases, projection = weights
        recurrent, (h, cell) = matmul(from_output, projection), states
        none = zeros((x.shape[1], self.hidden_size), x.dtype)
        both = concatenate([to_gates, from_output], 1)
        first, cell = lstm(concatenate([x[:1], h[None]], 2), none, cell, both, recurrent, *biases)
        hidden = first
        if x.shape[0] > 1:
            others, cell = lstm(x[1:], first[0], cell, to_gates, recurrent, *biases)
            hidden = concatenate([first, others])
        output = linear(hidden, projection)
        return output, (output[-1], cell)
