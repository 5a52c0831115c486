"""Objects from tables of the configuration: by a name of the library, or ``module:function``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from extensor.errors import value_error
from extensor.train.experiments.config import check_keys, nearest
from extensor.train.experiments.user_functions import (
    import_function,
    is_function_name,
    working_folder_last,
)

Choices = Mapping[str, Callable[..., Any]]


def built(path: str, table: Mapping[str, Any], choices: Choices, *given: Any, **filled: Any) -> Any:
    """Call what ``table["name"]`` names with the other keys of the table, after ``given``.

    ``filled`` are arguments that are passed if there is such a parameter and the table has no other.
    """
    function = named(path, table, choices)
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    options = {key: value for key, value in table.items() if key != "name"}
    names = [parameter.name for parameter in parameters[len(given) :]]
    if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
        check_keys(f"{path}.", options, names)
    options = {key: value for key, value in filled.items() if key in names} | options
    try:
        signature.bind(*given, **options)
    except TypeError as error:
        raise value_error("config", f"{path}: {error}", name=table["name"]) from None
    # The function may import its own modules only now.
    importing = working_folder_last() if is_function_name(table["name"]) else nullcontext()
    try:
        with importing:
            return function(*given, **options)
    except TypeError as error:
        raise value_error(
            "config", f"{path} must have values that fit ({error})", **options
        ) from error


def named(path: str, table: Mapping[str, Any], choices: Choices) -> Callable[..., Any]:
    """The function or class that the table's ``name`` stands for."""
    name = table.get("name")
    if not isinstance(name, str):
        raise value_error("config", f"{path}.name must be a string", name=name)
    if is_function_name(name):
        return import_function(path, name)
    if name not in choices:
        raise value_error("config", f"{path}: unknown name{nearest(name, choices)}", name=name)
    return choices[name]
