"""Small traces, small machines, and the simulator as users and workers start it."""

from __future__ import annotations

import json
import struct
import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.protocol import PROTOCOLS
from workers.simulator_client import BINARY

PLAIN = {"smpi/bw-factor": "0:1", "smpi/lat-factor": "0:1"}
BANDWIDTH = 1e9  # bytes/s of a cable
LATENCY = 1e-6  # s of a cable
ENVELOPE = 16  # bytes that SMPI adds to each message
MTU = 1500  # bytes
IDEAL: dict[str, Any] = PROTOCOLS["ideal"].numbers()
"""A network of packets in which nothing but the cables takes time."""
STORED: dict[str, Any] = IDEAL | {"switching": "store-and-forward"}


def write_program(path: Path, ranks: Sequence[Sequence[bytes]]) -> Path:
    """Write a trace of these operations of each rank, to which finalize is added."""
    header = TraceHeader(ranks=len(ranks), program=path.stem)
    write_trace(path, header, [b"".join(rank) + encode("finalize") for rank in ranks])
    return path


def write_unchecked(path: Path, ranks: Sequence[Sequence[bytes]]) -> Path:
    """The same as somebody writes it who does not ask what an operation may hold: in version 1."""
    blocks, bodies = [], []
    for rank in ranks:
        content = b"".join(rank) + encode("finalize")
        bodies.append(zlib.compress(content))
        sizes = {"compressed": len(bodies[-1]), "bytes": len(content)}
        blocks.append({**sizes, "operations": len(rank) + 1})
    header = json.dumps({"ranks": len(ranks), "program": path.stem, "blocks": blocks}).encode()
    head = b"HAMTRACE" + struct.pack("<II", 1, len(header)) + header
    path.write_bytes(head + b"".join(bodies))
    return path


def line_of(hosts: int, **changes: Any) -> dict[str, Any]:
    """A machine whose hosts stand in a line, each joined to the next."""
    return {
        "hosts": hosts,
        "cores": 1,
        "host_speed": 1e9,
        "edges": [[host, host + 1] for host in range(hosts - 1)],
        "link_bandwidth": BANDWIDTH,
        "link_latency": LATENCY,
        "switch_latency": 0.0,
        "switch_bandwidth": None,
        "loopback_bandwidth": 1e10,
        "loopback_latency": 1e-7,
        "tie_rule": "lowest-id",
    } | changes


def on_a_line(*rank_hosts: int, **fields: Any) -> dict[str, Any]:
    """A request for one application with these hosts of its ranks, on the shortest such line."""
    return {
        "id": "1",
        "platform": line_of(max(rank_hosts) + 1),
        "applications": [{"trace": 0, "hosts": list(rank_hosts), "start": 0.0}],
        "options": PLAIN,
    } | fields


def packets_on(platform: dict[str, Any], *rank_hosts: int, **protocol: Any) -> dict[str, Any]:
    """A request for one application whose messages cross this network as packets."""
    return {
        "id": "1",
        "platform": platform | {"packets": IDEAL | protocol},
        "applications": [{"trace": 0, "hosts": list(rank_hosts)}],
        "options": {},
    }


def run_once(
    traces: Sequence[Path], request: object, *, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the one-shot command on a request (or on `text`) given on its standard input."""
    return subprocess.run(
        [str(BINARY), *_trace_arguments(traces), "--request", "-"],
        input=json.dumps(request) if text is None else text,
        capture_output=True,
        text=True,
        timeout=300,
    )


def answer_of(traces: Sequence[Path] | Path, request: object) -> dict[str, Any]:
    """The answer to one request."""
    done = run_once([traces] if isinstance(traces, Path) else traces, request)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


class Server:
    """A running server, spoken to line by line."""

    def __init__(self, *traces: Path) -> None:
        self.process = subprocess.Popen(
            [str(BINARY), "--server", *_trace_arguments(traces)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def say(self, line: str) -> None:
        """Send a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """Wait for the next answer."""
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, request: object) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        self.say(json.dumps(request))
        return self.hear()

    def end(self) -> int:
        """Close its input and return its exit status."""
        self.process.communicate(timeout=300)
        return self.process.returncode


def _trace_arguments(traces: Sequence[Path]) -> list[str]:
    return [word for trace in traces for word in ("--trace", str(trace))]
