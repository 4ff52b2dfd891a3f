"""Readers of files of strangers: whatever they hold, a result or a plain error, in bounded time.

The corpus is what our own writers make, and the files in `corpus`. More, and other, mutants:
`HAMTUNE_FUZZ_COUNT=100000 HAMTUNE_FUZZ_SEED=2 pytest tests/fuzz`.
"""

from __future__ import annotations

import io
import json
import os
import resource
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from searchspace import documents
from searchspace.errors import HamtuneError
from searchspace.formats import trace as traces
from searchspace.formats.fabric import Fabric
from searchspace.formats.hop_machine import read_hop_machine
from searchspace.formats.host_list import expand
from searchspace.formats.matrix_market import read_traffic
from searchspace.formats.network_files import FORMATS
from searchspace.formats.source_archive import pack
from searchspace.formats.stock_trace import import_time_independent
from searchspace.graph import Graph
from searchspace.job import load_job
from tests.fuzz.mutation import mutants
from tests.service.conftest import SPEC, write_pair

COUNT = int(os.environ.get("HAMTUNE_FUZZ_COUNT", "150"))
SEED = int(os.environ.get("HAMTUNE_FUZZ_SEED", "1"))
CPU_SECONDS = 20.0
"""Of one file; a reader that needs more can be made to hold a server up."""
CORPUS = Path(__file__).parent / "corpus"

RING = Fabric(Graph.from_edges(8, [(node, (node + 1) % 8) for node in range(8)]))
MATRIX = b"%%MatrixMarket matrix coordinate integer symmetric\n4 4 2\n2 1 100\n4 3 7\n"
MACHINES = (
    b'{"type":"tree","arity":[4,2,2,4]}', b'{"type":"torus","dims":[8,8,8],"cores_per_host":2}',
    b'{"type":"dragonfly","groups":3,"routers":2,"nodes":2}',
)  # fmt: skip


def text_reader(read: Callable[[str], Any]) -> Callable[[bytes, Path], Any]:
    return lambda content, _folder: read(content.decode("utf-8", "replace"))


def file_reader(read: Callable[[Path], Any]) -> Callable[[bytes, Path], Any]:
    def reading(content: bytes, folder: Path) -> Any:
        path = folder / "input"
        path.write_bytes(content)
        return read(path)

    return reading


def read_trace(path: Path) -> None:
    traces.validate(path)
    traces.describe_trace(path)


def seeds_of(name: str, folder: Path) -> list[bytes]:
    seeds = [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]
    if name == "trace":
        write_pair(folder / "pair.ht")
        seeds.append((folder / "pair.ht").read_bytes())
    elif name == "source":
        seeds += [tar(), zip_archive()]
    elif name in FORMATS and (write := FORMATS[name].write) is not None:
        seeds.append(write(RING).encode())
    seeds += {
        "matrix": [MATRIX],
        "hop-machine": list(MACHINES),
        "hosts": [b"n[1-3,07]-x[1,2],h"],
    }.get(name, [])
    if name == "job":
        seeds += [yaml.safe_dump(SPEC).encode(), json.dumps(SPEC).encode()]
    assert seeds, name
    return seeds


def tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in (("src/Makefile", b"all:\n"), ("src/a.c", b"int main(){}")):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        link = tarfile.TarInfo("src/link")
        link.type, link.linkname = tarfile.SYMTYPE, "a.c"
        archive.addfile(link)
    return buffer.getvalue()


def zip_archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("src/Makefile", "all:\n" * 50)
    return buffer.getvalue()


def pack_it(path: Path) -> None:
    pack(path, path.with_name("packed.tar.gz"))


def no_file(name: str) -> Graph:
    raise HamtuneError(f"no file {name}")


def read_machine(text: str) -> None:
    read_hop_machine(documents.read_document(text), read_graph=no_file)


READERS: dict[str, Callable[[bytes, Path], Any]] = {
    **{name: text_reader(entry.read) for name, entry in FORMATS.items()},
    "matrix": text_reader(read_traffic),
    "hop-machine": text_reader(read_machine),
    "hosts": text_reader(expand),
    "job": text_reader(lambda text: load_job(documents.read_document(text))),
    "trace": file_reader(read_trace),
    "source": file_reader(pack_it),
    "stock-trace": file_reader(
        lambda path: import_time_independent([path], path.with_name("out.ht"))
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_whatever_the_file_holds(name: str, tmp_path: Path) -> None:
    read, accepted = READERS[name], 0
    for seed in seeds_of(name, tmp_path):
        read(seed, tmp_path)
    for number, content in enumerate(mutants(seeds_of(name, tmp_path), COUNT, SEED)):
        before = cpu_seconds()
        try:
            read(content, tmp_path)
            accepted += 1
        except HamtuneError as error:
            assert str(error)
        except Exception as error:
            kept = Path(os.environ.get("HAMTUNE_FUZZ_KEEP", tmp_path)) / f"{name}-{number}"
            kept.write_bytes(content)
            raise AssertionError(f"{name}: mutant {number}, kept as {kept}: {error!r}") from error
        assert cpu_seconds() - before < CPU_SECONDS, f"{name}: mutant {number} takes too long"
    assert accepted < COUNT, "the mutations must reach what is refused"


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
