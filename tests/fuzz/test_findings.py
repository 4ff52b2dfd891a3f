"""Files that fuzzing, or reading the readers beside it, found to end otherwise than in plain words.

Small ones that mutations can begin from stand in `corpus`.
"""

from __future__ import annotations

import json
import stat
import struct
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from searchspace.documents import read_document
from searchspace.errors import InvalidInput
from searchspace.formats.host_list import expand
from searchspace.formats.matrix_market import read_traffic
from searchspace.formats.network_files import FORMATS
from searchspace.formats.source_archive import pack
from searchspace.formats.stock_trace import import_time_independent
from searchspace.kernels import trace_summary
from tests.service.conftest import write_pair
from tests.workers.simulator.runs import on_a_line
from workers.simulator_client import BINARY

_LONG = "9" * 5000  # digits: more than Python makes a number of
_GRAPHML = '<graphml><graph><node id="a"/><node id="b"/><edge source="a" target="b">{}</edge>'
_CLUSTER = '<platform><cluster radical="0-0" topology="FAT_TREE" topo_parameters="{}"/></platform>'
_READERS: dict[str, Callable[[str], object]] = {
    **{name: entry.read for name, entry in FORMATS.items()},
    "document": read_document,
    "hosts": expand,
    "matrix": read_traffic,
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("document", '!!int ""'),
        ("document", "!!bool x"),
        ("document", "!!timestamp x"),
        ("document", f"[{_LONG}]"),
        ("edges", f"0 {_LONG}"),
        ("graphml", _GRAPHML.format('<data key="weight">x</data>') + "</graph></graphml>"),
        ("graphml", _GRAPHML.format(f'<data key="cables">{_LONG}</data>') + "</graph></graphml>"),
        ("hosts", f"n[{','.join(['0-99999'] * 500)}]"),
        ("hosts", "n" + "[0-99999]" * 500),
        ("hwloc", '<topology><object type="Group">' * 5000 + "</object></topology>" * 5000),
        ("hwloc", "<topology>" + '<object type="Group">' * 999 + "</object>" * 999 + "</topology>"),
        ("matrix", ","),
        ("metis", f"{_LONG} 1"),
        ("metis", f"2 1\n{_LONG}\n1"),
        ("simgrid", _CLUSTER.format("1,1;1;1;1")),
        ("simgrid", _CLUSTER.format("2;1,1;999999,999999;1,1")),
    ],
)
def test_is_refused(name: str, text: str) -> None:
    with pytest.raises(InvalidInput):
        _READERS[name](text)


def test_nodes_of_a_tree_are_counted_while_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("searchspace.formats.slurm_topology.MOST_NAMES", 1000)
    text = "SwitchName=a Nodes=a[1-700]\nSwitchName=b Nodes=b[1-700]\nnot read any more"
    with pytest.raises(InvalidInput, match="line 2: more than 1000 nodes and switches"):
        FORMATS["slurm"].read(text)


def test_a_line_that_is_no_name_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("x" * 300)
    with pytest.raises(InvalidInput, match="neither an action of a rank nor a file"):
        import_time_independent([tmp_path / "list"], tmp_path / "out.ht")


def packed(path: Path, *, name: str = "a", content: bytes = b"text", mode: int = 0) -> Path:
    """A zip archive of one file, deflated."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
        entry.external_attr = mode << 16
        archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return path


def test_archives_whose_entries_make_no_sense_are_refused(tmp_path: Path) -> None:
    nameless = packed(tmp_path / "nameless.zip", name="")
    link = packed(tmp_path / "link.zip", content=b"\xff\xfe", mode=stat.S_IFLNK)
    damaged = packed(tmp_path / "damaged.zip", content=b"text" * 99)
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:39] + b"\xff\xff" + whole[41:])
    for archive in (nameless, link, damaged):
        with pytest.raises(InvalidInput):
            pack(archive, tmp_path / "packed.tar.gz")


def test_what_a_file_puts_into_a_message_cannot_leave_its_line() -> None:
    error = InvalidInput("'\x1b[2J\n\ud800' is no host", field="a\rb")
    assert str(error) == "a\\rb: '\\x1b[2J; \\ud800' is no host"
    assert len(str(InvalidInput("x" * 10**6))) < 5000


def test_a_header_nested_too_deeply_for_the_stack_is_refused(tmp_path: Path) -> None:
    header = b'{"ranks":1,"blocks":[{}],"arguments":' + b"[" * 10**6 + b"]" * 10**6 + b"}"
    path = tmp_path / "deep.ht"
    path.write_bytes(b"HAMTRACE" + struct.pack("<II", 1, len(header)) + header)
    with pytest.raises(InvalidInput, match="not a JSON object"):
        trace_summary(path)


def test_a_request_nested_too_deeply_or_with_long_text_is_answered(tmp_path: Path) -> None:
    write_pair(tmp_path / "pair.ht")
    good = on_a_line(0, 1)
    requests = [
        f'{{"id":{"[" * 10**6}{"]" * 10**6}}}',
        json.dumps(good | {"options": {"smpi/allreduce": "é" * 299}}, ensure_ascii=False),
        json.dumps(good),
    ]
    done = subprocess.run(
        [BINARY, "--server", "--trace", tmp_path / "pair.ht"],
        input="\n".join(requests).encode() + b"\n",
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-500:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["status"] for answer in answers] == ["failed", "failed", "completed"]
