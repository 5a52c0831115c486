"""Modules whose input sizes are not given: the first call fixes them."""

from __future__ import annotations

from typing import Any, ClassVar

from extensor.core.creation import asarray
from extensor.errors import value_error
from extensor.nn.module import Module


class LazyModule(Module):
    """The base of modules that become those of their base class in the first call."""

    _made: ClassVar[Any]
    _size: ClassVar[str]  # the first argument of that class, which is not given
    _ndims: ClassVar[tuple[int, ...]] = ()  # of a batch, and perhaps of one sample
    _lazy_options: dict[str, Any]

    def _keep(self, **options: Any) -> None:
        self._lazy_options = options
        for name, value in options.items():
            if name not in ("bias", "dtype"):
                setattr(self, name, value)

    def _input_size(self, shape: tuple[int, ...]) -> int:
        """The size that the class needs, from the shape of an input: that of the channels."""
        if len(shape) not in self._ndims:
            wanted = " or ".join(map(str, self._ndims))
            raise value_error(type(self).__name__, f"x must have {wanted} axes", x_shape=shape)
        return shape[1 if len(shape) == self._ndims[0] else 0]

    def forward(self, x: Any) -> Any:
        """Make the parameters for ``x``, and compute the output as a module of the base class.

        Parameters
        ----------
        x : tensor_like
            The input, whose size fixes the parameters.

        Returns
        -------
        Tensor
            The output.
        """
        self._make(x)
        return self.forward(x)

    def _make(self, x: Any) -> None:
        """Become a module of the base class, of a size that fits ``x``."""
        made = self._made(self._input_size(asarray(x).shape), **self._lazy_options)
        for name in ("_lazy_options", *self._lazy_options):
            vars(self).pop(name, None)
        vars(self).update(vars(made))
        self.__class__ = self._made

    def _check_made(self) -> None:
        wanted = (
            f"the first call fixes {self._size}; call the module before its parameters are needed"
        )
        raise value_error(type(self).__name__, wanted, **{self._size: None})

    def __getattr__(self, name: str) -> Any:
        if name in (
            "weight",
            "bias",
            "running_mean",
            "running_var",
            "num_batches_tracked",
            self._size,
        ):
            text = (
                f"{type(self).__name__}: there is no {name} before the first call, which fixes it"
            )
            raise AttributeError(text, name=name, obj=None)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
