"""Evaluations that go wrong: bad traces, full hosts, stopped workers, dead simulators."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from storage.storage import Storage
from tests.processes import children
from tests.workers.conftest import RunJob, RunningJob, write_program
from workers.evaluator import Evaluator, Stopped
from workers.simulator_client import Simulator


def in_background(evaluator: Evaluator, attempt_id: str) -> threading.Thread:
    """Evaluate in another thread; returns once the attempt has been begun."""
    thread = threading.Thread(target=evaluator.evaluate, args=(attempt_id,))
    thread.start()
    return thread


def wait_until_running(job: RunningJob, number: int = 1) -> None:
    while job.trial(number).state != "running":
        threading.Event().wait(0.01)


def test_a_trace_that_was_altered_fails_the_trial_with_that_reason(
    evaluator: Evaluator, run_job: RunJob, trace: Path, storage: Storage
) -> None:
    job = run_job(trace)
    application_id = storage.jobs.get(job.id).application_id
    assert application_id is not None
    stored = storage.artifacts.path(storage.applications.get(application_id).trace_sha256)
    stored.chmod(0o644)
    stored.write_bytes(b"something else")

    evaluator.evaluate(job.open())

    trial = job.trial()
    assert trial.state == "failed"
    assert trial.reason is not None
    assert "was altered" in trial.reason["message"]


def test_a_worker_that_is_slow_to_begin_still_evaluates_what_it_took_first(
    evaluator: Evaluator, run_job: RunJob, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.evaluator._TURN_SECONDS", -1.0)  # it is always late
    job = run_job(trace)

    for number in (1, 2):
        evaluator.evaluate(job.open(number))
        assert job.trial(number).state == "completed"


def test_a_worker_without_room_for_temporary_files_hands_its_attempts_back(
    evaluator: Evaluator,
    run_job: RunJob,
    trace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = run_job(trace)
    job.open(1)
    first = job.open(2, collectives={"alltoall": "bruck"})
    with monkeypatch.context() as host_error:
        host_error.setattr(tempfile, "tempdir", str(tmp_path / "swept"))
        evaluator.evaluate(first)
    assert {job.trial(number).state for number in (1, 2)} == {"pending"}

    for number in (1, 2):
        evaluator.evaluate(job.open_again(number))
    assert {job.trial(number).state for number in (1, 2)} == {"completed"}


def test_a_trial_fails_that_no_worker_is_able_to_evaluate(
    evaluator: Evaluator,
    run_job: RunJob,
    trace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workers.evaluator._MOST_ATTEMPTS", 1)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "swept"))
    job = run_job(trace)

    evaluator.evaluate(job.open())

    trial = job.trial()
    assert trial.state == "failed"
    assert trial.reason is not None
    assert trial.reason["kind"] == "worker"
    assert "No such file or directory" in trial.reason["message"]


def test_a_stale_message_does_nothing(evaluator: Evaluator, run_job: RunJob, trace: Path) -> None:
    job = run_job(trace)
    attempt_id = job.open()

    evaluator.evaluate(attempt_id)
    done = job.trial()
    evaluator.evaluate(attempt_id)
    evaluator.evaluate("nosuchjob-1-1")

    assert job.trial() == done


def test_a_running_attempt_has_heartbeats(
    evaluator: Evaluator, run_job: RunJob, long_trace: Path, storage: Storage
) -> None:
    job = run_job(long_trace)
    thread = in_background(evaluator, job.open())
    wait_until_running(job)
    (first,) = storage.attempts.unfinished(job.id)
    while storage.attempts.unfinished(job.id)[0].heartbeat_at == first.heartbeat_at:
        threading.Event().wait(0.01)
    while not (under_way := storage.attempts.running(job.id)[0]).share:
        threading.Event().wait(0.01)
    assert under_way.share < 1.0
    assert under_way.simulated_time is not None
    assert under_way.simulated_time > 0.0

    evaluator.stop(abandon=True)
    thread.join()


def test_an_attempt_given_up_as_lost_is_dropped_and_its_simulation_ended(
    evaluator: Evaluator, run_job: RunJob, long_trace: Path, storage: Storage
) -> None:
    job = run_job(long_trace)
    thread = in_background(evaluator, job.open())
    wait_until_running(job)

    storage.attempts.expire(job.id, job.token, 0.0)
    thread.join()  # ends long before the simulation would

    assert job.trial().state == "pending"
    assert storage.attempts.open(job.trial().id, job.token).number == 2


def test_a_trace_that_is_missing_is_the_reason_of_a_failure(
    evaluator: Evaluator, run_job: RunJob, trace: Path, storage: Storage
) -> None:
    job = run_job(trace)
    application = storage.jobs.get(job.id).application_id
    assert application is not None
    storage.artifacts.path(storage.applications.get(application).trace_sha256).unlink()

    evaluator.evaluate(job.open())

    trial = job.trial()
    assert trial.state == "failed"
    assert trial.reason is not None
    assert trial.reason["kind"] == "artifact"
    assert trial.reason["message"].startswith("there is no artifact")


def test_a_stopped_worker_hands_its_attempts_back_and_takes_no_more(
    evaluator: Evaluator, run_job: RunJob, long_trace: Path
) -> None:
    job = run_job(long_trace)
    thread = in_background(evaluator, job.open(1))
    wait_until_running(job)

    evaluator.stop(abandon=True)
    thread.join()

    assert job.trial(1).state == "pending"
    attempt_id = job.open(2, topology="torus-3d")
    with pytest.raises(Stopped):
        evaluator.evaluate(attempt_id)
    assert job.trial(2).state == "pending"


def test_simulators_outlive_failures_and_cancellations(
    evaluator: Evaluator, run_job: RunJob, trace: Path, long_trace: Path, storage: Storage
) -> None:
    short, long = run_job(trace), run_job(long_trace)
    thread = in_background(evaluator, long.open())
    wait_until_running(long)
    storage.attempts.expire(long.id, long.token, 0.0)
    thread.join()

    evaluator.evaluate(short.open())

    assert short.trial().state == "completed"


def test_what_is_stored_already_does_not_end_the_simulation_of_another(
    storage: Storage, run_job: RunJob, tmp_path: Path
) -> None:
    started: list[Simulator] = []

    class Counted(Simulator):
        def __init__(self, traces: Sequence[Path], *, gives_way: bool = False) -> None:
            super().__init__(traces, gives_way=gives_way)
            started.append(self)

    evaluator = Evaluator(storage, "worker", heartbeat_seconds=0.05, start=Counted)
    job = run_job(write_program(tmp_path / "medium.ht", iterations=300))
    evaluator.evaluate(job.open(1, cutoff=1e-6))
    # Quick ones are taken together with those behind, and are stored before the last of these.
    messages = [job.open(number, cutoff=1e-6, ordering="hamorder") for number in (2, 3, 4)]
    messages += [job.open(n, topology="random", topology_seed=n) for n in range(5, 9)]

    for message in messages:
        evaluator.evaluate(message)

    evaluator.close()
    assert [job.trial(number).state for number in (1, 5)] == ["censored", "completed"]
    assert len(started) == 1


def test_a_simulation_killed_from_outside_is_made_again_a_few_times(
    evaluator: Evaluator, run_job: RunJob, long_trace: Path
) -> None:
    job = run_job(long_trace)
    servers_before = set(children(os.getpid()))
    thread = in_background(evaluator, job.open())
    killed: list[int] = []
    while thread.is_alive():
        for server in set(children(os.getpid())) - servers_before:
            for simulation in children(server):
                if simulation not in killed:
                    os.kill(simulation, signal.SIGKILL)
                    killed.append(simulation)
        threading.Event().wait(0.01)

    trial = job.trial()
    assert trial.state == "failed"
    assert trial.reason is not None
    assert trial.reason["kind"] == "killed"
    # Three simulations, and the processes in which ranks stood ready for the first and the third.
    assert len(killed) == 5
