"""Reading YAML and JSON documents from people and from the network, as plain data."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from typing import Any

import yaml

from searchspace.errors import InvalidInput

__all__ = ["LARGEST_DOCUMENT", "read_document"]

LARGEST_DOCUMENT = 2**20
"""Bytes of the largest document that is read."""

_MOST_DIGITS = 1000  # of a number, which Python can then also write in decimal


def read_document(text: str | bytes) -> Any:
    """Reads a JSON or YAML document: mappings, lists, strings, numbers, booleans, null.

    Raises:
        InvalidInput: It is larger than 1 MiB, not text, not JSON or YAML, names a key twice, or
            uses what no description needs: aliases, tags, numbers that are not finite or of
            thousands of digits, halves of characters.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError:
            raise InvalidInput("the document is not UTF-8 text") from None
    if len(text.encode(errors="surrogatepass")) > LARGEST_DOCUMENT:
        raise InvalidInput("the document is larger than 1 MiB")
    try:
        # JSON first: it is nearly a subset of YAML, but numbers like 1e-3 are not.
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except json.JSONDecodeError:
        value = _read_yaml(text)
    except RecursionError:
        raise InvalidInput("the document is nested too deeply") from None
    except ValueError:  # Python's own, of whole numbers
        raise InvalidInput("the document holds a number of too many digits") from None
    _check_scalars(value)
    return value


def _check_scalars(document: Any) -> None:
    """Refuse what JSON, and so no database and no answer, can hold."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, float) and not math.isfinite(value):
            raise InvalidInput(f"the document holds a number that is not finite ({value})")
        elif isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError:
                raise InvalidInput(f"the document holds half a character: {value[:40]!a}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise InvalidInput("is given twice", field=name)
        values[name] = value
    return values


def _refuse_constant(name: str) -> None:
    raise InvalidInput(f"{name} is not a number")


def _read_yaml(text: str) -> Any:
    try:
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = error.problem or "not YAML"
        if "'\\t'" in problem:
            problem = "a tab, where YAML is indented by spaces"
        raise InvalidInput(f"{place}{problem}") from None
    except yaml.YAMLError:
        raise InvalidInput("the document is not YAML text") from None
    except RecursionError:
        raise InvalidInput("the document is nested too deeply") from None
    except ValueError as error:
        raise InvalidInput(f"the document holds a value that cannot be read: {error}") from None


_BOOLEAN, _TEXT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:str"
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_TAGGED = (yaml.ScalarEvent, yaml.SequenceStartEvent, yaml.MappingStartEvent)


class _StrictLoader(yaml.SafeLoader):
    """A safe loader without repeated keys, aliases (which can blow a small file up), and tags.

    Of the tags that PyYAML deems safe several end in an IndexError, a KeyError or the like where
    the value does not fit them. What looks like a date is text, as in JSON.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:
        # Hexadecimal digits escape Python's limit; those of base 60 take time by their square.
        if node.tag in _NUMBERS and len(node.value) > _MOST_DIGITS:
            raise yaml.MarkedYAMLError(
                problem="the number has too many digits", problem_mark=node.start_mark
            )
        return super().construct_scalar(node)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            mark = self.get_mark()
            raise yaml.MarkedYAMLError(problem="aliases are not allowed", problem_mark=mark)
        if isinstance(event, _TAGGED) and event.tag not in (None, "!"):
            begin: Any = event.start_mark
            raise yaml.MarkedYAMLError(problem="tags are not allowed", problem_mark=begin)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            # Such a key ends in an error anyway, once its text is written out at each level of it.
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(
                    problem="a key is a list or a mapping; keys are names",
                    problem_mark=key.start_mark,
                )
            if key.tag == _BOOLEAN:
                key.tag = _TEXT  # `on` is the name of a field; nothing is named by a truth value
            name = str(key.value)
            if name in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"'{name}' is given twice", problem_mark=key.start_mark
                )
            seen.add(name)
        return super().construct_mapping(node, deep)
