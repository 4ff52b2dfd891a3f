"""Text files as editors on Windows save them."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from cli.files import read_fabric, read_json, read_text
from searchspace.errors import InvalidInput


def test_the_mark_of_utf_8_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    path.write_bytes(codecs.BOM_UTF8 + b'{"edges": [[0, 1]]}')

    assert read_text(path).startswith("{")
    assert read_json(path) == {"edges": [[0, 1]]}
    assert read_fabric(path).graph.edges == ((0, 1),)


def test_what_is_not_utf_8_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    path.write_bytes("n\u00f6".encode("latin-1"))

    with pytest.raises(InvalidInput, match="not a text file"):
        read_text(path)
