"""What `hamtune export` sends of the files that its options name."""

from __future__ import annotations

import codecs
import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.__main__ import main


class Service:
    """Answers every export with no file, and keeps what was asked."""

    asked: Mapping[str, Any]

    def find_job(self, name: str) -> dict[str, str]:
        return {"id": name}

    def fetch(self, path: str, options: Mapping[str, Any]) -> bytes:
        self.asked = options
        archive = io.BytesIO()
        zipfile.ZipFile(archive, "w").close()
        return archive.getvalue()


def test_the_mark_of_utf_8_is_no_part_of_a_fabric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service()

    @contextmanager
    def connect(*_: Any, **__: Any) -> Iterator[Service]:
        yield service

    monkeypatch.setattr("cli.export.connect", connect)
    fabric = tmp_path / "fabric.txt"
    fabric.write_bytes(codecs.BOM_UTF8 + b'Ca 1 "H-1"\n')
    main(["export", "j", "--format", "opensm", "--fabric", str(fabric), "-o", str(tmp_path / "o")])

    assert service.asked["fabric"] == 'Ca 1 "H-1"\n'
