"""Every change made to OpenTuner 0.8.8 from outside, with the reason for each.

OpenTuner is a fixed dependency that is no longer developed. Left alone, its search depends on
object addresses and on the clock, and one of its techniques loses what it learned. A test a patch
(`tests/tuner/test_opentuner_patches.py`) fails when OpenTuner changes under it. Applied only in the
processes of `tuner.opentuner_server`.
"""

from __future__ import annotations

import itertools
from typing import Any

from opentuner.search import composableevolutionarytechniques, differentialevolution, pso

__all__ = ["apply"]


def apply() -> None:
    """Apply all patches: once a process, before techniques are made."""
    _count_instead_of_looking_at_the_clock()
    _order_populations_by_birth()
    _copy_personal_bests()


class _LogicalClock:
    """Stands for the module `time` where only the order of events matters."""

    _ticks = itertools.count()

    @classmethod
    def time(cls) -> int:
        return next(cls._ticks)


def _count_instead_of_looking_at_the_clock() -> None:
    """Age members of populations by a counter: the oldest is replaced next."""
    differentialevolution.time = _LogicalClock
    composableevolutionarytechniques.time = _LogicalClock


def _order_populations_by_birth() -> None:
    """Hash members of a population by a serial number.

    Differential evolution draws its parents from a set of members, which Python walks in the order
    of their hashes: their addresses, so that a replay would propose other configurations.
    """
    serials = itertools.count()
    original = differentialevolution.PopulationMember.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self.serial = next(serials)

    def serial(self: Any) -> int:
        return int(self.serial)

    differentialevolution.PopulationMember.__init__ = init
    differentialevolution.PopulationMember.__hash__ = serial


def _copy_personal_bests() -> None:
    """Let the best position of a particle be a copy.

    `HybridParticle` keeps `best = position` and moves `position` in place afterwards, so its best
    follows it, and the pull towards it, one of the three terms of the method, is always zero.
    """

    def get_best(self: Any) -> Any:
        return self.copied_best

    def set_best(self: Any, position: Any) -> None:
        self.copied_best = self.manipulator.copy(position)

    pso.HybridParticle.best = property(get_best, set_best)
