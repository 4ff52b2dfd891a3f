"""Jobs whose configurations scripts propose, or whose trials scripts measure."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from searchspace.configuration import Configuration
from storage.errors import Conflict
from storage.records import FINAL_JOB_STATES, AskedTrial, Job, Outcome, Trial
from storage.storage import Storage
from tests.tuner.analytic import (
    Evaluators,
    Gate,
    censored,
    create_job,
    open_storage,
    simulated,
)
from tests.tuner.driving import drive, essence, run, wait_until
from tuner.coordinator import Coordinator
from tuner.evaluations import Silence
from tuner.job_space import read_job, space_of

LONG = 3600.0
FEW = {"trials": 14}


@contextmanager
def driven(storage: Storage, job: Job, workers: int = 1, **options: Any) -> Iterator[Evaluators]:
    """A coordinator's thread at a job, and workers; at the end it stops, wherever the job is."""
    stop = threading.Event()
    with Evaluators(storage, workers) as evaluators:
        coordinator = Coordinator(storage, evaluators.dispatch, "t", embedded=True, **options)
        serving = threading.Thread(target=coordinator.serve, args=(stop,), kwargs={"only": job.id})
        serving.start()
        try:
            yield evaluators
        finally:
            stop.set()
            serving.join()


def measured(trial: Trial) -> Outcome:
    """What a script comes to that stops at the cutoff."""
    found = censored(simulated(trial.configuration), trial.cutoff)
    return Outcome(status=found.status, value=found.value, reason=found.reason)


def tell(storage: Storage, asked: AskedTrial) -> None:
    trial = asked.trial
    storage.scripts.tell(trial.job_id, trial.number, asked.attempt, measured(trial))


def measure(storage: Storage, job: Job, most: int = 1, until: int | None = None) -> None:
    """Ask and tell, several at a time and those in any order, to the end or so many outcomes."""
    mixed = random.Random(most)
    while until is None or storage.jobs.get(job.id).evaluations < until:
        asked = storage.scripts.ask(job.id, f"{random.random()}", "script", most, LONG)
        if not asked:
            time.sleep(0.02)  # the coordinator writes too
        mixed.shuffle(asked)
        for one in asked:
            tell(storage, one)
        if storage.jobs.get(job.id).state in FINAL_JOB_STATES:
            return


@pytest.fixture(scope="module")
def by_workers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], list[tuple[Any, ...]]]:
    """The trials of the standard job as workers evaluate them, by batch."""
    known: dict[int, list[tuple[Any, ...]]] = {}

    def trials(batch: int) -> list[tuple[Any, ...]]:
        if batch not in known:
            storage = open_storage(tmp_path_factory.mktemp("workers"))
            known[batch] = essence(storage, run(storage, batch=batch, budget=FEW))
            storage.close()
        return known[batch]

    return trials


@pytest.mark.parametrize("batch", [1, 4])
def test_a_script_that_measures_is_asked_what_workers_are(
    storage: Storage, by_workers: Callable[[int], list[tuple[Any, ...]]], batch: int
) -> None:
    job = create_job(storage, external="measurements", batch=batch, budget=FEW)
    with driven(storage, job, workers=1):  # which prepares the job, and finds nothing else to do
        measure(storage, job, most=batch)
    ended = storage.jobs.get(job.id)
    assert (ended.state, ended.ended_because) == ("completed", "trials")
    assert essence(storage, ended) == by_workers(batch)
    assert {trial.worker for trial in storage.trials.of_job(job.id)} == {"script"}


def test_a_coordinator_that_goes_is_followed_by_one_that_asks_the_same(
    storage: Storage, by_workers: Callable[[int], list[tuple[Any, ...]]]
) -> None:
    job = create_job(storage, external="measurements", batch=4, budget=FEW)
    for until in (2, 13):
        with driven(storage, job):
            measure(storage, job, most=3, until=until)
            wait_until(lambda: storage.trials.unfinished(job.id) != [])
            (held,) = storage.scripts.ask(job.id, f"held {until}", "script", 1, LONG)
        # What a script has outlives the coordinator, and is told to none.
        assert storage.trials.get(job.id, held.trial.number).state == "running"
        tell(storage, held)
    with driven(storage, job):
        measure(storage, job, most=2)
    assert essence(storage, job) == by_workers(4)


def test_a_job_pauses_at_once_and_is_told_meanwhile(
    storage: Storage, by_workers: Callable[[int], list[tuple[Any, ...]]]
) -> None:
    job = create_job(storage, external="measurements", batch=4, budget=FEW)
    with driven(storage, job):
        measure(storage, job, until=12)  # past the baselines
        wait_until(lambda: len(storage.trials.unfinished(job.id)) == 4)
        held = storage.scripts.ask(job.id, "held", "script", 2, LONG)
        storage.jobs.transition(job.id, "pausing")
        wait_until(lambda: storage.jobs.get(job.id).state == "paused")
        with pytest.raises(Conflict, match="is paused; resume it first"):
            storage.scripts.ask(job.id, "more", "script", 1, LONG)
        for one in reversed(held):
            tell(storage, one)
        storage.jobs.transition(job.id, "queued")
        measure(storage, job, most=4)
    assert essence(storage, job) == by_workers(4)


def test_workers_of_other_jobs_leave_trials_to_scripts(storage: Storage) -> None:
    job = create_job(storage, external="measurements", batch=4)
    with driven(storage, job, workers=2):
        wait_until(lambda: len(storage.trials.unfinished(job.id)) == 4)
        other = create_job(storage, budget={"trials": 8})
        with Evaluators(storage, 2) as evaluators:
            assert drive(storage, other, evaluators.dispatch).state == "completed"
        sent = [identifier for task, identifier in evaluators.sent if task == "evaluate"]
        for message in sent[:3]:
            assert storage.attempts.take_several(message, "thief", 8) == []
        assert {trial.state for trial in storage.trials.unfinished(job.id)} == {"pending"}
        storage.jobs.transition(job.id, "cancelling")
        wait_until(lambda: storage.jobs.get(job.id).state == "cancelled")


def test_a_job_whose_script_is_gone_is_paused_with_the_reason(storage: Storage) -> None:
    for external in ("measurements", "proposals"):
        job = create_job(storage, external=external)
        with driven(storage, job, silence=Silence(script_seconds=0.1)):
            wait_until(lambda found=job: storage.jobs.get(found.id).state == "paused")  # type: ignore[misc]
        assert storage.jobs.get(job.id).paused_because == "no script was heard of for 100 ms"


def propose(storage: Storage, job: Job, values: Mapping[str, Any], key: str) -> int:
    """Propose a point as the service does; its place."""
    spec = read_job(storage, storage.jobs.get(job.id))
    point = space_of(storage, storage.jobs.get(job.id), spec).space.canonicalise(values)
    document, most = point.to_dict(), spec.budget.trials
    return storage.scripts.propose(job.id, key, document, point.sha256, most=most).place


def points(storage: Storage, job: Job, count: int) -> list[Configuration]:
    prepared = storage.jobs.get(job.id)
    space = space_of(storage, prepared, read_job(storage, prepared)).space
    rng = random.Random(5)
    return [space.sample(rng) for _ in range(count)]


def proposed_trials(storage: Storage, job: Job) -> list[tuple[Any, ...]]:
    return [line for line in essence(storage, job) if line[1] == "search"]


@pytest.mark.parametrize("workers", [1, 3])
def test_proposals_become_trials_in_their_order(storage: Storage, workers: int) -> None:
    job = create_job(storage, external="proposals", budget={"trials": 12})
    with driven(storage, job, workers):
        wait_until(lambda: storage.jobs.get(job.id).space is not None)
        wanted = points(storage, job, 11)
        wanted.append(wanted[3])  # proposed twice, evaluated twice
        places = [propose(storage, job, one, str(key)) for key, one in enumerate(wanted)]
        wait_until(lambda: storage.jobs.get(job.id).state == "completed")
    assert places == list(range(1, 13))
    trials = [one for one in storage.trials.of_job(job.id) if one.kind == "search"]
    assert [one.configuration_sha256 for one in trials] == [one.sha256 for one in wanted]
    for place, (trial, point) in enumerate(zip(trials, wanted, strict=True), start=1):
        expected = simulated(point.to_dict())
        assert (trial.state, trial.value) == (expected.status, expected.value)
        shown = storage.scripts.proposed(job.id, place).trial
        assert shown is not None
        assert shown.number == trial.number
        assert (trial.technique, trial.cutoff) == ("script", None)
    best = min(trial.value for trial in trials if trial.value is not None)
    assert (storage.jobs.get(job.id).best_value or 0.0) <= best


def test_a_proposal_waits_for_no_other(storage: Storage) -> None:
    """A script that waits for each outcome has it although the batch is not full."""
    job = create_job(storage, external="proposals", budget={"trials": 5})
    with driven(storage, job):
        wait_until(lambda: storage.jobs.get(job.id).space is not None)
        for key, point in enumerate(points(storage, job, 5)):
            place = propose(storage, job, point, str(key))

            def known(place: int = place) -> bool:
                trial = storage.scripts.proposed(job.id, place).trial
                return trial is not None and trial.finished_at is not None

            wait_until(known)
        wait_until(lambda: storage.jobs.get(job.id).state == "completed")


def test_a_coordinator_takes_proposals_up_where_another_left_them(storage: Storage) -> None:
    job = create_job(storage, external="proposals", budget={"trials": 20})
    with driven(storage, job):
        wait_until(lambda: storage.jobs.get(job.id).space is not None)
        wanted = points(storage, job, 20)
        for key in range(7):
            propose(storage, job, wanted[key], str(key))
        wait_until(lambda: len(proposed_trials(storage, job)) >= 5)
    for key in range(5, 20):  # two of them again, and all without a coordinator
        propose(storage, job, wanted[key], str(key))
    with driven(storage, job, workers=2):
        wait_until(lambda: storage.jobs.get(job.id).state == "completed")
    found = [
        one.configuration_sha256 for one in storage.trials.of_job(job.id) if one.kind == "search"
    ]
    assert found == [point.sha256 for point in wanted]


def test_a_cutoff_rests_on_no_more_than_the_batch_lets_it(storage: Storage) -> None:
    """However slow the script is: how much it has told would depend on the workers."""
    stories = []
    for slow in (False, True):
        job = create_job(
            storage, external="proposals", budget={"trials": 15}, batch=3, cutoff_factor=1.1
        )
        with driven(storage, job, workers=2):
            wait_until(lambda found=job: storage.jobs.get(found.id).space is not None)  # type: ignore[misc]
            for key, point in enumerate(points(storage, job, 15)):
                propose(storage, job, point, str(key))
                if slow:
                    wait_until(
                        lambda found=job, most=key: (  # type: ignore[misc]
                            len([t for t in storage.trials.of_job(found.id)
                                 if t.kind == "search" and t.finished_at]) > most
                        )
                    )  # fmt: skip
            wait_until(lambda found=job: storage.jobs.get(found.id).state == "completed")  # type: ignore[misc]
        stories.append(essence(storage, job))
    assert stories[0] == stories[1]
    assert any(line[5] is not None for line in stories[0])


def test_what_breaks_a_constraint_is_infeasible_with_the_reason(storage: Storage) -> None:
    # The jumps and the 16 nodes have a divisor in common: no such network is connected.
    circulants = {"family": "circulant", "jumps": ["1,4", "2,4"]}
    search, budget = {"topology": [circulants]}, {"trials": 2}
    job = create_job(storage, external="proposals", search=search, budget=budget)
    with driven(storage, job):
        wait_until(lambda: storage.jobs.get(job.id).space is not None)
        for jumps in ("2,4", "1,4"):
            values = {"topology": "circulant", "circulant.jumps": jumps}
            propose(storage, job, values, jumps)
        wait_until(lambda: storage.jobs.get(job.id).state in FINAL_JOB_STATES)
    broken, fine = (storage.scripts.proposed(job.id, place).trial for place in (1, 2))
    assert broken is not None
    assert broken.state == "infeasible"
    assert broken.reason is not None
    assert "the divisor 2 in common" in broken.reason["message"]
    assert fine is not None
    assert fine.state != "infeasible"


def test_what_was_proposed_in_vain_has_no_trial(storage: Storage) -> None:
    job = create_job(storage, external="proposals", budget={"trials": 30}, batch=1)
    gate = Gate(0)
    with Evaluators(storage, 1, gate) as evaluators:
        driving = threading.Thread(target=drive, args=(storage, job, evaluators.dispatch))
        driving.start()
        wait_until(lambda: storage.jobs.get(job.id).space is not None)
        for key, point in enumerate(points(storage, job, 3)):
            propose(storage, job, point, str(key))
        storage.jobs.transition(job.id, "cancelling")
        wait_until(lambda: storage.jobs.get(job.id).state == "cancelled")
        gate.open()
        driving.join()
    assert storage.scripts.proposed(job.id, 3).trial is None
