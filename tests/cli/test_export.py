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
from cli.export import unpack
from searchspace.errors import HamtuneError


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


def archive_of(*names: str, method: int = zipfile.ZIP_DEFLATED, content: bytes = b"x") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name in names:
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"no archive",
        archive_of("../a"),
        archive_of("/a"),
        archive_of("."),
        archive_of("a/"),
        archive_of("b", "a", "a/b"),
        archive_of("a\x1b[2Jb"),
        archive_of("a", method=zipfile.ZIP_BZIP2),
        archive_of("a", method=zipfile.ZIP_LZMA),
        archive_of("a", method=zipfile.ZIP_STORED).replace(b"x", b"y"),
    ],
)
def test_an_export_that_no_service_of_ours_writes_is_refused(
    tmp_path: Path, content: bytes
) -> None:
    with pytest.raises(HamtuneError, match="the export"):
        unpack(content, tmp_path / "o")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_an_export_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.export._MOST_BYTES", 2000)
    content = archive_of("a", "b", content=bytes(1000))
    assert len(unpack(content, tmp_path / "o")) == 2
    with pytest.raises(HamtuneError, match="files of the export exceed"):
        unpack(archive_of("a", "b", content=bytes(1001)), tmp_path / "o")
