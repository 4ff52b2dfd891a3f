"""Messages that are sent again, by a clock that is handed in."""

from __future__ import annotations

import pytest

from storage.proposal import Proposal
from storage.storage import Storage
from tests.tuner.analytic import create_job, prepare
from tests.tuner.driving import LEASE_SECONDS
from tuner.evaluations import Backlog, Evaluations, Silence
from tuner.lease import Lease

TEND_SECONDS = 10.0
LONGEST_SECONDS = 60.0
"""Between two messages of a trial, twelve times what it is at first."""


class Clock:
    """Stands in for `time` in the module."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class Waiting:
    """A job of one trial that no worker takes, and when it was sent."""

    def __init__(self, storage: Storage, clock: Clock, backlog: Backlog | None = None) -> None:
        job = create_job(storage)
        prepare(storage, job.id)
        leased = storage.leases.acquire("test", LEASE_SECONDS, job.id)
        assert leased is not None
        self.sent: list[float] = []
        self._clock = clock
        self._evaluations = Evaluations(
            storage,
            lambda task, identifier: self.sent.append(clock.now),
            Lease(storage, leased, LEASE_SECONDS),
            Silence(),
            backlog=backlog,
        )
        proposal = Proposal(
            number=1, kind="search", configuration={}, configuration_sha256="0" * 64
        )
        self._evaluations.add([proposal])

    def wait(self, seconds: float) -> None:
        """See to the trial again and again for so long."""
        end = self._clock.now + seconds
        while self._clock.now < end:
            self._clock.now += TEND_SECONDS
            self._evaluations.tend()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("tuner.evaluations.time", made)
    return made


def test_a_trial_that_has_waited_long_is_sent_again_within_a_minute(
    storage: Storage, clock: Clock
) -> None:
    waiting = Waiting(storage, clock)
    waiting.wait(3600.0)
    first, *later = waiting.sent
    assert first == 0.0
    pauses = [after - before for before, after in zip(waiting.sent, later, strict=False)]
    assert max(pauses) <= LONGEST_SECONDS + TEND_SECONDS
    assert pauses[-1] >= LONGEST_SECONDS


def test_a_broker_with_messages_enough_gets_no_more_until_it_has_lost_them(
    storage: Storage, clock: Clock
) -> None:
    kept = [1000]
    waiting = Waiting(storage, clock, lambda: kept[0])
    waiting.wait(3600.0)
    assert waiting.sent == [0.0]
    kept[0] = 0
    waiting.wait(TEND_SECONDS)
    assert waiting.sent == [0.0, clock.now]
