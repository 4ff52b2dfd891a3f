"""What the client does beside jobs: programs, machines, names, keys, measured times."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from cli.in_process import InProcess
from hamtune_client import AsyncClient, Client, HamtuneClientError, Job, Refused
from hamtune_client.wording import headway
from service.app import create_app
from service.runtime import Runtime
from storage.storage import Storage
from tests.service.auth.conftest import Guarded, guard
from tests.service.conftest import SPEC, expecting, trace

__all__ = ["guard", "trace"]


def test_a_job_file_is_checked_and_nothing_is_created(hamtune: Client) -> None:
    checked = hamtune.check(SPEC)
    assert checked.space is not None and checked.space["size"] > 1
    assert "topology" in checked._repr_html_()
    assert list(hamtune.jobs()) == []
    with pytest.raises(Refused) as refused:
        hamtune.check({**SPEC, "budget": {"trials": 0}, "sede": 1})
    first, second = str(refused.value).splitlines()
    assert first.startswith("budget.trials: ") and second.startswith("sede: unknown field")


def test_a_trace_that_a_job_file_names_is_uploaded(
    hamtune: Client, trace: Path, tmp_path: Path
) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(
        "name: traced\napplication: {trace: pair.ht}\n"
        "machine: {nodes: 4, degree: 2, host_speed: 1Gf, link_bandwidth: 1Gbps}\n"
        "search: {topology: [ring], ordering: [original, hamorder]}\nbudget: {trials: 2}\n"
    )
    job = hamtune.submit(path)
    [stored] = hamtune.applications()
    assert job.record.spec["application"] == {"id": stored.id}
    assert (stored.record.name, stored.state, stored.record.ranks) == ("pair", "ready", 2)
    assert hamtune.upload_trace(trace).id == stored.id
    assert hamtune.application(stored.id).wait(timeout=0).record.summary["calls"] == {
        "allreduce": 2
    }
    assert "allreduce" in stored._repr_html_()


def test_a_source_tree_is_uploaded_with_how_it_is_built(hamtune: Client, tmp_path: Path) -> None:
    source = tmp_path / "solver"
    source.mkdir()
    (source / "solver.c").write_text("int main(void) { return 0; }\n")
    program = hamtune.upload_source(source, build="make", run="./solver 10", ranks=4, captures=1)
    assert program.record.recipe is not None
    assert (program.state, program.record.recipe["run"]) == ("new", "./solver 10")
    assert repr(program) == f"<Application 'solver' {program.id}: new, 4 ranks>"
    assert program.log("build") == ""
    with pytest.raises(HamtuneClientError, match="captured when a job needs it"):
        program.wait(timeout=0)
    named = {"source": str(source), "build": "make", "run": "./solver 10", "ranks": 4}
    job = hamtune.submit({**SPEC, "application": {**named, "captures": 1}})
    assert job.record.spec["application"] == {"id": program.id}
    with pytest.raises(Refused, match="ranks"):
        hamtune.upload_source(source, build="make", run="./solver", ranks=0)


def test_machines_are_stored_once_and_named_by_jobs(hamtune: Client) -> None:
    stored = hamtune.add_machine("sixteen", SPEC["machine"])
    assert hamtune.add_machine("sixteen", SPEC["machine"]) == stored
    assert [one.id for one in hamtune.machines()] == [stored.id]
    assert hamtune.machine(stored.id).machine["nodes"] == 16
    assert hamtune.submit({**SPEC, "machine": {"id": stored.id}}).state == "queued"
    with pytest.raises(Refused, match="nodes"):
        hamtune.add_machine("none", {"nodes": 0})


def test_files_of_a_cluster_become_a_machine(hamtune: Client, tmp_path: Path) -> None:
    ring, host = tmp_path / "ring.edges", tmp_path / "host.xml"
    ring.write_text("0 1\n1 2\n2 3\n3 0\n")
    host.write_text("<topology><object type='Core'/></topology>")
    told = hamtune.upload_machine(ring, host=host, name="ring", host_speed="40Gf")
    assert told.machine is not None
    assert hamtune.machine(told.machine.id).machine["host_speed"] == 4e10
    assert told.network == {"format": "edges", "hosts": 4, "switches": 0, "cables": 4}
    assert told.host == {"cores": 1, "levels": [1]}
    base = hamtune.upload_machine(base=told.machine.id, host=host).machine
    assert base is not None
    assert base.name == "ring"
    with pytest.raises(Refused, match="the inside of a host, not a network"):
        hamtune.upload_machine(host)
    with pytest.raises(HamtuneClientError, match="there is no file"):
        hamtune.upload_machine(tmp_path / "nothing")


def test_names_and_schemas_are_looked_up(hamtune: Client) -> None:
    catalogue = hamtune.catalogue()
    assert "torus-2d" in [one["name"] for one in catalogue["topologies"]]
    assert hamtune.schema("job")["title"] == "JobSpec"
    assert "nodes" in str(hamtune.schema("machine"))
    with pytest.raises(Refused):
        hamtune.schema("nothing")  # type: ignore[arg-type]


def test_keys_are_made_rotated_and_revoked(hamtune: Client) -> None:
    assert hamtune.session().project == "default"
    key = hamtune.create_key("nightly", "submitter", scopes=["jobs:write"], expires_in=3600)
    assert key.key.startswith(f"ht_{key.id}_")
    assert all(key.key not in shown for shown in (repr(key), str(key), f"{[key]}"))
    other = hamtune.rotate_key(key.id, grace=60)
    assert other.key != key.key
    assert [one.name for one in hamtune.keys()] == ["nightly"]  # noqa: SIM118 - no mapping
    assert hamtune.revoke_key(key.id).revoked_at is not None


def test_projects_are_shown_and_changed_by_an_operator(hamtune: Client) -> None:
    assert [one.name for one in hamtune.projects()] == ["default"]
    changed = hamtune.change_project("default", weight=2.0, quotas={"jobs": 3})
    assert (changed.weight, hamtune.project("default").quotas["jobs"]) == (2.0, 3)


def test_a_service_that_asks_for_keys_keeps_a_log_and_projects_apart(
    guard: Callable[..., Guarded],
) -> None:
    guarded = guard()
    app = guarded.client.app
    assert isinstance(app, FastAPI)

    def client(project: str) -> Client:
        key = guarded.key(project)["Authorization"].removeprefix("Bearer ")
        return Client("http://testserver", key=key, transport=InProcess(app))

    with client("ours") as ours, client("theirs") as theirs:
        stored = ours.add_machine("sixteen", SPEC["machine"])
        assert [(one.action, one.status) for one in ours.audit()][:1] == [("create_machine", 201)]
        assert list(theirs.machines()) == []
        with pytest.raises(Refused, match="there is no machine") as refused:
            theirs.machine(stored.id)
        assert refused.value.status == 404
        with pytest.raises(Refused, match="only the operator") as refused:
            ours.change_project("ours", weight=2.0)
        assert refused.value.status == 403
    with (
        Client("http://testserver", transport=InProcess(app)) as nobody,
        pytest.raises(Refused, match=r"Client\(key=\.\.\.\) or HAMTUNE_API_KEY"),
    ):
        nobody.session()


def test_a_job_is_found_by_its_name_unless_several_have_it(
    hamtune: Client, job: Job, create_job: Callable[..., str]
) -> None:
    assert hamtune.job("cg-16").id == job.id
    another = create_job(seed=2)
    with pytest.raises(HamtuneClientError, match=f"2 jobs are called 'cg-16'; .*{another}"):
        hamtune.job("cg-16")
    hamtune.job(another).cancel().archive()
    assert hamtune.job("cg-16").id == job.id
    for seed in range(20):
        create_job(seed=seed)
    with pytest.raises(HamtuneClientError, match="20 or more jobs are called 'cg-16'"):
        hamtune.job("cg-16")


def test_what_more_trials_would_bring_is_told(
    hamtune: Client, storage: Storage, create_job: Callable[..., str]
) -> None:
    unknown = hamtune.job(create_job()).outlook()
    assert unknown.last is None and unknown.unknown is not None
    job = hamtune.job(expecting(storage, create_job()))
    known = job.outlook()
    assert known.last is not None and [point.trial for point in known.points] == [1, 2]
    assert job.record.progress.outlook == known.last
    said = "a further gain above 1% is 10% likely, 0.2% expected"
    assert said in headway(job.record) and said in job._repr_html_()


NUMBERED: dict[Any, Any] = {**SPEC, 1: 2}


@pytest.mark.parametrize("spec", ["", "job", "- 1\n- 2\n", [SPEC], NUMBERED])
def test_what_is_no_job_file_is_said_in_plain_words(hamtune: Client, spec: Any) -> None:
    for use in (hamtune.submit, hamtune.check):
        with pytest.raises(HamtuneClientError):
            use(spec)


def test_a_source_without_how_it_is_built_is_refused(hamtune: Client) -> None:
    with pytest.raises(HamtuneClientError, match="build, run, ranks is missing"):
        hamtune.check({**SPEC, "application": {"source": "solver"}})


def test_an_upload_begins_anew_after_a_broken_connection(runtime: Runtime, trace: Path) -> None:
    inner = InProcess(create_app(runtime))
    lengths = []

    def answer(request: httpx.Request) -> httpx.Response:
        lengths.append(len(request.read()))
        if len(lengths) == 1:
            raise httpx.ReadError("cut")
        return inner.handle_request(request)

    with Client("http://localhost", transport=httpx.MockTransport(answer)) as client:
        assert client.upload_trace(trace).state == "ready"
    assert lengths[0] == lengths[1] > trace.stat().st_size


def test_a_space_without_a_size_is_shown(hamtune: Client) -> None:
    checked = hamtune.check(SPEC)
    assert checked.space is not None
    unknown = {**checked.space, "size": None, "excluded": None}
    assert "size not known" in checked.model_copy(update={"space": unknown})._repr_html_()


def test_what_a_job_has_shown_is_looked_up(hamtune: Client, job: Job) -> None:
    assert [row["value"] for row in job.rows(order="fastest", limit=2)] == [1.0, 2.0]
    assert [row["configuration.topology_seed"] for row in job.rows(limit=2)] == [4, 3]
    assert job.rows(state="censored")[0]["label"] is None
    assert [point.best for point in job.convergence().points][-1] == 1.0
    assert [one["job_id"] for one in hamtune.curves([job.id])] == [job.id]
    assert job.running() == []
    assert job.trial(3, whole=True).value == 1.0
    assert [trial.number for trial in job.list_trials(limit=2)] == [1, 2]
    assert [one.name for one in hamtune.list_jobs(limit=1)] == ["cg-16"]
    with pytest.raises(Refused, match="no application yet"):
        job.log()
    with pytest.raises(Refused, match="not captured yet"):
        job.placement(3)


def test_measured_times_are_told_and_read(job: Job) -> None:
    told = job.add_measured([1.3, 1.2], cluster="bluebird", label="trial 3", trial=3)
    [one] = told.items
    assert [run.seconds for run in one.runs] == [1.3, 1.2]
    assert job.measured() == told
    gained = {
        "format": "openmpi", "command": ["./cg"], "exported_seconds": [1.0],
        "default_seconds": [2.0],
        "speedup": 2.0, "interval": None, "confidence": 0.95, "simulated_speedup": None,
    }  # fmt: skip
    kept = job.add_measurement(gained)
    assert job.measurements() == [kept] and kept.measurement["speedup"] == 2.0
    with pytest.raises(Refused) as refused:
        job.end_measuring()
    assert refused.value.status == 409


def test_the_asynchronous_client_does_these_too(runtime: Runtime, job: Job, trace: Path) -> None:
    async def use() -> list[object]:
        transport = httpx.ASGITransport(create_app(runtime))
        async with AsyncClient("http://localhost", transport=transport) as client:
            same = await client.job("cg-16")
            stored = await client.upload_trace(trace, name="named")
            await client.add_machine("sixteen", SPEC["machine"])
            return [
                (await client.check(SPEC)).spec["name"],
                stored.record.name,
                (await stored.wait()).state,
                [one.name async for one in client.machines()],
                [one.id async for one in client.applications()] == [stored.id],
                [row["value"] for row in await same.rows(order="fastest", limit=1)],
                [one.id for one in await client.list_jobs()] == [job.id],
                len(await same.list_trials()),
            ]

    expected = ["cg-16", "named", "ready", ["sixteen"], True, [1.0], True, 4]
    assert asyncio.run(use()) == expected
