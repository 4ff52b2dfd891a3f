"""What the JSON schema says of `search` beyond its fields: every name that may be listed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel
from pydantic.config import JsonDict

from searchspace.choices import MAPPINGS
from searchspace.collectives import COLLECTIVES, DEFAULT, SELECTORS
from searchspace.collectives.by_size import MOST_RANGES
from searchspace.collectives.decision_table import SIZED
from searchspace.collectives.equivalents import TARGETS
from searchspace.jobspec.search_names import ALL, offered
from searchspace.ordering import ORDERINGS
from searchspace.platform import GIVEN
from searchspace.topology import FAMILIES
from searchspace.transport import SETTINGS

__all__ = ["name_the_choices"]


def name_the_choices(schema: JsonDict, model: type[BaseModel]) -> None:
    """Tells the JSON schema what validators know: each name, and that one need not be a list.

    Defaults that the model makes anew for each document are told as well.
    """
    fields = cast("dict[str, Any]", schema["properties"])
    for name, field in model.model_fields.items():
        if field.default_factory is not None:
            fields[name]["default"] = field.get_default(call_default_factory=True)
    topology = fields["topology"]["anyOf"][0]["items"]["oneOf"][1]
    mapping = fields["mapping"]["items"]["oneOf"][1]
    of_field = {
        "topology": [_names(*FAMILIES, GIVEN), topology],
        "ordering": [_names(*ORDERINGS)],
        "mapping": [_names(*MAPPINGS), mapping],
        "mpi": [_names(*SELECTORS, DEFAULT)],
    }
    for name, items in of_field.items():
        fields[name] = {**_described(fields[name]), "anyOf": _one_or_several(*items)}
    fields["topology"]["anyOf"].append({"type": "null"})
    fields["collectives"] = {**_described(fields["collectives"]), **_algorithms()}
    fields["protocol"] = {**_described(fields["protocol"]), **_settings()}
    fields["by_size"] = {**_described(fields["by_size"]), **_ranges()}
    fields["target"] = {
        **_described(fields["target"]),
        "anyOf": [_names(*TARGETS), {"type": "null"}],
    }


def _algorithms() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            name: {"anyOf": _one_or_several(_names(ALL, DEFAULT, *offered(name)))}
            for name in COLLECTIVES
        },
        "additionalProperties": False,
    }


def _settings() -> dict[str, Any]:
    scalar = {"type": ["string", "integer", "number"]}
    by_name = {
        "type": "object",
        "properties": {name: {"anyOf": _one_or_several(scalar)} for name in SETTINGS},
        "additionalProperties": False,
    }
    return {"anyOf": [{"const": ALL}, by_name]}


def _ranges() -> dict[str, Any]:
    begin = {"type": ["integer", "string"], "examples": ["64KiB"]}
    begins = [begin, {"type": "array", "minItems": 1, "maxItems": MOST_RANGES - 1, "items": begin}]
    by_collective = {
        "type": "object",
        "properties": {name: {"anyOf": begins} for name in SIZED},
        "additionalProperties": False,
    }
    return {"anyOf": [{"type": "boolean"}, by_collective]}


def _names(*names: str) -> dict[str, Any]:
    return {"enum": list(names)}


def _described(field: Mapping[str, Any]) -> dict[str, Any]:
    return {key: field[key] for key in ("default", "description", "title") if key in field}


def _one_or_several(*items: Mapping[str, Any]) -> list[dict[str, Any]]:
    several = {
        "type": "array",
        "minItems": 1,
        "uniqueItems": True,
        "items": {"anyOf": list(items)},
    }
    return [*map(dict, items), several]
