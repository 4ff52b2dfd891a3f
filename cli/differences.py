"""What tells documents apart: job files, configurations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["apart", "flat", "shown"]

_SHOWN = 40
"""Characters of a value beside others."""


def flat(document: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The values of a document by dotted path; lists are values.

    Example:
        >>> flat({"seed": 1, "budget": {"trials": 40}})
        {'seed': 1, 'budget.trials': 40}
    """
    found: dict[str, Any] = {}
    for name, value in document.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping) and value:
            found |= flat(value, f"{path}.")
        else:
            found[path] = value
    return found


def apart(documents: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The paths at which documents differ, with the value of each; None where one has none.

    Example:
        >>> apart([{"seed": 1, "batch": 8}, {"seed": 2, "batch": 8}])
        {'seed': [1, 2]}
    """
    flattened = [flat(document) for document in documents]
    paths = dict.fromkeys(path for document in flattened for path in document)
    rows = {path: [document.get(path) for document in flattened] for path in paths}
    return {path: row for path, row in rows.items() if any(one != row[0] for one in row)}


def shown(value: Any) -> str:
    """A value of a document in few characters.

    Example:
        >>> shown(["original", {"family": "random", "instances": 4}])
        'original, random (instances 4)'
    """
    if value is None:
        return "-"
    if value in ([], {}):
        return "none"
    text = ", ".join(map(_item, value)) if isinstance(value, list) else _item(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _item(value: Any) -> str:
    if isinstance(value, Mapping) and "family" in value:
        options = [f"{name} {one}" for name, one in value.items() if name != "family"]
        return f"{value['family']} ({', '.join(options)})" if options else str(value["family"])
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value)
