"""Where fuzzing begins: what our own writers make, beside the files in `corpus`."""

from __future__ import annotations

import io
import json
import re
import stat
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from searchspace.formats.fabric import Fabric
from searchspace.formats.network_files import FORMATS
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.graph import Graph

__all__ = ["CORPUS", "dictionary", "seeds_of"]

CORPUS = Path(__file__).parent / "corpus"
EXAMPLES = Path(__file__).parents[2] / "examples"

_BETWEEN = b"|HT|"  # two ranks of the target `trace_operations`
_RING = Fabric(Graph.from_edges(8, [(node, (node + 1) % 8) for node in range(8)]))
_MATRIX = b"%%MatrixMarket matrix coordinate integer symmetric\n4 4 2\n2 1 100\n4 3 7\n"
_HOP_MACHINES = (
    b'{"type":"tree","arity":[4,2,2,4]}',
    b'{"type":"torus","dims":[8,8,8],"cores_per_host":2}',
    b'{"type":"dragonfly","groups":3,"routers":2,"nodes":2}',
    b'{"type":"mesh","dims":[3,3],"inside":[2,4],"allocated":[0,3,5]}',
)
_WORDS = (
    b"<!DOCTYPE x [<!ENTITY a \"b\">]>", b"&a;", b"&a *a", b"!!bool", b"!!int", b"!!float",
    b"!!timestamp", b"!!binary", b"!!set", b"<<: ", b"\x00", b"\xff\xfe", b"\r", b"\x1b[2J",
    b"../../x", b"-1", b"1e999", b"nan", b"4294967296", b"18446744073709551616", b"9" * 60,
    _BETWEEN,
)  # fmt: skip
_TOKEN = re.compile(rb"[A-Za-z_][A-Za-z0-9_.:=-]*|\"[^\"\n]{1,30}\"|[0-9.]+|[^\sA-Za-z0-9_]{1,3}")
_MOST_TOKENS = 300


def seeds_of(name: str) -> list[bytes]:
    """The files to begin from for a reader or a target, the same ones each time."""
    seeds = [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]
    if name in FORMATS and (write := FORMATS[name].write) is not None:
        seeds.append(write(_RING).encode())
    match name:
        case "network":
            seeds += [one for known in FORMATS for one in seeds_of(known)]
        case "arity" | "guids":
            seeds += seeds_of({"arity": "hwloc", "guids": "ibnetdiscover"}[name])
        case "document":
            seeds += [one for known in ("job", "machine") for one in seeds_of(known)]
        case "job":
            seeds += [path.read_bytes() for path in sorted(EXAMPLES.glob("*.yaml"))]
        case "matrix":
            seeds += [_MATRIX, b"0 1,5\n1 0 2\n5;2 0\n"]
        case "hop-machine":
            seeds += _HOP_MACHINES
        case "hosts":
            seeds.append(b"n[1-3,07]-x[1,2],h")
        case "source":
            seeds += [_tar(), _zip()]
        case "trace" | "trace_file":
            seeds += [_trace(program) for program in _programs()]
            seeds.append(_trace(_programs()[0], weights=((2.0, 0.5),)))
        case "trace_operations":
            seeds += [_BETWEEN.join(program) for program in _programs()]
        case "simulator_request":
            seeds += [json.dumps(request).encode() for request in _requests()]
    assert seeds, name
    return seeds


def dictionary(seeds: Iterable[bytes]) -> str:
    """What mutations may put in as one: the words of the seeds, and some that did harm elsewhere.

    In libFuzzer's form.
    """
    words = dict.fromkeys(word for seed in seeds for word in _TOKEN.findall(seed))
    chosen = [*_WORDS, *list(words)[:_MOST_TOKENS]]
    return "".join(f'"{_escaped(word)}"\n' for word in chosen)


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


def _programs() -> list[list[bytes]]:
    """The operations of the ranks of small programs, which call all that a trace can hold."""
    pair = encode("compute", flops=1e6) + encode("allreduce", count=8, size=8)
    marks = encode("pcontrol", level=1) + encode("compute", flops=5e5)
    loop, answer = (
        b"".join(
            encode("compute", flops=1e5 + step)
            + encode("isend", slot=0, peer=peer, tag=step, count=4, size=8)
            + encode("irecv", slot=1, peer=-2, tag=-1, count=4, size=8)
            + encode("match", slot=1, peer=peer, tag=step)
            + encode("waitall", slots=[0, 1])
            for step in range(8)
        )
        for peer in (1, 0)
    )
    groups = (
        encode("comm_dup")
        + encode("comm_split", comm=2, color=0, key=1)
        + encode("comm_create", ranks=[0, 1])
        + encode("comm_create_group", ranks=[1, 0])
        + encode("cart_create", dims=[2, 0, 1, 1], reorder=0)
        + encode("cart_sub", comm=6, remain=[1, 0])
        + encode("bcast", comm=3, count=2, size=4)
        + encode("comm_free", comm=2)
    )
    calls = b"".join(
        [
            encode("sendrecv", to=1, send_count=1, send_size=4, **{"from": 1}),
            encode("wtime"),
            encode("barrier"),
            encode("ibarrier", slot=0),
            encode("wait", slot=0),
            encode("reduce", root=1, count=3, size=8, flags=1),
            encode("gather", root=0, send_count=1, send_size=4, recv_count=1, recv_size=4),
            encode("scatter", root=0, send_count=1, send_size=4, recv_count=1, recv_size=4),
            encode("allgather", send_count=1, send_size=4, recv_count=1, recv_size=4),
            encode("alltoall", send_count=1, send_size=4, recv_count=1, recv_size=4),
            encode("gatherv", send_count=1, send_size=4, recv_size=4, recv_counts=[1, 2]),
            encode("scatterv", send_size=4, recv_count=1, recv_size=4, send_counts=[1, 2]),
            encode("allgatherv", send_count=1, send_size=4, recv_size=4, recv_counts=[1, 2]),
            encode("alltoallv", send_size=4, recv_size=4, send_counts=[1, 2], recv_counts=[1, 2]),
            encode("alltoallw", send_bytes=[1, 2], recv_bytes=[1, 2]),
            encode("reduce_scatter", size=4, counts=[1, 2]),
            encode("reduce_scatter_block", count=1, size=4),
            encode("scan", count=1, size=4),
            encode("exscan", count=1, size=4, flags=2),
        ]
    )
    return [[marks * 3, marks * 3], [pair, pair], [loop, answer], [groups, groups], [calls, calls]]


def _trace(program: Sequence[bytes], **header: object) -> bytes:
    with tempfile.TemporaryDirectory(prefix="hamtune-fuzz-") as folder:
        path = Path(folder) / "seed.ht"
        described = TraceHeader.model_validate({"ranks": len(program), "program": "a", **header})
        write_trace(path, described, [operations + encode("finalize") for operations in program])
        return path.read_bytes()


def _requests() -> list[dict[str, object]]:
    platform = {
        "hosts": 3, "cores": 2, "host_speed": 1e9, "edges": [[0, 1], [1, 2, 2]],
        "link_bandwidth": 1e9, "link_latency": 1e-6, "switch_latency": 0.0,
        "switch_bandwidth": None, "loopback_bandwidth": 1e10, "loopback_latency": 1e-7,
        "tie_rule": "lowest-id",
    }  # fmt: skip
    plugged = platform | {
        "hosts": 2, "switches": 1, "edges": [[0, 2], [1, 2]], "host_speeds": [1e9, 2e9],
        "host_link_bandwidth": 2e9, "interface_bandwidth": 1e9, "memory_bandwidth": 1e9,
    }  # fmt: skip
    return [
        {
            "id": "1",
            "platform": platform,
            "applications": [{"trace": 0, "hosts": [0, 1], "start": 0.5, "weight": 2.0}],
            "options": {"smpi/allreduce": "rdb", "network/TCP-gamma": 4194304},
            "cutoff": 1.5,
            "memory_bytes": 268435456,
            "wall_seconds": 2.0,
        },
        {
            "id": 2,
            "platform": plugged,
            "applications": [{"trace": 0, "hosts": [0, 1]}, {"trace": 1, "hosts": [1, 1, 0, 0]}],
            "objective": "mean",
            "plain_simgrid": True,
        },
    ]


def _tar() -> bytes:
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


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, method in (
            ("src/Makefile", "all:\n" * 50, zipfile.ZIP_DEFLATED),
            ("src/a.c", "int main(){}", zipfile.ZIP_DEFLATED),
            ("src/b.c", "int b;", zipfile.ZIP_DEFLATED),
            ("src/link", "a.c", zipfile.ZIP_STORED),
        ):
            entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            entry.external_attr = (stat.S_IFLNK if name == "src/link" else 0) << 16
            archive.writestr(entry, content, method)
    return buffer.getvalue()
