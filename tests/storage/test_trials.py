from __future__ import annotations

from collections.abc import Callable

import pytest

from searchspace.errors import InvalidInput
from storage.errors import NotFound, ReplayDiverged
from storage.proposal import Proposal
from storage.records import DEFAULT_PROJECT, Outcome, Trial
from storage.storage import Storage

Propose = Callable[..., Trial]


def completed(value: float, *, cpu_seconds: float = 2.0) -> Outcome:
    return Outcome(
        status="completed",
        value=value,
        result={"rank_finish_times": [value, value / 2]},
        cpu_seconds=cpu_seconds,
        wall_seconds=2.5,
        peak_rss_bytes=1 << 20,
    )


def test_a_proposed_trial_is_pending(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    trial = propose(1, cutoff=0.5)

    assert (trial.state, trial.number, trial.cutoff) == ("pending", 1, 0.5)
    assert trial.configuration == {"ordering": "original", "topology_seed": 1}
    assert storage.trials.get(running_job[0], 1) == trial


def test_proposing_a_number_again_returns_the_stored_trial_with_its_outcome(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    storage.trials.settle(propose(1).id, running_job[1], completed(0.5))

    again = propose(1)

    assert (again.state, again.value) == ("completed", 0.5)
    assert again.result == {"rank_finish_times": [0.5, 0.25]}


def test_a_replay_that_proposes_another_configuration_is_an_error(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    propose(1)

    with pytest.raises(ReplayDiverged, match="trial 1 of job"):
        storage.trials.propose(
            *running_job,
            Proposal(
                number=1,
                kind="search",
                configuration={"ordering": "hamorder"},
                configuration_sha256="f" * 64,
            ),
        )


def proposals(*numbers: int) -> list[Proposal]:
    return [
        Proposal(
            number=number,
            kind="search",
            configuration={"topology_seed": number},
            configuration_sha256=f"{number:064x}",
            technique="Random",
            cutoff=0.5,
        )
        for number in numbers
    ]


def test_several_trials_are_proposed_at_once_with_an_attempt_and_an_event_each(
    storage: Storage, running_job: tuple[str, int]
) -> None:
    job_id, _ = running_job
    before = storage.events.last_id()

    made = storage.trials.propose_several(*running_job, proposals(1, 2, 3))

    assert [trial.number for trial in made] == [1, 2, 3]
    assert made == storage.trials.of_job(job_id)
    attempts = storage.attempts.unfinished(job_id)
    assert [(one.trial_number, one.number, one.state) for one in attempts] == [
        (1, 1, "dispatched"),
        (2, 1, "dispatched"),
        (3, 1, "dispatched"),
    ]
    events = storage.events.after(before)
    assert [event.data["number"] for event in events] == [1, 2, 3]


def test_of_several_trials_none_is_stored_where_one_is_there_already(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    propose(2)

    with pytest.raises(ReplayDiverged, match="trial 2 of job"):
        storage.trials.propose_several(*running_job, proposals(1, 2))

    assert [trial.number for trial in storage.trials.of_job(running_job[0])] == [2]


def test_outcomes_are_read_in_ask_order_up_to_one_that_is_missing(
    storage: Storage, running_job: tuple[str, int]
) -> None:
    job_id, token = running_job
    made = storage.trials.propose_several(*running_job, proposals(1, 2, 3, 4))
    for trial in (made[0], made[1], made[3]):
        storage.trials.settle(trial.id, token, completed(0.5))

    assert [trial.number for trial in storage.trials.finished_from(job_id, 1, 10)] == [1, 2]
    assert [trial.number for trial in storage.trials.finished_from(job_id, 1, 1)] == [1]
    assert storage.trials.finished_from(job_id, 3, 10) == []


def test_a_settled_trial_keeps_its_first_outcome(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    trial = propose(1)

    storage.trials.settle(trial.id, token, completed(0.5))
    again = storage.trials.settle(trial.id, token, completed(0.25))

    assert again.value == 0.5
    assert storage.jobs.get(job_id).evaluations == 1


def test_settling_takes_the_trial_from_the_worker_that_holds_it(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    trial = propose(1)
    attempt = storage.attempts.open(trial.id, token)
    storage.attempts.begin(attempt.id, "worker")

    storage.trials.settle(trial.id, token, Outcome(status="failed", reason={"kind": "lost"}))

    assert not storage.attempts.finish(attempt.id, completed(0.5))
    assert storage.trials.get(job_id, 1).state == "failed"


def test_a_trial_that_does_not_exist_is_named(
    storage: Storage, running_job: tuple[str, int]
) -> None:
    job_id, token = running_job
    with pytest.raises(NotFound, match=r"no trial 9"):
        storage.trials.get(job_id, 9)
    for identifier in (f"{job_id}-9", "nonsense", f"{job_id}-x"):
        with pytest.raises(NotFound):
            storage.trials.settle(identifier, token, completed(1.0))


def test_trials_are_listed_by_number_and_filtered_by_state(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    for number in (1, 2, 3, 4):
        propose(number)
    for number in (2, 4):
        storage.trials.settle(f"{job_id}-{number}", token, completed(float(number)))

    assert [trial.number for trial in storage.trials.of_job(job_id, limit=3)] == [1, 2, 3]
    assert [trial.number for trial in storage.trials.of_job(job_id, after=3)] == [4]
    done = storage.trials.of_job(job_id, states=["completed"])
    assert [trial.number for trial in done] == [2, 4]
    both = storage.trials.of_job(job_id, states=("completed", "pending"), after=1)
    assert [trial.number for trial in both] == [2, 3, 4]
    assert [trial.number for trial in storage.trials.unfinished(job_id)] == [1, 3]
    assert [cells.number for cells in storage.trials.cells(job_id, [2, 3, 99])] == [2, 3]
    assert storage.trials.cells(job_id, []) == []
    with pytest.raises(InvalidInput):
        storage.trials.of_job(job_id, limit=0)


def test_listings_leave_the_results_out(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    storage.trials.settle(propose(1).id, token, completed(0.5))

    assert storage.trials.of_job(job_id)[0].result is None
    assert storage.trials.get(job_id, 1).result is not None


def test_the_best_trial_is_the_first_of_the_lowest_completed_values(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    assert storage.trials.best(job_id) is None
    outcomes = [
        completed(3.0),
        completed(1.0),
        completed(1.0),
        Outcome(status="censored", value=0.5),
        Outcome(status="failed", reason={"kind": "crash"}),
    ]
    for number, outcome in enumerate(outcomes, start=1):
        storage.trials.settle(propose(number).id, token, outcome)

    best = storage.trials.best(job_id)

    assert best is not None
    assert (best.number, best.value) == (2, 1.0)
    assert best.result is not None


def test_budgets_count_what_was_simulated(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    outcomes = [
        completed(3.0, cpu_seconds=2.0),
        Outcome(status="censored", value=1.0, cpu_seconds=0.5),
        Outcome(status="failed", reason={"kind": "crash"}, cpu_seconds=0.25),
        Outcome(status="infeasible", reason={"kind": "infeasible"}),
        Outcome(status="completed", value=2.0, cached=True),
    ]
    for number, outcome in enumerate(outcomes, start=1):
        storage.trials.settle(propose(number).id, token, outcome)
    propose(6)

    counts = storage.trials.counts([job_id])[job_id]
    assert counts.finished == {"search": 5}
    assert counts.states == {
        "completed": 2,
        "censored": 1,
        "failed": 1,
        "infeasible": 1,
        "pending": 1,
    }
    assert storage.jobs.get(job_id).cpu_seconds == storage.trials.search_seconds(job_id) == 2.75
    assert storage.jobs.get(job_id).evaluations == 3
    assert storage.jobs.get(job_id).evaluations == 3


def test_reasons_of_failures_are_counted(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    reasons = [
        {"kind": "crash"},
        {"kind": "wall", "message": "stopped after 2 s"},
        {"kind": "wall", "message": "stopped after 2 s"},
    ]
    for number, reason in enumerate(reasons, start=1):
        storage.trials.settle(propose(number).id, token, Outcome(status="failed", reason=reason))
    storage.trials.settle(propose(4).id, token, completed(3.0))

    assert storage.failures.counts([job_id, "another"]) == {
        job_id: [("wall", "stopped after 2 s", 2), ("crash", "", 1)]
    }


def test_points_tell_what_a_curve_needs(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    for number in (1, 2, 3):
        storage.trials.settle(propose(number).id, token, completed(1.0 / number))

    points = storage.trials.points(job_id, after=1)

    assert [(point.number, point.value, point.state) for point in points] == [
        (2, 0.5, "completed"),
        (3, 1.0 / 3, "completed"),
    ]
    assert all(point.cpu_seconds == 2.0 and point.finished_at for point in points)


def test_the_end_of_a_job_takes_open_trials_only(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    storage.trials.settle(propose(1).id, token, completed(1.0))
    attempt = storage.attempts.open(propose(2).id, token)
    storage.attempts.begin(attempt.id, "worker")
    propose(3)

    storage.jobs.transition(job_id, "completed", token=token, ended_because="target")

    assert [trial.state for trial in storage.trials.of_job(job_id)] == [
        "completed",
        "cancelled",
        "cancelled",
    ]
    assert storage.trials.unfinished(job_id) == []
    assert not storage.attempts.heartbeat(attempt.id)
    assert not storage.attempts.finish(attempt.id, completed(0.5))


def test_the_numbers_of_a_result_come_back_exactly(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    result = {"rank_finish_times": [[0.1 + 0.2, 1e-300, 123456789.123456789]], "link_loads": []}
    outcome = Outcome(status="completed", value=0.1 + 0.2, result=result)

    storage.trials.settle(propose(1, cutoff=1 / 3).id, token, outcome)

    trial = storage.trials.get(job_id, 1)
    assert (trial.value, trial.cutoff, trial.result) == (0.1 + 0.2, 1 / 3, result)


def test_a_proposal_may_open_its_first_attempt(
    storage: Storage, running_job: tuple[str, int]
) -> None:
    job_id, token = running_job
    for _ in range(2):
        trial = storage.trials.propose(
            job_id,
            token,
            Proposal(
                number=1,
                kind="baseline",
                label="mesh-2d",
                inside=False,
                configuration={"topology": "mesh-2d"},
                configuration_sha256="a" * 64,
            ),
            attempt=True,
        )

    (attempt,) = storage.attempts.unfinished(job_id)
    assert (attempt.id, attempt.state) == (f"{trial.id}-1", "dispatched")
    assert storage.attempts.open(trial.id, token) == attempt
    storage.attempts.begin(attempt.id, "worker")
    storage.attempts.finish(attempt.id, Outcome(status="completed", value=1.0))
    assert storage.trials.best(job_id) is None, "it is no point of the search space"
    assert storage.jobs.get(job_id).best_trial is None
    assert [point.label for point in storage.trials.baseline_points(job_id)] == ["mesh-2d"]
    assert storage.trials.initial_point(job_id) is None


def test_a_trial_that_is_not_there_is_answered_with_those_that_are(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, _ = running_job
    with pytest.raises(NotFound, match=r"no trial 9 of job .*; it has none"):
        storage.trials.get(job_id, 9)
    propose(1)
    propose(2)
    with pytest.raises(NotFound, match=r"no trial 9 of job .*; it has 1 to 2"):
        storage.trials.get(job_id, 9)


def test_trials_of_no_job_are_not_counted(storage: Storage) -> None:
    job = storage.jobs.create(name="j", spec={}, seed=1)
    assert storage.trials.counts_of(job.id).finished == {}
    with pytest.raises(NotFound, match="there is no job nothere"):
        storage.of_project(DEFAULT_PROJECT).trials.counts_of("nothere")
