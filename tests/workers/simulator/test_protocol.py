"""How the simulator is asked and how it answers, in both modes, and what it refuses."""

from __future__ import annotations

import json
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searchspace.formats.operations import encode
from tests.workers.simulator.runs import (
    BANDWIDTH,
    ENVELOPE,
    LATENCY,
    PLAIN,
    Server,
    line_of,
    on_a_line,
    run_once,
    write_program,
)
from workers.simulator_client import BINARY

ANSWER_FIELDS = {
    "id",
    "status",
    "simulated_time",
    "reason",
    "rank_finish_times",
    "application_times",
    "estimate",
    "link_loads",
    "messages",
    "cpu_seconds",
    "wall_seconds",
    "peak_rss_bytes",
}


def test_a_request_on_standard_input_is_answered_in_one_line(message: Path) -> None:
    done = run_once([message], on_a_line(0, 1, id="first"))

    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    answer = json.loads(done.stdout)
    assert set(answer) == ANSWER_FIELDS
    assert (answer["id"], answer["status"], answer["reason"]) == ("first", "completed", None)
    arrival = 1e-3 + LATENCY + (1000 + ENVELOPE) / BANDWIDTH
    assert answer["simulated_time"] == pytest.approx(arrival, rel=1e-9)
    ((sent, received),) = answer["rank_finish_times"]
    assert (sent, received) == (pytest.approx(1e-3, rel=1e-9), answer["simulated_time"])
    assert answer["link_loads"] == [[1000, 0]]
    assert answer["cpu_seconds"] >= 0
    assert answer["wall_seconds"] > 0
    assert 0 < answer["peak_rss_bytes"] < 1 << 30


def test_a_request_in_a_file_is_answered_too(message: Path, tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps(on_a_line(0, 1), indent=2))
    command = [str(BINARY), "--trace", str(message), "--request", str(request)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert json.loads(done.stdout) | {"cpu_seconds": 0, "wall_seconds": 0, "peak_rss_bytes": 0} == (
        json.loads(run_once([message], on_a_line(0, 1)).stdout)
        | {"cpu_seconds": 0, "wall_seconds": 0, "peak_rss_bytes": 0}
    )


def test_the_version_names_simulator_simgrid_and_the_very_library() -> None:
    done = subprocess.run([str(BINARY), "--version"], capture_output=True, text=True, check=True)
    version = json.loads(done.stdout)
    assert version.keys() == {"simulator", "simgrid", "library", "program", "engine"}
    assert all(part.isdigit() for part in version["simgrid"].split("."))


def test_help_says_how_to_use_it() -> None:
    done = subprocess.run([str(BINARY), "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: hamtune-simulator")


def test_a_server_answers_request_after_request(
    message: Path, serve: Callable[..., Server]
) -> None:
    server = serve(message)
    near = server.ask(on_a_line(0, 1, id="near"))
    far = server.ask(on_a_line(0, 3, id="far"))
    again = server.ask(on_a_line(0, 1, id={"any": ["json", 1]}))

    assert (near["id"], far["id"], again["id"]) == ("near", "far", {"any": ["json", 1]})
    assert far["simulated_time"] - near["simulated_time"] == pytest.approx(2 * LATENCY, rel=1e-6)
    assert again["simulated_time"] == near["simulated_time"]
    assert server.end() == 0


def test_requests_may_be_sent_before_answers_are_read(
    message: Path, serve: Callable[..., Server]
) -> None:
    server = serve(message)
    for number in range(20):
        server.say(json.dumps(on_a_line(0, 1, id=number)))
    server.say("")
    assert sorted(server.hear()["id"] for _ in range(20)) == list(range(20))
    assert server.end() == 0


def test_a_server_holds_several_traces(
    message: Path, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    compute = write_program(tmp_path / "compute.ht", [[encode("compute", flops=2e9)]])
    server = serve(message, compute)
    first = server.ask(on_a_line(0, 1))
    second = server.ask(on_a_line(0, applications=[{"trace": 1, "hosts": [0]}]))
    assert first["simulated_time"] < 0.01
    assert second["simulated_time"] == pytest.approx(2.0, rel=1e-9)


BAD_REQUESTS: dict[str, tuple[dict[str, Any], str]] = {
    "no platform": ({"platform": None}, "platform: is missing"),
    "no applications": ({"applications": None}, "applications: is missing"),
    "empty applications": ({"applications": []}, "applications: is empty"),
    "unknown field": ({"colour": "red"}, "colour: unknown field"),
    "no hosts": ({"platform": line_of(2) | {"hosts": None}}, "platform.hosts: is missing"),
    "too many hosts": ({"platform": line_of(2) | {"hosts": 10**9}}, "platform.hosts: must be"),
    "no cores": ({"platform": line_of(2, cores=0)}, "platform.cores: must be at least 1"),
    "no speed": ({"platform": line_of(2, host_speed=0)}, "platform.host_speed: must be a number"),
    "negative latency": ({"platform": line_of(2, link_latency=-1)}, "platform.link_latency: must"),
    "text for a number": (
        {"platform": line_of(2, link_bandwidth="fast")},
        "platform.link_bandwidth: must be a number above 0",
    ),
    "unknown tie rule": ({"platform": line_of(2, tie_rule="any")}, "platform.tie_rule: must be"),
    "unknown platform field": ({"platform": line_of(2, name="x")}, "platform.name: unknown field"),
    "an edge to nowhere": ({"platform": line_of(2, edges=[[0, 2]])}, "platform.edges[0]: must be"),
    "a loop": ({"platform": line_of(2, edges=[[1, 1]])}, "platform.edges[0]: u must be smaller"),
    "an edge twice": ({"platform": line_of(2, edges=[[0, 1], [0, 1]])}, "platform.edges: "),
    "a disconnected network": (
        {"platform": line_of(4, edges=[[0, 1], [2, 3]])},
        "platform.edges: ",
    ),
    "no such trace": (
        {"applications": [{"trace": 1, "hosts": [0, 1]}]},
        "applications[0].trace: must be a whole number up to 0",
    ),
    "a host out of range": (
        {"applications": [{"trace": 0, "hosts": [0, 2]}]},
        "applications[0].hosts: must be a whole number up to 1",
    ),
    "too few ranks": (
        {"applications": [{"trace": 0, "hosts": [0]}]},
        "applications[0].hosts: 1 hosts for 2 ranks",
    ),
    "a start before time": (
        {"applications": [{"trace": 0, "hosts": [0, 1], "start": -1}]},
        "applications[0].start: must be a number from 0",
    ),
    "an option of no model": (
        {"options": {"contexts/factory": "raw"}},
        'options: "contexts/factory" must begin with smpi/, network/ or cpu/',
    ),
    "an unknown option": ({"options": {"smpi/colour": "red"}}, "options: smpi/colour: "),
    "an option of another kind": (
        {"options": {"smpi/simulate-computation": "maybe"}},
        "options: smpi/simulate-computation: not a boolean",
    ),
    "an unknown algorithm": (
        {"options": {"smpi/alltoall": "best"}},
        "options: Collective 'alltoall' has no algorithm 'best'!",
    ),
    "an unknown selector": (
        {"options": {"smpi/coll-selector": "lam"}},
        "options: Collective 'gather' has no algorithm 'lam'!",
    ),
    "an unknown model": ({"options": {"network/model": "x"}}, "options: "),
    "a bad factor": (
        {"options": {"smpi/bw-factor": "0:1;x:2"}},
        "options: ",
    ),
    "options that are no object": ({"options": ["smpi/alltoall"]}, "options: must be an object"),
    "a cutoff of zero": ({"cutoff": 0}, "cutoff: must be a number above 0"),
    "a negative memory limit": ({"memory_bytes": -5}, "memory_bytes: must be a whole number"),
    "a fraction of a byte": ({"memory_bytes": 1.5}, "memory_bytes: must be a whole number"),
    "a wall limit of zero": ({"wall_seconds": 0}, "wall_seconds: must be a number above 0"),
}


@pytest.mark.parametrize("case", BAD_REQUESTS)
def test_a_bad_request_is_named_and_the_server_goes_on(
    case: str, message: Path, serve: Callable[..., Server]
) -> None:
    changes, start = BAD_REQUESTS[case]
    server = serve(message)
    answer = server.ask(on_a_line(0, 1, id="bad") | changes)

    assert set(answer) == ANSWER_FIELDS
    assert (answer["id"], answer["status"], answer["simulated_time"]) == ("bad", "failed", None)
    assert answer["reason"]["kind"] == "invalid"
    assert answer["reason"]["message"].startswith(start)
    assert "\n" not in answer["reason"]["message"]
    assert server.ask(on_a_line(0, 1))["status"] == "completed"
    assert server.end() == 0


@pytest.mark.parametrize("text", ["{", "no JSON", "[1, 2", '"id"', "[]", "7", "null", '{"id": 1}'])
def test_a_line_that_is_no_request_is_answered_and_the_server_goes_on(
    text: str, message: Path, serve: Callable[..., Server]
) -> None:
    server = serve(message)
    server.say(text)
    answer = server.hear()
    assert answer["status"] == "failed"
    assert answer["reason"]["kind"] == "invalid"
    assert server.ask(on_a_line(0, 1))["status"] == "completed"


def test_a_request_deep_as_a_well_does_not_end_the_server(
    message: Path, serve: Callable[..., Server]
) -> None:
    server = serve(message)
    server.say("[" * 100_000 + "]" * 100_000)
    assert server.hear()["reason"]["kind"] == "invalid"
    assert server.ask(on_a_line(0, 1))["status"] == "completed"


def test_a_bad_request_ends_the_one_shot_command_with_an_answer_and_a_status(
    message: Path,
) -> None:
    done = run_once([message], on_a_line(0, 1, options=PLAIN | {"smpi/alltoall": "best"}))
    assert done.returncode == 1
    assert json.loads(done.stdout)["reason"]["kind"] == "invalid"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "--trace is missing"),
        (["--trace"], "--trace needs a value"),
        (["--trace", "t.ht"], "either --server or --request is needed"),
        (["--trace", "t.ht", "--server", "--request", "-"], "either --server or --request"),
        (["--colour"], "unknown argument --colour"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(arguments: list[str], complaint: str) -> None:
    done = subprocess.run([str(BINARY), *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(f"hamtune-simulator: {complaint}")
    assert done.stderr.count("\n") == 1


def test_a_request_that_is_not_json_or_not_there_is_one_line(message: Path) -> None:
    no_json = run_once([message], None, text="{")
    command = [str(BINARY), "--trace", str(message), "--request", "/no/such/file"]
    no_file = subprocess.run(command, capture_output=True, text=True)
    assert (no_json.returncode, no_file.returncode) == (2, 2)
    assert no_json.stderr == "hamtune-simulator: the request is not JSON; see --help\n"
    assert no_file.stderr == "hamtune-simulator: cannot read /no/such/file; see --help\n"


def hostile_trace(blocks: list[dict[str, int]], body: bytes, ranks: int = 1) -> bytes:
    header = json.dumps(
        {"ranks": ranks, "program": "x", "arguments": [], "captured_by": "", "host_speed": None}
        | {"blocks": blocks}
    ).encode()
    return b"HAMTRACE" + struct.pack("<II", 1, len(header)) + header + body


def single_rank(operations: bytes, count: int) -> bytes:
    body = zlib.compress(operations)
    block = {"compressed": len(body), "bytes": len(operations), "operations": count}
    return hostile_trace([block], body)


BOMB = zlib.compress(bytes(50_000_000))
FINALIZE = encode("finalize")
HOSTILE_TRACES = {
    "empty": b"",
    "foreign": b"PK\x03\x04" + bytes(100),
    "another version": b"HAMTRACE" + struct.pack("<II", 2, 2) + b"{}",
    "header past the end": b"HAMTRACE" + struct.pack("<II", 1, 1 << 20) + b"{}",
    "header of gigabytes": b"HAMTRACE" + struct.pack("<II", 1, 0xFFFFFFFF),
    "header no JSON": b"HAMTRACE" + struct.pack("<II", 1, 2) + b"{]",
    "ranks beyond count": hostile_trace([], b"", ranks=4_000_000_000),
    "bomb": hostile_trace([{"compressed": len(BOMB), "bytes": 10, "operations": 1}], BOMB),
    "declares too much": hostile_trace(
        [{"compressed": len(BOMB), "bytes": 1 << 40, "operations": 1}], BOMB
    ),
    "unknown operation": single_rank(b"\xff" + FINALIZE, 2),
    "no finalize": single_rank(encode("barrier"), 1),
    "after finalize": single_rank(FINALIZE + encode("barrier"), 2),
    "wrong count": single_rank(FINALIZE, 5),
    "cut operation": single_rank(encode("send", peer=0, count=1, size=1)[:-2], 1),
    "peer out of range": single_rank(encode("send", peer=9, count=1, size=1) + FINALIZE, 2),
    "root out of range": single_rank(encode("bcast", root=3, count=1, size=1) + FINALIZE, 2),
    "no such communicator": single_rank(encode("barrier", comm=7) + FINALIZE, 2),
    "wait for nothing": single_rank(encode("wait", slot=0) + FINALIZE, 2),
    "buffers of exabytes": single_rank(
        encode("bcast", count=(1 << 31) - 1, size=(1 << 31) - 1) + FINALIZE, 2
    ),
    "infinite computation": single_rank(encode("compute", flops=float("inf")) + FINALIZE, 2),
    "negative computation": single_rank(encode("compute", flops=-1.0) + FINALIZE, 2),
}


@pytest.mark.parametrize("case", HOSTILE_TRACES)
@pytest.mark.parametrize("mode", ["--server", "--request"])
def test_a_hostile_trace_ends_the_simulator_with_one_plain_line(
    case: str, mode: str, tmp_path: Path
) -> None:
    trace = tmp_path / "hostile.ht"
    trace.write_bytes(HOSTILE_TRACES[case])
    command = [str(BINARY), "--trace", str(trace), mode] + ["-"] * (mode == "--request")
    done = subprocess.run(command, capture_output=True, input="", text=True, timeout=300)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("hamtune-simulator: ")
    assert done.stderr.count("\n") == 1


def test_a_trace_cut_anywhere_is_refused(message: Path, tmp_path: Path) -> None:
    whole = message.read_bytes()
    cut = tmp_path / "cut.ht"
    for length in range(0, len(whole), 7):
        cut.write_bytes(whole[:length])
        done = run_once([cut], on_a_line(0, 1))
        assert done.returncode == 1, length
        assert done.stderr.count("\n") == 1


def test_a_trace_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = run_once([tmp_path / "missing.ht"], {})
    assert done.returncode == 1
    assert done.stderr == "hamtune-simulator: cannot open the trace: No such file or directory\n"
