"""Mappings by a weighted sum of hop-bytes, dilation and congestion.

Each measure counts as a multiple of what it is with ranks in order (Hu et al. 2023, equations 1 to
4, has dilation and congestion; Hoefler and Snir 2011 weigh both). Annealing over swaps, from the
mapping of `auto`; the kernel is `searchspace/kernels/mapping/congestion_assignment.hpp`.
"""

from __future__ import annotations

from dataclasses import dataclass

from searchspace.hop_machine import HopMachine
from searchspace.mapping.auto import improve
from searchspace.mapping.by_order import BY_ORDER
from searchspace.mapping.cables import congestion_assignment, few_steps, too_many_routes
from searchspace.mapping.mapper import Mapper, Places
from searchspace.mapping.metrics import MappingMetrics, metrics_of
from searchspace.options import Amount, Whole
from searchspace.traffic import Traffic

__all__ = ["WEIGHTED", "Weights"]

_MOST_SECONDS = 86_400
_MOST_WEIGHT = 1_000_000


@dataclass(frozen=True)
class Weights:
    """How much each measure counts, as a multiple of its value with ranks in order."""

    hop_bytes: float = 1.0
    dilation: float = 1.0
    congestion: float = 1.0

    def a_unit(self, in_order: MappingMetrics) -> tuple[float, float, float]:
        """What a unit of each measure counts."""
        return (
            self.hop_bytes / max(1, in_order.hop_bytes),
            self.dilation / max(1, in_order.dilation),
            self.congestion / max(1, in_order.congestion),
        )

    def of(self, metrics: MappingMetrics, traffic: Traffic, machine: HopMachine) -> float:
        """The weighted sum for a mapping that was measured."""
        hop_bytes, dilation, congestion = self.a_unit(_in_order(traffic, machine))
        return (
            hop_bytes * metrics.hop_bytes
            + dilation * metrics.dilation
            + congestion * metrics.congestion
        )


def _in_order(traffic: Traffic, machine: HopMachine) -> MappingMetrics:
    return metrics_of(traffic, machine, BY_ORDER.place(traffic, machine))


def _place(
    traffic: Traffic,
    machine: HopMachine,
    *,
    seed: int,
    hop_bytes: float,
    dilation: float,
    congestion: float,
    seconds: float,
    steps: int,
) -> Places:
    start = improve(traffic, machine, seed=seed)
    assignment = congestion_assignment(traffic, machine, start)
    in_order = _in_order(traffic, machine)
    if not seconds and not steps:
        steps = few_steps(traffic, machine, assignment.measures()[0])
    weights = Weights(hop_bytes, dilation, congestion).a_unit(in_order)
    assignment.anneal(*weights, seconds, steps, seed, _go_on)
    return assignment.places()


def _go_on(_seconds: float) -> bool:
    """Gives Python the chance to act upon Ctrl-C."""
    return True


WEIGHTED = Mapper(
    "weighted",
    "swaps that lower a weighted sum of hop-bytes, dilation and congestion",
    _place,
    options=(
        Amount("hop_bytes", "weight of hop-bytes", 0, _MOST_WEIGHT, 1),
        Amount("dilation", "weight of the longest path", 0, _MOST_WEIGHT, 1),
        Amount("congestion", "weight of the bytes on the busiest cable", 0, _MOST_WEIGHT, 1),
        Amount("seconds", "CPU seconds to take; 0: fast", 0, _MOST_SECONDS, 0),
        Whole("steps", "swaps to try instead of seconds; repeatable", 0, 999_999_999, 0),
    ),
    uses_seed=True,
    obstacle=too_many_routes,
)
