"""Networks that an optimiser finds in a given number of moves: as reproducible as any family."""

from __future__ import annotations

from typing import Literal, cast, get_args

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.options import Choice, Whole
from searchspace.topology.family import Family, Wanted
from searchspace.topology.optimise import OPTIMISERS, check, optimise
from searchspace.topology.optimise.exhaustive import EXHAUSTIVE
from searchspace.topology.optimise.search import Ring, check_size

__all__ = ["OPTIMISED"]

_Goal = Literal["aspl", "bisection"]


_AUTO = "auto"
_METHODS = {
    name: other
    for name, other in OPTIMISERS.items()
    if other is not EXHAUSTIVE and set(other.objectives) & set(get_args(_Goal))
}
"""Those for networks of any size: the list of all cubic ones needs a girth and few nodes."""


def _goal(wanted: Wanted) -> _Goal:
    return cast(_Goal, wanted.choice("objective"))


def _method(wanted: Wanted) -> str:
    """The optimiser: as given, or the first of the table that can have the objective."""
    given = wanted.choice("method")
    able = (name for name, other in _METHODS.items() if _goal(wanted) in other.objectives)
    return next(able) if given == _AUTO else given


def _obstacle(wanted: Wanted) -> str | None:
    if wanted.degree is None:
        return "an optimised network needs the machine's degree"
    symmetry = wanted.whole("symmetry")
    if symmetry is not None and wanted.nodes % symmetry:
        return f"a symmetry of {symmetry} does not divide {wanted.nodes} nodes"
    try:
        check_size(wanted.nodes, wanted.degree)
        check(_method(wanted), _goal(wanted))
    except InvalidInput as error:
        return error.message
    return None


def _generate(wanted: Wanted) -> Graph:
    if wanted.degree is None:
        raise ValueError(_obstacle(wanted))
    return optimise(
        wanted.nodes,
        wanted.degree,
        objective=_goal(wanted),
        method=_method(wanted),
        iterations=wanted.whole("iterations") or 1,
        seed=wanted.seed,
        symmetry=wanted.whole("symmetry"),
        ring=cast(Ring, wanted.choice("ring")),
    )


OPTIMISED = Family(
    name="optimised",
    description="the best regular network that an optimiser finds in a number of moves",
    obstacle=_obstacle,
    generate=_generate,
    uses_degree=True,
    uses_seed=True,
    costly=True,
    version=4,  # 2 to 4: other searches for wide bisections
    options=(
        Choice("objective", "least ASPL or greatest bisection width", get_args(_Goal)),
        Choice("method", "the optimiser; auto: that of the objective", (_AUTO, *_METHODS)),
        Whole("iterations", "moves that it may propose", 1, 100_000_000, default=100_000),
        Whole("symmetry", "rotations that map the network onto itself; chosen if not given", 1),
        Choice("ring", "whether the ring 0, 1, 2, ... has to stay", get_args(Ring)[::-1]),
    ),
)
