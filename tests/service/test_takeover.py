"""A new server goes on at once with what a killed one held, whose claims would last for a day."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from benchmarks.machines import designed
from searchspace.formats.source_archive import pack
from storage.records import FINAL_JOB_STATES, FINAL_TRIAL_STATES
from tests.service.live import Server, started
from tests.valve import Valve

DAY = 86_400.0
SECONDS = 600.0
"""How long a test waits for anything: a small part of the day that the claims would last."""

JOB: dict[str, Any] = {
    "name": "mm-4",
    "application": {"builtin": "mm", "n": 64, "ranks": 4},
    "machine": designed(8, 3),
    "search": {
        "topology": [{"family": "random", "instances": 20}],
        "ordering": ["original", "hamorder"],
        "collectives": {"bcast": "all"},
    },
    "budget": {"trials": 30},
    "seed": 1,
}
PROGRAM = (
    "#include <mpi.h>\nint main(int c, char **v)\n{\n  MPI_Init(&c, &v);\n"
    "  MPI_Barrier(MPI_COMM_WORLD);\n  MPI_Finalize();\n  return 0;\n}\n"
)
UNDER_WAY = "SELECT trial_number, number FROM attempts WHERE state IN ('dispatched', 'running')"


def client_of(server: Server) -> httpx.Client:
    return httpx.Client(base_url=f"{server.url}/api/v1", timeout=SECONDS)


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "nothing happened for too long"
        time.sleep(0.005)


def kill(server: Server, data: Path) -> None:
    """Kill a server, and let all that it held last for a day longer."""
    server.process.kill()
    server.process.wait()
    with sqlite3.connect(data / "hamtune.db") as database:
        for change in (
            "UPDATE jobs SET lease_expires_at = lease_expires_at + :day",
            "UPDATE jobs SET preparer_heard_at = preparer_heard_at + :day",
            "UPDATE applications SET claimed_at = claimed_at + :day",
            "UPDATE attempts SET dispatched_at = dispatched_at + :day,"
            " heartbeat_at = heartbeat_at + :day",
        ):
            database.execute(change, {"day": DAY})
    database.close()


def rows(data: Path, query: str) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(data / "hamtune.db")
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()


def end_of(client: httpx.Client, job_id: str) -> dict[str, Any]:
    def job() -> dict[str, Any]:
        return dict(client.get(f"/jobs/{job_id}").json())

    wait_for(lambda: job()["state"] in FINAL_JOB_STATES)
    return job()


def test_the_trials_of_a_killed_server_go_on_at_once(tmp_path: Path) -> None:
    valve = Valve(tmp_path / "valve")
    valve.shut(passes=5)
    with (
        started(tmp_path, run=True, environment=valve.environment) as server,
        client_of(server) as client,
    ):
        job_id = client.post("/jobs", json=JOB).json()["id"]
        wait_for(lambda: client.get(f"/jobs/{job_id}").json()["progress"]["finished"] >= 5)
        wait_for(lambda: rows(tmp_path, UNDER_WAY))
        kill(server, tmp_path)
    (held,) = rows(tmp_path, "SELECT state, lease_owner IS NOT NULL, lease_token FROM jobs")
    assert held == ("running", 1, 1)
    under_way = set(rows(tmp_path, UNDER_WAY))
    assert under_way

    with started(tmp_path, run=True) as server, client_of(server) as client:
        ended = end_of(client, job_id)
        trials = client.get(f"/jobs/{job_id}/trials", params={"limit": 500}).json()["items"]

    assert ended["state"] == "completed"
    assert all(trial["state"] in FINAL_TRIAL_STATES for trial in trials)
    assert rows(tmp_path, "SELECT lease_token FROM jobs") == [(2,)]
    lost = set(rows(tmp_path, "SELECT trial_number, number FROM attempts WHERE state = 'lost'"))
    assert lost == under_way


def test_the_capture_of_a_killed_server_is_begun_again_at_once(tmp_path: Path) -> None:
    data, source, go_on = tmp_path / "data", tmp_path / "source", tmp_path / "go_on"
    source.mkdir()
    (source / "main.c").write_text(PROGRAM)
    build = f"until test -e {go_on}; do sleep 0.05; done; mpicc -o main main.c"
    trusting = {"HAMTUNE_CAPTURE_SANDBOX": "off"}  # or the build would not see the file
    with started(data, run=True, environment=trusting) as server, client_of(server) as client:
        uploaded = client.post(
            "/applications",
            files={"source": ("source.tar.gz", packed(source))},
            data={"build": build, "run": "main", "ranks": "4"},
        )
        assert uploaded.status_code == 201, uploaded.text
        document = {
            **JOB,
            "application": {"id": uploaded.json()["id"]},
            "search": {"topology": ["mesh-2d"], "collectives": {"barrier": "all"}},
            "budget": {"trials": 3},
        }
        created = client.post("/jobs", json=document)
        assert created.status_code == 201, created.text
        wait_for(lambda: rows(data, "SELECT state FROM applications") == [("capturing",)])
        kill(server, data)
    assert rows(data, "SELECT preparer IS NOT NULL, state FROM jobs") == [(1, "preparing")]

    go_on.touch()
    with started(data, run=True, environment=trusting) as server, client_of(server) as client:
        ended = end_of(client, created.json()["id"])

    assert ended["state"] == "completed"
    assert rows(data, "SELECT preparer, preparer_heard_at FROM jobs") == [(None, None)]


def packed(source: Path) -> bytes:
    archive = source.parent / "source.tar.gz"
    pack(source, archive)
    return archive.read_bytes()
