"""Whose fault it is that workers are lost, and when a trial has failed for it."""

from __future__ import annotations

import pytest

from storage.proposal import Proposal
from storage.records import Attempt, Trial
from storage.storage import Storage
from tests.tuner.analytic import create_job, prepare
from tests.tuner.driving import LEASE_SECONDS, let_an_hour_pass
from tuner.lease import Lease
from tuner.lost_attempts import LostAttempts


class Driven:
    """A job of two trials under a lease, and what was lost of them."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        job = create_job(storage)
        prepare(storage, job.id)
        leased = storage.leases.acquire("test", LEASE_SECONDS, job.id)
        assert leased is not None
        self.lease = Lease(storage, leased, LEASE_SECONDS)
        proposals = [
            Proposal(
                number=number,
                kind="search",
                configuration={"topology_seed": number},
                configuration_sha256=f"{number:064}",
            )
            for number in (1, 2)
        ]
        self.trials: list[Trial] = storage.trials.propose_several(
            leased.id, self.lease.token, proposals
        )
        self.lost = LostAttempts(storage, self.lease, running_seconds=30.0, most=2)

    def lose(self, *trials: Trial) -> list[Attempt]:
        """A worker takes these together, and nothing is heard of it any more."""
        for trial in trials:
            attempt = self.storage.attempts.open(trial.id, self.lease.token)
            self.storage.attempts.begin(attempt.id, "doomed worker")
        let_an_hour_pass(self.storage, "doomed worker")
        return self.lost.expire()


@pytest.fixture
def driven(storage: Storage) -> Driven:
    return Driven(storage)


def test_a_trial_that_lost_too_many_workers_alone_is_to_blame(driven: Driven) -> None:
    one, other = driven.trials
    driven.lost.blame(driven.lose(one))
    assert driven.lost.may_try_again(one)
    driven.lost.blame(driven.lose(one))

    assert not driven.lost.may_try_again(one)
    assert driven.lost.may_try_again(other)
    driven.lost.fail(one)
    settled = driven.storage.trials.get(driven.lease.job.id, one.number)
    assert settled.state == "failed"
    assert settled.reason == {
        "kind": "lost",
        "message": "2 workers in a row were lost while they evaluated it",
    }


def test_trials_that_a_worker_had_together_share_the_blame(driven: Driven) -> None:
    one, other = driven.trials
    for _ in range(3):
        lost = driven.lose(one, other)
        assert {attempt.trial_id for attempt in lost} == {one.id, other.id}
        driven.lost.blame(lost)
        assert driven.lost.may_try_again(one)
    driven.lost.blame(driven.lose(one))

    assert not driven.lost.may_try_again(one)
    assert driven.lost.may_try_again(other)


def test_what_is_given_up_when_a_job_is_taken_over_blames_nobody(driven: Driven) -> None:
    (one, _) = driven.trials
    for _ in range(5):
        assert len(driven.lose(one)) == 1

    assert driven.lost.may_try_again(one)
