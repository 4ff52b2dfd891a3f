"""Writes the reference of the fields of job files, `docs/job-fields.md`, from their schema.

`python -m deploy.job_fields` writes it anew; with `--check` it ends with 1 where it is not what it
would write. Change the models in `searchspace`, whose descriptions these are, and run it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from searchspace.documents import read_document
from searchspace.schema import file_schema

__all__ = ["PAGE", "SAMPLE", "main", "page"]

_ROOT = Path(__file__).resolve().parent.parent
PAGE = _ROOT / "docs" / "job-fields.md"

_HEAD = """\
# Fields of job files

Every field that a job file may have, with what it takes and what it means if it is left out.
`python -m deploy.job_fields` writes this page from the schema that checks job files
(`hamtune schema job`). [Job files](job-files.md) explains how to write one. A quantity may be
a number in SI base units (seconds, bytes, bytes/s, flop/s) or a text with a unit: `10min`, `4GiB`,
`40Gbps` (bits), `5GBps` (bytes), `100Gf`.
"""
SAMPLE = """
name: cg-64
application:
  source: solver/
  build: make CLASS=A
  run: bin/solver 100
  ranks: 64
  host_speed_of_capture: 2Gf
machine:
  nodes: 64
  degree: 6
  host_speed: 100Gf
  link_bandwidth: 40Gbps
  host_link_bandwidth: 10Gbps
  interface_bandwidth: 100Gbps
  memory_bandwidth: 20GBps
  switch_bandwidth: 10Pbps
search:
  topology: [random, fat-tree]
  collectives: {allreduce: all}
budget:
  trials: 400
  evaluations: 300
  wall_seconds: 10min
  cpu_seconds: 5h
  target: 40ms
  patience: 30
  until: 1%
constraints: {cost: "<= 250000", power: "<= 9000", switches: 80, cables: "<= 400"}
techniques: [Surrogate]
concurrency: 4
"""
"""A job file with fields that those in `examples` do not use."""
_LIMITS = (
    ("minimum", "at least {}"),
    ("exclusiveMinimum", "above {}"),
    ("maximum", "at most {}"),
    ("exclusiveMaximum", "below {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} items"),
    ("maxItems", "at most {} items"),
)
_PLAIN = (("minLength", 1), ("minItems", 1))
"""Limits that need no words."""
_SHARED = {"Machine": "`machine`", "Reference": "`application` or `machine` with `id`"}
"""Titles of models that their place does not tell."""
_MORE = {"BuiltinApplication": "Each [program](applications/README.md) tells its own."}
"""What is added to the descriptions of models, of where to read on."""
_LONG = 60
"""Characters of a default or example; a longer one would hide the table."""


def page() -> str:
    """The whole page in Markdown."""
    whole = file_schema("job")
    names = _names(whole)
    used = _used()
    sections = [_section("The job", whole, names, used)]
    for model, title in names.items():
        place = re.sub(r"`([\w.]+)`.*", r"\1.", title)
        inside = {
            path.removeprefix(place): value
            for path, value in used.items()
            if path.startswith(place)
        }
        sections.append(_section(title, whole["$defs"][model], names, inside, _MORE.get(model)))
    return "\n".join([_HEAD, *sections])


def _names(whole: Mapping[str, Any]) -> dict[str, str]:
    """The title of each model by where a job file first has it, in the order of job files."""
    models = whole["$defs"]
    titles: dict[str, str] = {}
    waiting = [("", whole)]
    while waiting:
        path, model = waiting.pop(0)
        for name, field in model.get("properties", {}).items():
            found = [one for one in _references(field) if one not in titles]
            for one in found:
                place = f"{path}{name}"
                kind = next(iter(models[one].get("properties", {"": None})))
                several = len(list(_references(field))) > 1
                title = f"`{place}` with `{kind}`" if several else f"`{place}`"
                titles[one] = _SHARED.get(one, title)
                waiting.append((f"{place}.", models[one]))
    return titles


def _references(field: Any) -> Iterator[str]:
    """The models that a field may hold."""
    if isinstance(field, Mapping):
        if "$ref" in field:
            yield str(field["$ref"]).rpartition("/")[2]
        for key, value in field.items():
            if key != "default":
                yield from _references(value)
    elif isinstance(field, list):
        for value in field:
            yield from _references(value)


def _used() -> dict[str, Any]:
    """What the job files in `examples` and `SAMPLE` say, by dotted path: the first one counts."""
    found: dict[str, Any] = {}

    def walk(value: Any, path: str) -> None:
        found.setdefault(path, value)
        if isinstance(value, Mapping):
            for name, inner in value.items():
                walk(inner, f"{path}.{name}")
        for inner in value if isinstance(value, list) else ():
            if isinstance(inner, Mapping):
                walk(inner, path)

    files = sorted((_ROOT / "examples").rglob("*.yaml"))
    for text in [*(file.read_text() for file in files), SAMPLE]:
        document = read_document(text)
        if isinstance(document, Mapping) and "budget" in document:
            for name, value in document.items():
                walk(value, str(name))
    return found


def _section(
    title: str,
    model: Mapping[str, Any],
    names: Mapping[str, str],
    used: Mapping[str, Any],
    more: str | None = None,
) -> str:
    lines = [f"## {title}", ""]
    summary = " ".join(filter(None, (_prose(model.get("description", "")), more)))
    if summary:
        lines += [summary, ""]
    fields = model.get("properties", {})
    if not fields:
        return "\n".join([*lines, f"{_type(model, names)}.", ""])
    lines += ["| Field | Takes | Default | Example | Meaning |", "|---|---|---|---|---|"]
    for name, field in fields.items():
        default = "required" if name in model.get("required", ()) else _default(field)
        cells = (f"`{name}`", _type(field, names), default, _example(field, used.get(name)))
        meaning = _prose(field.get("description", ""))
        lines.append(f"| {' | '.join(_cell(one) for one in (*cells, meaning))} |")
    return "\n".join([*lines, ""])


def _type(field: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """What a field takes, in words, with its limits."""
    if "$ref" in field:
        title = names[str(field["$ref"]).rpartition("/")[2]]
        return f"[{title}](#{_anchor(title)})"
    for key in ("anyOf", "oneOf"):
        if key in field:
            return "; or ".join(dict.fromkeys(_type(one, names) for one in field[key]))
    if "enum" in field:
        return ", ".join(_code(one) for one in field["enum"])
    if "const" in field:
        return _code(field["const"])
    kinds = field.get("type", "anything")
    words = " or ".join(_kind(one, field, names) for one in _listed(kinds))
    limits = [
        text.format(f"{field[key]:,}")
        for key, text in _LIMITS
        if key in field and (key, field[key]) not in _PLAIN
    ]
    return ", ".join([words, *limits])


def _kind(kind: str, field: Mapping[str, Any], names: Mapping[str, str]) -> str:
    if kind == "array":
        items = field.get("items")
        of = "" if not items else f" of {_type(items, names)}"
        return f"list{of}"
    if kind == "object":
        values = field.get("additionalProperties")
        if isinstance(values, Mapping):
            return f"names, each with {_type(values, names)}"
        named = ", ".join(f"`{name}`" for name in field.get("properties", {}))
        return f"object with {named}" if named else "object"
    return {"string": "text", "boolean": "`true` or `false`", "null": "`null`"}.get(kind, kind)


def _default(field: Mapping[str, Any]) -> str:
    if "default" not in field:
        return ""
    text = _code(field["default"])
    return text if len(text) <= _LONG else "that of its fields"


def _example(field: Mapping[str, Any], used: Any) -> str:
    """One of the schema's own, or of a job file, or one of the values that there are."""
    examples = field.get("examples", [])
    choices = [one for part in (field, *field.get("anyOf", ())) for one in part.get("enum", ())]
    candidates = [*examples, used, *choices, field.get("default")]
    said = (_code(one) for one in candidates if one not in (None, [], {}))
    return next((text for text in said if len(text) <= _LONG), "")


def _code(value: Any) -> str:
    """A value as a job file would say it."""
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10_000)
    return f"`{text.strip().removesuffix('...').strip()}`"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _prose(text: str) -> str:
    """The first paragraph of a description, in one line."""
    return " ".join(text.partition("\n\n")[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _anchor(title: str) -> str:
    """What a heading is linked by."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def main(arguments: list[str]) -> int:
    """Write or check the page."""
    text = page()
    if "--check" in arguments:
        return int(not PAGE.exists() or PAGE.read_text() != text)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
