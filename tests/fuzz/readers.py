"""The readers of files of strangers, instrumented, and what each of them promises.

To be imported by a process that fuzzes and does nothing else: what is instrumented is slow.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import atheris

with redirect_stderr(io.StringIO()), atheris.instrument_imports(include=["searchspace"]):
    from searchspace import documents
    from searchspace.errors import HamtuneError, InvalidDocument, InvalidInput
    from searchspace.formats import trace as traces
    from searchspace.formats.hop_machine import read_hop_machine
    from searchspace.formats.host_list import expand
    from searchspace.formats.hwloc_xml import read_arity
    from searchspace.formats.ib_discover import read_ib_guids
    from searchspace.formats.matrix_market import read_traffic
    from searchspace.formats.network_files import FORMATS, read_network
    from searchspace.formats.source_archive import pack
    from searchspace.formats.stock_trace import import_time_independent
    from searchspace.graph import Graph
    from searchspace.job import load_job
    from searchspace.machine import parse_machine

__all__ = ["READERS", "keep_promise"]

Reader = Callable[[bytes, Path], Any]

_LONGEST = 8192
"""Characters of a message that can still be shown."""


def _of_text(read: Callable[[str], Any]) -> Reader:
    return lambda content, _folder: read(content.decode("utf-8", "replace"))


def _of_file(read: Callable[[Path], Any]) -> Reader:
    def reading(content: bytes, folder: Path) -> Any:
        path = folder / "input"
        path.write_bytes(content)
        return read(path)

    return reading


def _no_file(name: str) -> Graph:
    raise InvalidInput(f"no file {name}")


def _read_trace(path: Path) -> None:
    traces.validate(path)
    traces.describe_trace(path)


READERS: Mapping[str, Reader] = {
    **{name: _of_text(entry.read) for name, entry in FORMATS.items()},
    "network": _of_text(lambda text: read_network(text, "a.edges")),
    "arity": _of_text(read_arity),
    "guids": _of_text(read_ib_guids),
    "matrix": _of_text(read_traffic),
    "hop-machine": _of_text(
        lambda text: read_hop_machine(documents.read_document(text), read_graph=_no_file)
    ),
    "hosts": _of_text(expand),
    "document": lambda content, _folder: documents.read_document(content),
    "job": lambda content, _folder: load_job(content),
    "machine": lambda content, _folder: parse_machine(documents.read_document(content)),
    "trace": _of_file(_read_trace),
    "source": _of_file(lambda path: pack(path, path.with_name("packed.tar.gz"))),
    "stock-trace": _of_file(lambda path: import_time_independent([path], path.with_name("out.ht"))),
}
"""Every reader, by the name of its corpus."""


def keep_promise(read: Reader, content: bytes, folder: Path) -> None:
    """Reads a file, which gives a value or a plain error; any other exception breaks the promise.

    Raises:
        AssertionError: The error is not one line that can be shown.
    """
    try:
        read(content, folder)
    except InvalidDocument as error:
        shown = [str(one) for one in error.errors]
    except HamtuneError as error:
        shown = [str(error)]
    else:
        return
    for line in shown:
        assert line and line.isprintable() and len(line) <= _LONGEST, f"not a plain line: {line!r}"
