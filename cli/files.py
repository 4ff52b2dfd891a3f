"""Files that commands read: errors name the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cli.input_path import InputPath
from searchspace.errors import InvalidInput
from searchspace.formats.fabric import Fabric
from searchspace.formats.network_files import read_network
from searchspace.formats.plain_file import check_plain
from searchspace.graph import Graph

__all__ = ["FILE", "LARGEST_FILE", "read_fabric", "read_graph", "read_json", "read_text"]

LARGEST_FILE = 256 * 2**20
"""Bytes of the largest file of a network."""

FILE = InputPath(read_once=True)


def read_fabric(path: Path, format_name: str | None = None) -> Fabric:
    """Reads a network in any format that we know.

    Args:
        path: The file.
        format_name: A key of `FORMATS`; None to tell by content and name.

    Raises:
        InvalidInput: The file holds none, or is larger than any that can be read.
    """
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise InvalidInput(f"{path}: has {size} bytes; at most {LARGEST_FILE} are read")
    return read_network(read_text(path), str(path), format_name=format_name)


def read_graph(path: Path) -> Graph:
    """Reads a network in any format that we know, without the names in it.

    Raises:
        InvalidInput: The file holds none.
    """
    return read_fabric(path).graph


def read_text(path: Path) -> str:
    """Reads a text file, without the byte-order mark that it may begin with.

    Raises:
        InvalidInput: It is not UTF-8 text, or no file.
    """
    check_plain(path, read_once=True)
    try:
        return path.read_text(encoding="utf-8-sig")
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
