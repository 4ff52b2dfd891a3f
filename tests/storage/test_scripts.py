"""What scripts propose and measure is stored once, however often a request is sent."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from searchspace.configuration import Configuration
from storage.errors import Conflict, NotFound
from storage.proposal import Proposal
from storage.records import Outcome
from storage.scripts import MOST_OPEN
from storage.storage import Storage

LONG, OVER = 3600.0, 0.0
"""Seconds of a lease that lasts for the test, and of one that is over at once."""
TOOK = Outcome(status="completed", value=1.5)
OTHERWISE = Outcome(status="completed", value=2.5)
BROKE = Outcome(status="failed", reason={"kind": "script", "message": "exit status 1"})


def point(seed: int) -> Configuration:
    return Configuration({"topology": "random", "topology_seed": seed})


def proposed(number: int) -> Proposal:
    """Of a trial."""
    configuration = point(number)
    return Proposal.of(
        configuration,
        number=number,
        kind="search",
    )


@pytest.fixture
def job_id(storage: Storage) -> str:
    """A running job with three trials that nobody has evaluated."""
    job = storage.jobs.create(name="j", spec={}, seed=1)
    leased = storage.leases.acquire("test", LONG, job.id)
    assert leased is not None
    storage.jobs.transition(job.id, "running", token=leased.lease_token)
    storage.trials.propose_several(
        job.id, leased.lease_token, [proposed(number) for number in (1, 2, 3)], attempt=False
    )
    return job.id


@pytest.fixture
def propose(storage: Storage, job_id: str) -> Callable[..., int]:
    """Proposes a configuration under a key; its place."""

    def send(key: str, seed: int = 1, most: int | None = None) -> int:
        configuration = point(seed)
        return storage.scripts.propose(
            job_id, key, configuration.to_dict(), configuration.sha256, most=most
        ).place

    return send


def test_trials_are_given_out_in_the_order_of_asking(storage: Storage, job_id: str) -> None:
    first = storage.scripts.ask(job_id, "a", "n1", 2, LONG)
    assert [(one.trial.number, one.attempt, one.trial.state) for one in first] == [
        (1, 1, "running"),
        (2, 1, "running"),
    ]
    assert [one.trial.number for one in storage.scripts.ask(job_id, "b", "n2", 2, LONG)] == [3]
    assert storage.scripts.ask(job_id, "c", "n3", 1, LONG) == []


def test_an_ask_that_is_repeated_gives_the_same_trial(storage: Storage, job_id: str) -> None:
    asked = storage.scripts.ask(job_id, "a", "n1", 1, LONG)
    assert storage.scripts.ask(job_id, "a", "n1", 1, LONG) == asked
    assert len(storage.attempts.of_trial(job_id, 1)) == 1
    with pytest.raises(Conflict, match="used to ask for 1 trials"):
        storage.scripts.ask(job_id, "a", "n1", 2, LONG)


def test_several_that_ask_at_once_never_have_the_same(storage: Storage, job_id: str) -> None:
    def ask(key: int) -> list[int]:
        found = storage.scripts.ask(job_id, str(key), "n", 1, LONG)
        return [one.trial.number for one in found]

    with ThreadPoolExecutor(6) as pool:
        given = [number for numbers in pool.map(ask, range(6)) for number in numbers]
    assert sorted(given) == [1, 2, 3]


def test_what_is_told_is_the_outcome_and_may_be_the_best(storage: Storage, job_id: str) -> None:
    storage.scripts.ask(job_id, "a", "n1", 3, LONG)
    told = storage.scripts.tell(job_id, 2, 1, TOOK)
    assert (told.state, told.value, told.worker, told.cached) == ("completed", 1.5, "n1", False)
    storage.scripts.tell(job_id, 1, 1, OTHERWISE)
    failed = storage.scripts.tell(job_id, 3, 1, BROKE)
    assert (failed.state, failed.reason) == ("failed", BROKE.reason)
    job = storage.jobs.get(job_id)
    assert (job.best_trial, job.best_value, job.evaluations) == (2, 1.5, 3)
    assert [one.state for one in storage.attempts.of_trial(job_id, 2)] == ["finished"]
    assert storage.evaluations.find("", None) is None


def test_told_again_nothing_changes_and_told_otherwise_it_is_refused(
    storage: Storage, job_id: str
) -> None:
    storage.scripts.ask(job_id, "a", "n1", 1, LONG)
    first = storage.scripts.tell(job_id, 1, 1, TOOK)
    assert storage.scripts.tell(job_id, 1, 1, TOOK) == first
    assert storage.jobs.get(job_id).evaluations == 1
    for other in (OTHERWISE, BROKE, Outcome(status="censored", value=1.5)):
        with pytest.raises(Conflict, match=r"completed with 1\.5 s, and stays so"):
            storage.scripts.tell(job_id, 1, 1, other)


def test_what_is_not_told_in_time_is_given_to_the_next(storage: Storage, job_id: str) -> None:
    storage.scripts.ask(job_id, "a", "n1", 1, OVER)
    (again,) = storage.scripts.ask(job_id, "b", "n2", 1, LONG)
    assert (again.trial.number, again.attempt, again.trial.worker) == (1, 2, "n2")
    with pytest.raises(Conflict, match="has been given to n2"):
        storage.scripts.tell(job_id, 1, 1, TOOK)
    assert storage.scripts.tell(job_id, 1, 2, OTHERWISE).value == 2.5
    assert [one.state for one in storage.attempts.of_trial(job_id, 1)] == ["lost", "finished"]


def test_who_asks_again_too_late_sees_that_another_has_it(storage: Storage, job_id: str) -> None:
    (mine,) = storage.scripts.ask(job_id, "a", "n1", 1, OVER)
    assert not mine.is_taken
    storage.scripts.ask(job_id, "b", "n2", 1, LONG)
    (late,) = storage.scripts.ask(job_id, "a", "n1", 1, OVER)
    assert (late.trial.number, late.attempt, late.is_taken) == (1, 1, True)


def test_what_is_handed_back_is_given_to_the_next_at_once(storage: Storage, job_id: str) -> None:
    (mine,) = storage.scripts.ask(job_id, "a", "login1", 1, LONG)
    given = storage.scripts.release(job_id, 1, mine.attempt)
    assert (given.state, given.worker) == ("pending", None)
    assert storage.scripts.release(job_id, 1, mine.attempt).state == "pending"
    (next_one,) = storage.scripts.ask(job_id, "b", "login2", 1, LONG)
    assert (next_one.trial.number, next_one.attempt) == (1, 2)
    assert storage.scripts.release(job_id, 1, mine.attempt).worker == "login2"
    with pytest.raises(Conflict, match="has been given to login2"):
        storage.scripts.tell(job_id, 1, mine.attempt, TOOK)
    storage.scripts.tell(job_id, 1, next_one.attempt, TOOK)
    assert storage.scripts.release(job_id, 1, next_one.attempt).state == "completed"
    with pytest.raises(NotFound, match="was given to no script"):
        storage.scripts.release(job_id, 1, 7)


def test_what_is_told_late_counts_where_nobody_else_has_it(storage: Storage, job_id: str) -> None:
    storage.scripts.ask(job_id, "a", "n1", 1, OVER)
    assert storage.scripts.tell(job_id, 1, 1, TOOK).value == 1.5
    storage.scripts.ask(job_id, "b", "n1", 2, OVER)  # 2 and 3
    storage.scripts.ask(job_id, "c", "n2", 1, LONG)  # takes 2 anew, and gives 3 up
    assert storage.scripts.tell(job_id, 3, 1, TOOK).value == 1.5


@pytest.mark.parametrize(("number", "attempt"), [(9, 1), (1, 1), (1, 2)])
def test_only_what_was_given_out_is_told(
    storage: Storage, job_id: str, number: int, attempt: int
) -> None:
    with pytest.raises(NotFound):
        storage.scripts.tell(job_id, number, attempt, TOOK)


def test_an_attempt_of_a_worker_is_not_a_scripts(storage: Storage) -> None:
    job = storage.jobs.create(name="j", spec={}, seed=1)
    leased = storage.leases.acquire("test", LONG, job.id)
    assert leased is not None
    storage.trials.propose(job.id, leased.lease_token, proposed(1), attempt=True)
    with pytest.raises(NotFound, match="was given to no script"):
        storage.scripts.tell(job.id, 1, 1, TOOK)


def test_while_a_job_is_paused_it_is_told_and_not_asked(storage: Storage, job_id: str) -> None:
    storage.scripts.ask(job_id, "a", "n1", 1, LONG)
    storage.jobs.transition(job_id, "pausing", paused_because="for lunch")
    with pytest.raises(Conflict, match=r"is pausing \(for lunch\); resume it first"):
        storage.scripts.ask(job_id, "b", "n1", 1, LONG)
    assert storage.scripts.tell(job_id, 1, 1, TOOK).state == "completed"


def test_a_job_that_has_ended_has_nothing_to_measure(storage: Storage, job_id: str) -> None:
    storage.scripts.ask(job_id, "a", "n1", 1, LONG)
    storage.jobs.transition(job_id, "cancelling")
    storage.jobs.transition(job_id, "cancelled")
    assert storage.scripts.ask(job_id, "b", "n1", 1, LONG) == []
    with pytest.raises(Conflict, match="cancelled with its job"):
        storage.scripts.tell(job_id, 1, 1, TOOK)


def test_a_proposal_that_is_repeated_is_the_same(
    storage: Storage, job_id: str, propose: Callable[..., int]
) -> None:
    assert [propose("a"), propose("b"), propose("a")] == [1, 2, 1]
    with pytest.raises(Conflict, match="proposal 1 of job"):
        propose("a", seed=2)
    assert [one.place for one in storage.scripts.proposed_after(job_id, 0, 10)] == [1, 2]
    assert [one.place for one in storage.scripts.proposed_after(job_id, 1, 10)] == [2]
    with pytest.raises(NotFound, match="no proposal 3"):
        storage.scripts.proposed(job_id, 3)


def test_a_proposal_shows_the_trial_that_it_became(
    storage: Storage, job_id: str, propose: Callable[..., int]
) -> None:
    place = propose("a")
    assert storage.scripts.proposed(job_id, place).trial is None
    token = storage.jobs.get(job_id).lease_token
    storage.scripts.number_proposal(job_id, token, place, 2)
    trial = storage.scripts.proposed(job_id, place).trial
    assert trial is not None
    assert (trial.number, trial.state) == (2, "pending")


def test_a_job_takes_no_more_than_its_budget(propose: Callable[..., int]) -> None:
    assert propose("a", most=1) == 1
    with pytest.raises(Conflict, match=r"takes 1 proposals \(budget.trials\)"):
        propose("b", most=1)
    assert propose("a", most=1) == 1


def test_so_many_proposals_wait_at_most(
    storage: Storage, job_id: str, propose: Callable[..., int]
) -> None:
    waiting = MOST_OPEN - len(storage.trials.unfinished(job_id))
    for number in range(waiting):
        propose(str(number))
    with pytest.raises(Conflict, match="wait for their outcomes"):
        propose("more")


def test_a_job_that_goes_on_no_more_takes_no_proposals(
    storage: Storage, job_id: str, propose: Callable[..., int]
) -> None:
    propose("a")
    storage.jobs.transition(job_id, "completed", ended_because="target")
    assert propose("a") == 1
    with pytest.raises(Conflict, match=r"is completed \(target\); it has no further trials"):
        propose("b")


def test_the_last_exchange_is_that_of_whoever_came_last(
    storage: Storage, job_id: str, propose: Callable[..., int]
) -> None:
    assert storage.scripts.last_exchange(job_id).at is None
    propose("a")
    first = storage.scripts.last_exchange(job_id)
    assert first.at is not None
    assert first.at <= first.now
    storage.scripts.ask(job_id, "a", "n1", 1, LONG)
    last = storage.scripts.last_exchange(job_id)
    assert last.at is not None
    assert last.at > last.now  # until then the script may measure


def test_what_was_told_is_waited_for_no_longer(storage: Storage, job_id: str) -> None:
    storage.scripts.ask(job_id, "a", "n1", 1, LONG)
    storage.scripts.tell(job_id, 1, 1, TOOK)
    told = storage.scripts.last_exchange(job_id)
    assert told.at is not None
    assert told.at <= told.now


def test_an_outcome_is_news_of_a_script(storage: Storage, job_id: str) -> None:
    """It waited for that, or has told it."""
    storage.scripts.ask(job_id, "a", "n1", 1, OVER)
    asked = storage.scripts.last_exchange(job_id)
    storage.scripts.tell(job_id, 1, 1, TOOK)
    told = storage.scripts.last_exchange(job_id)
    assert asked.at is not None
    assert told.at is not None
    assert asked.at < told.at <= told.now


def test_what_scripts_did_goes_with_the_job(
    storage: Storage, job_id: str, propose: Callable[..., int]
) -> None:
    propose("a")
    storage.scripts.ask(job_id, "a", "n1", 1, LONG)
    storage.jobs.transition(job_id, "completed")
    storage.trash.delete(job_id)
    with pytest.raises(NotFound):
        storage.scripts.proposed(job_id, 1)
    with pytest.raises(NotFound):
        storage.scripts.ask(job_id, "a", "n1", 1, LONG)
