"""Scripts of users in the place of the search, or in that of the workers.

A script that proposes is asked in the order in which its proposals came: the first of them is the
trial after the baselines. They are stored, so that a replay asks them again. Of a script that
measures nothing is heard here but the outcomes: it takes trials, and tells them, in the storage.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from searchspace.configuration import Configuration
from searchspace.space import SearchSpace
from storage.proposal import Proposal
from storage.records import OutlookPoint, ProposedConfiguration, Trial
from storage.storage import Storage
from tuner.lease import Lease
from tuner.objective import TrialResult
from tuner.parameters import point_of
from tuner.search import Point

__all__ = ["SCRIPT", "MeasuredByScripts", "ProposedByScripts"]

SCRIPT = "script"
"""The name of the technique of points that a script proposed."""

_PAGE = 64


class ProposedByScripts:
    """What scripts propose, in place of a `Search`: each proposal is a trial, seen before or not.

    Args:
        storage: Where proposals are.
        lease: Under which the job is driven.
        space: Of the job.
        baselines: How many trials come before the first proposal.
    """

    probability: float | None = None
    """As of `Search`: no model knows."""
    expectation: None = None
    weights: tuple[float, ...] | None = None

    def __init__(self, storage: Storage, lease: Lease, space: SearchSpace, baselines: int) -> None:
        self._storage = storage
        self._lease = lease
        self._space = space
        self._baselines = baselines
        self._waiting: deque[ProposedConfiguration] = deque()
        self._read = 0

    def at_hand(self) -> bool:
        """Whether there is a proposal that was not asked for yet."""
        if not self._waiting:
            found = self._storage.scripts.proposed_after(self._lease.job.id, self._read, _PAGE)
            self._waiting.extend(found)
            self._read = found[-1].place if found else self._read
        return bool(self._waiting)

    def ask(self) -> Point | None:
        """The next proposal; None where none is at hand.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        if not self.at_hand():
            return None
        proposed = self._waiting.popleft()
        number = self._baselines + proposed.place
        if proposed.number is None:
            job_id, token = self._lease.job.id, self._lease.token
            self._storage.scripts.number_proposal(job_id, token, proposed.place, number)
        return Point(Configuration.from_json(proposed.configuration), SCRIPT)

    def add(self, configuration: Configuration) -> bool:
        """Whether a baseline is a point of the space."""
        return point_of(self._space, configuration) is not None

    def tell(self, configuration: Configuration, told: TrialResult) -> None:
        """Nothing: a script reads the outcomes of its proposals by itself."""

    def __enter__(self) -> ProposedByScripts:
        return self

    def __exit__(self, *raised: object) -> None:
        """Nothing is held."""


class MeasuredByScripts:
    """Trials without attempts, which no worker takes; scripts ask for them.

    Args:
        storage: Where trials are kept.
        lease: Under which the job is driven.
    """

    def __init__(self, storage: Storage, lease: Lease) -> None:
        self._storage = storage
        self._lease = lease

    def add(self, proposals: Sequence[Proposal], outlooks: Sequence[OutlookPoint] = ()) -> None:
        """Store new trials.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        job_id, token = self._lease.job.id, self._lease.token
        self._storage.trials.propose_several(job_id, token, proposals, outlooks, attempt=False)

    def begin(self, trial: Trial) -> None:
        """Nothing: a stored trial waits to be asked for, or a script has it."""

    def see_to_held(self) -> None:
        """Nothing is held back."""

    def tend(self) -> None:
        """Nothing: what was not told in time is given to the next script that asks."""
