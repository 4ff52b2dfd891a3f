"""Files that commands read: errors name the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from searchspace.errors import InvalidInput
from searchspace.formats.edge_list import read_edge_list
from searchspace.graph import Graph

__all__ = ["FILE", "read_graph", "read_json", "read_text"]

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def read_graph(path: Path) -> Graph:
    """Reads an edge list.

    Raises:
        InvalidInput: The file holds none.
    """
    text = read_text(path)
    try:
        return read_edge_list(text)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


def read_text(path: Path) -> str:
    """Reads a text file.

    Raises:
        InvalidInput: It is not UTF-8 text.
    """
    try:
        return path.read_text()
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: not a text file") from None


def read_json(path: Path) -> Any:
    """Reads a JSON file.

    Raises:
        InvalidInput: It is not JSON.
    """
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{path}: not JSON: {error}") from None
