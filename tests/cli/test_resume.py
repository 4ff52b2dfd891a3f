"""Whatever ends a process in the middle of a job, the job goes on to the same trials."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from tests.cli.conftest import SECONDS, Hamtune, tiny_job
from tests.valve import Valve


@pytest.fixture
def long_job() -> dict[str, Any]:
    """A job long enough to be disturbed in its middle."""
    return _long_job()


@pytest.fixture
def valve(hamtune: Hamtune) -> Valve:
    """Holds the evaluations of the job, so that it is in its middle for as long as need be."""
    valve = Valve(hamtune.directory / "valve")
    hamtune.environment |= valve.environment
    return valve


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The trials of the job when nothing happens to it."""
    other = Hamtune(tmp_path_factory.mktemp("undisturbed"))
    done = other.json("run", other.job_file(_long_job()))
    return other.trials(done["job"]["id"])


def test_a_job_survives_kill_9_of_the_service(
    hamtune: Hamtune, valve: Valve, long_job: dict[str, Any], undisturbed: list[dict[str, Any]]
) -> None:
    hamtune.job_file(long_job)
    valve.shut(passes=6)
    with hamtune.service() as service:
        job_id = hamtune("submit", "job.yaml").stdout.strip()
        hamtune.wait_for_trials(6, job_id)
        service.process.kill()
        service.process.wait()

    assert len(hamtune.trials(job_id)) < len(undisturbed)
    valve.open()
    with hamtune.service():
        ended = hamtune.json("watch", job_id)

    assert ended["state"] == "completed"
    assert hamtune.trials(job_id) == undisturbed


def test_ctrl_c_of_a_run_tells_how_to_go_on(
    hamtune: Hamtune, valve: Valve, long_job: dict[str, Any], undisturbed: list[dict[str, Any]]
) -> None:
    valve.shut(passes=6)
    with hamtune.running("run", hamtune.job_file(long_job)) as running:
        job_id = hamtune.wait_for_trials(6)
        os.killpg(running.process.pid, signal.SIGINT)
        out, err = running.process.communicate(timeout=SECONDS)

    assert running.process.returncode == 130
    assert "Traceback" not in out + err
    assert f"hamtune run --resume {job_id}" in err.splitlines()[-1]
    assert len(hamtune.trials(job_id)) < len(undisturbed)
    assert f"hamtune run --resume {job_id}" in hamtune("resume", job_id).stderr
    valve.open()
    assert hamtune.json("run", "--resume", job_id)["job"]["state"] == "completed"
    assert hamtune.trials(job_id) == undisturbed


def test_a_run_leaves_other_unfinished_jobs_alone(
    hamtune: Hamtune, valve: Valve, job: dict[str, Any], long_job: dict[str, Any]
) -> None:
    valve.shut(passes=1)
    with hamtune.running("run", hamtune.job_file(long_job)) as running:
        waiting = hamtune.wait_for_trials(1)
        running.process.kill()
        running.process.wait()
    before = hamtune.trials(waiting)
    valve.open()

    hamtune.json("run", hamtune.job_file(job | {"name": "other"}))

    assert hamtune.json("show", waiting)["state"] == "running"
    assert hamtune.trials(waiting) == before


def test_ctrl_c_of_the_service_stops_it_and_takes_its_address_back(
    hamtune: Hamtune, valve: Valve, long_job: dict[str, Any]
) -> None:
    hamtune.job_file(long_job)
    valve.shut(passes=2)
    with hamtune.service() as service:
        assert (hamtune.data / "server.json").exists()
        job_id = hamtune("submit", "job.yaml").stdout.strip()
        hamtune.wait_for_trials(2, job_id)
        os.killpg(service.process.pid, signal.SIGINT)
        _, err = service.process.communicate(timeout=SECONDS)

    assert service.process.returncode == 130
    assert "hamtune up" in err.splitlines()[-1]
    assert not (hamtune.data / "server.json").exists()
    assert hamtune.json("show", job_id)["state"] == "running"


def test_pause_resume_cancel_clone_delete_and_restore(
    hamtune: Hamtune, valve: Valve, long_job: dict[str, Any], undisturbed: list[dict[str, Any]]
) -> None:
    hamtune.job_file(long_job)
    valve.shut(passes=4)
    with hamtune.service():
        job_id = hamtune("submit", "job.yaml").stdout.strip()
        hamtune.wait_for_trials(4, job_id)
        assert hamtune.json("pause", job_id)["state"] in ("pausing", "paused")
        valve.open()
        assert hamtune.json("watch", job_id)["state"] == "paused"
        assert len(hamtune.trials(job_id)) < len(undisturbed)
        valve.shut()
        clone = hamtune("clone", job_id).stdout.strip()
        assert hamtune.json("priority", clone, "low")["priority"] == "low"
        assert hamtune.json("cancel", clone)["state"] in ("cancelling", "cancelled")
        assert hamtune.json("watch", clone)["state"] == "cancelled"
        described = hamtune.json("describe", clone, "--note", "idle", "--tag", "b", "--tag", "a")
        assert (described["note"], described["tags"]) == ("idle", ["a", "b"])
        assert hamtune.json("describe", clone, "--untag", "b", "--tag", "c")["tags"] == ["a", "c"]
        assert [job["id"] for job in hamtune.json("jobs", "--tag", "c")] == [clone]
        assert "tags: a, c\nnote: idle\n" in hamtune("show", clone).stdout
        assert "it has a, c" in hamtune.refused("describe", clone, "--untag", "d", status=1)
        assert "--note" in hamtune.refused("describe", clone)
        assert hamtune("describe", clone, "--name", "idler").stdout.startswith(f"idler ({clone})")
        assert hamtune("archive", "idler").stdout == f"idler ({clone}): archived\n"
        assert [job["id"] for job in hamtune.json("jobs")] == [job_id]
        assert [job["id"] for job in hamtune.json("jobs", "--archived", "only")] == [clone]
        assert hamtune("archive", clone, "--undo").stdout == f"idler ({clone}): listed again\n"
        assert "no job" in hamtune.refused("archive", "nosuchjob", status=1)
        some = hamtune.trials(job_id)
        for deleted in (clone, job_id):
            assert hamtune.json("delete", deleted)["state"] == "deleted"
            assert "was deleted" in hamtune.refused("resume", deleted, status=1)
        valve.open()
        assert hamtune.json("restore", job_id)["state"] == "paused"
        assert hamtune.trials(job_id) == some
        hamtune.json("resume", job_id)
        assert hamtune.json("watch", job_id)["state"] == "completed"

    assert hamtune.trials(job_id) == undisturbed


def test_submit_watches_and_run_goes_to_the_living_service(
    hamtune: Hamtune, job: dict[str, Any]
) -> None:
    hamtune.job_file(job)
    with hamtune.service():
        watched = json.loads(hamtune("submit", "job.yaml", "--watch", "--json").stdout)
        ran = hamtune("run", "job.yaml", "--json")

    assert watched["state"] == "completed"
    assert "the job goes there" in ran.stderr
    assert hamtune.trials(json.loads(ran.stdout)["job"]["id"]) == hamtune.trials(watched["id"])


def test_two_services_do_not_share_a_data_directory(hamtune: Hamtune) -> None:
    with hamtune.service():
        line = hamtune.refused("up", "--port", "0", status=1)

    assert "already runs on" in line


def _long_job() -> dict[str, Any]:
    return tiny_job() | {"budget": {"trials": 24}}
