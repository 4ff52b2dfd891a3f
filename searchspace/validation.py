"""Checking documents against models: errors name the field, what is wrong and what is allowed."""

from __future__ import annotations

import ast
import difflib
import inspect
import re
import textwrap
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError

from searchspace.errors import InvalidDocument, InvalidInput

__all__ = ["Description", "check", "describe", "field_error", "field_errors", "nearest"]

_FIELD_ERROR = "field_error"
_OURS = (_FIELD_ERROR,)
_SIMILAR = 0.7
"""Of two names (`difflib`'s ratio): a letter or two apart."""


def field_error(message: str, name: str | None = None) -> PydanticCustomError:
    """Makes an error about a field of the model being checked."""
    return PydanticCustomError(_FIELD_ERROR, "{message}", {"message": message, "name": name})


def field_errors(errors: Sequence[tuple[str, str]]) -> PydanticCustomError:
    """Makes one error of several (field, message) about the model being checked."""
    name, message = errors[0]
    context = {"message": message, "name": name, "more": list(errors[1:])}
    return PydanticCustomError(_FIELD_ERROR, "{message}", context)


class Description(BaseModel):
    """A description that people write: immutable, and without unknown fields.

    What stands in the source below a field describes it in the JSON schema. It is read when a
    schema is asked for: pydantic's `use_attribute_docstrings` reads it at every import, which takes
    a tenth of the start of a command.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, text in _descriptions(cls).items():
            if name in properties:
                properties[name].setdefault("description", text)
        return schema

    @model_validator(mode="wrap")
    @classmethod
    def _name_the_known_fields(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Adds to errors about unknown fields which ones there are."""
        try:
            return handler(value)
        except ValidationError as error:
            known = [field.alias or name for name, field in cls.model_fields.items()]
            lines: list[InitErrorDetails] = []
            for found in error.errors(include_url=False):
                kind: str | PydanticCustomError = found["type"]
                if kind == "extra_forbidden" and len(found["loc"]) == 1:
                    kind = field_error(
                        f"unknown field; allowed: {', '.join(known)}"
                        + nearest(str(found["loc"][0]), known)
                    )
                elif found["type"] in _OURS:
                    kind = PydanticCustomError(found["type"], found["msg"], found.get("ctx", {}))
                lines.append(
                    {
                        "type": kind,
                        "loc": found["loc"],
                        "input": found["input"],
                        "ctx": found.get("ctx", {}),
                    }
                )
            raise ValidationError.from_exception_data(cls.__name__, lines) from None


def _descriptions(model: type[BaseModel]) -> dict[str, str]:
    """What the sources of a model and of those that it extends say of each field, by alias."""
    texts: dict[str, str] = {}
    for owner in reversed(model.__mro__[: model.__mro__.index(Description)]):
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        assert isinstance(definition, ast.ClassDef)
        for field, below in pairwise(definition.body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                match below:
                    case ast.Expr(ast.Constant(str(text))):
                        texts[field.target.id] = inspect.cleandoc(text)
    return {
        model.model_fields[name].alias or name: text
        for name, text in texts.items()
        if name in model.model_fields
    }


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: which one was meant, if one is similar."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=_SIMILAR)
    return f"; did you mean '{close[0]}'?" if close else ""


Model = TypeVar("Model", bound=BaseModel)


def check(model: type[Model], document: Any) -> Model:
    """Builds a model from plain data.

    Raises:
        InvalidInput: The data does not fit; `InvalidDocument` where it has several mistakes.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        found = [mistake for one in error.errors(include_url=False) for mistake in _mistakes(one)]
        if len(found) == 1:
            raise found[0] from None
        raise InvalidDocument(found) from None


def _mistakes(error: ErrorDetails) -> list[InvalidInput]:
    path = _path(error)
    mistakes = [InvalidInput(describe(error), field=path)]
    if error["type"] == _FIELD_ERROR:
        owner = [str(part) for part in error["loc"] if not str(part).startswith("<")]
        for name, message in error["ctx"].get("more", ()):
            mistakes.append(InvalidInput(message, field=".".join([*owner, name])))
    return mistakes


def _path(error: ErrorDetails) -> str | None:
    # Tags of unions, written <...> in the models, tell people nothing.
    parts = [str(part) for part in error["loc"] if not str(part).startswith("<")]
    if error["type"] == _FIELD_ERROR and error["ctx"]["name"]:
        parts.append(error["ctx"]["name"])
    return ".".join(parts) or None


_CHARACTERS = re.compile(r"\^(\[[^][]+\])[+*]\$")
"""Of patterns that say nothing but which characters there may be."""

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


def describe(error: ErrorDetails) -> str:
    """Says in our words what one of pydantic's errors is about."""
    given = repr(error["input"])
    given = given if len(given) <= 60 else f"{given[:57]}..."
    context = {"message": error["msg"], **error.get("ctx", {}), "given": given}
    if "expected" in context:
        context["expected"] = str(context["expected"]).replace("'", "").replace(" or ", ", ")
    if error["type"] == "string_pattern_mismatch":
        allowed = _CHARACTERS.fullmatch(context["pattern"])
        wrong = [one for one in error["input"] if allowed and not re.fullmatch(allowed[1], one)]
        if wrong:
            return f"must not contain {wrong[0]!r}"
    if error["type"] in _PHRASES:
        return _PHRASES[error["type"]].format_map(context)
    text = re.sub("^(Input|String) should ", "must ", error["msg"])
    return f"{text.partition(', unable to parse')[0]}, not {given}"
