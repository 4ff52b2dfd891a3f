"""Names of hosts as a file, as editors on Windows save it."""

from __future__ import annotations

import codecs
from pathlib import Path

from cli.host_lists import HostList


def test_the_mark_of_utf_8_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    path = tmp_path / "hosts.txt"
    path.write_bytes(codecs.BOM_UTF8 + b"n1\r\nn2\r\n")

    assert HostList().convert(str(path), None, None).split() == ["n1", "n2"]
