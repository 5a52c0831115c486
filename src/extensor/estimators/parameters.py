"""The parameters of an estimator: what its constructor takes, read, set and shown."""

from __future__ import annotations

import inspect
from html import escape
from typing import Any, TypeVar

from extensor.errors import arguments, shown, value_error
from extensor.train.experiments.config import nearest

Self = TypeVar("Self", bound="Parametrized")

_TABLE = (
    '<table style="border-collapse: collapse">'
    '<caption style="text-align: left; font-weight: bold">{head}</caption>{rows}</table>'
)
_ROW = '<tr><td style="text-align: left">{name}</td><td style="text-align: left">{value}</td></tr>'


class Parametrized:
    """Keeps what the constructor is given as attributes of the same names, as it is given."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = inspect.signature(cls).parameters
        return {name: parameter.default for name, parameter in parameters.items()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; none holds others, so ``deep`` changes nothing."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self: Self, **params: Any) -> Self:
        """Set parameters by name; the next fit looks at them."""
        known = self._defaults()
        for name in params:
            if name not in known:
                op = f"{type(self).__name__}.set_params"
                requirement = f"{name} must be a parameter{nearest(name, known)}"
                raise value_error(op, requirement, **{name: arguments.briefly(params[name])})
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def _changed(self) -> dict[str, str]:
        """The parameters that are no defaults, as they are shown."""
        return {
            name: repr(shown(value))
            for name, value in self.get_params().items()
            # By what they look like, as arrays have no one answer to being equal.
            if repr(value) != repr(self._defaults()[name])
        }

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self._changed().items())
        return f"{type(self).__name__}({given})"

    def _facts(self) -> dict[str, Any]:
        """What there is to say of a fitted one."""
        return {}

    def _repr_html_(self) -> str:
        """A table of the parameters that are no defaults, and of what was learned."""
        facts = {name: str(value) for name, value in self._facts().items()}
        rows = {**self._changed(), **(facts or {"fitted": "not yet"})}
        cells = "".join(_ROW.format(name=escape(k), value=escape(v)) for k, v in rows.items())
        return _TABLE.format(head=escape(type(self).__name__), rows=cells)
