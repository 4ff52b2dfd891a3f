"""The JSON schemas of the documents that people write: for editors, forms and other programs.

They are made from the models that check the documents. What a schema cannot tell (that a mapper
fits the machine, that a program runs on so many ranks) only the check does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel

from searchspace.formats.network_files import FORMATS
from searchspace.jobspec import JobSpec
from searchspace.machine import Machine

__all__ = ["DOCUMENTS", "DocumentKind", "file_schema", "schema"]

DocumentKind = Literal["job", "machine"]

DOCUMENTS: Mapping[DocumentKind, type[BaseModel]] = {"job": JobSpec, "machine": Machine}
"""The model of each kind of document."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(kind: DocumentKind) -> dict[str, Any]:
    """The JSON schema of a document as the service takes it."""
    return {"$schema": _DIALECT, **DOCUMENTS[kind].model_json_schema()}


def file_schema(kind: DocumentKind) -> dict[str, Any]:
    """The JSON schema of a document in a file, which may name other files.

    The network of a machine may be in a file (`topology: {file: fabric.txt}`), which then also
    tells the number of hosts and perhaps the bandwidth of links, and so may the inside of a host
    (`cores_per_host: {file: host.xml}`).
    """
    found = schema(kind)
    machine = found if kind == "machine" else found["$defs"]["Machine"]
    fields = machine["properties"]
    form = {"enum": list(FORMATS), "description": "Of the file; told by its content if left out."}
    fields["topology"] = _or_file(fields["topology"], format=form)
    fields["cores_per_host"] = _or_file(fields["cores_per_host"])
    by_file = ["nodes", "link_bandwidth"]
    machine["required"] = [name for name in machine["required"] if name not in by_file]
    in_file = {"properties": {"topology": {"required": ["file"]}}, "required": ["topology"]}
    machine["anyOf"] = [{"required": by_file}, in_file]
    return found


def _or_file(field: Mapping[str, Any], **beside: Mapping[str, Any]) -> dict[str, Any]:
    file = {"type": "string", "description": "Path, relative to this file."}
    named = {
        "type": "object",
        "properties": {"file": file, **beside},
        "required": ["file"],
        "additionalProperties": False,
    }
    told = {key: field[key] for key in ("default", "description", "title") if key in field}
    values = {key: value for key, value in field.items() if key not in told}
    return {**told, "anyOf": [named, *values.pop("anyOf", [values])]}
