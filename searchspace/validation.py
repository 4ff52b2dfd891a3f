"""Checking documents against models: errors name the field, what is wrong and what is allowed."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from searchspace.errors import InvalidInput

__all__ = ["Description", "check", "field_error"]

_FIELD_ERROR = "field_error"


def field_error(message: str, name: str | None = None) -> PydanticCustomError:
    """Makes an error about a field of the model being checked."""
    return PydanticCustomError(_FIELD_ERROR, "{message}", {"message": message, "name": name})


class Description(BaseModel):
    """A description that people write: immutable, and without unknown fields."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, value: Any) -> Any:
        if isinstance(value, dict) and cls.model_config["extra"] == "forbid":
            allowed = [field.alias or name for name, field in cls.model_fields.items()]
            for name in value:
                if name not in allowed:
                    raise field_error(f"unknown field; allowed: {', '.join(allowed)}", str(name))
        return value


Model = TypeVar("Model", bound=BaseModel)


def check(model: type[Model], document: Any) -> Model:
    """Builds a model from plain data.

    Raises:
        InvalidInput: The data does not fit; the message tells of the first error.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InvalidInput(_message(first), field=_path(first)) from None


def _path(error: ErrorDetails) -> str | None:
    # Tags of unions, written <...> in the models, tell people nothing.
    parts = [str(part) for part in error["loc"] if not str(part).startswith("<")]
    if error["type"] == _FIELD_ERROR and error["ctx"]["name"]:
        parts.append(error["ctx"]["name"])
    return ".".join(parts) or None


_PHRASES = {
    "missing": "is required",
    "literal_error": "unknown value {given}; allowed: {expected}",
    "too_short": "must list at least {min_length}",
    "string_too_short": "must not be empty",
    "value_error": "{error}",
    "model_type": "must be a group of fields, not {given}",
    "model_attributes_type": "must be a group of fields, not {given}",
    "dict_type": "must be a group of fields, not {given}",
    _FIELD_ERROR: "{message}",
}
"""What we say of pydantic's kinds of errors; {given} is the input."""


def _message(error: ErrorDetails) -> str:
    given = repr(error["input"])
    given = given if len(given) <= 60 else f"{given[:57]}..."
    context = {"message": error["msg"], **error.get("ctx", {}), "given": given}
    if "expected" in context:
        context["expected"] = str(context["expected"]).replace("'", "").replace(" or ", ", ")
    if error["type"] in _PHRASES:
        return _PHRASES[error["type"]].format_map(context)
    text = error["msg"].replace("Input should be", "must be").replace("Input should", "must")
    return f"{text.partition(', unable to parse')[0]}, not {given}"
