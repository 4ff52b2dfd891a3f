"""What cannot be run, and errors that name the field at fault."""

from __future__ import annotations

from typing import Any

from searchspace.errors import HamtuneError, InvalidInput

__all__ = ["Infeasible", "in_field"]


class Infeasible(HamtuneError):
    """A configuration that cannot be run, and why."""


def in_field(field: str, function: Any, *arguments: Any) -> Any:
    """Calls a function, so that its errors name the field."""
    try:
        return function(*arguments)
    except InvalidInput as error:
        raise InvalidInput(error.message, field=field) from None
