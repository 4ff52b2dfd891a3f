"""Networks that an optimiser finds in a given number of moves: as reproducible as any family."""

from __future__ import annotations

from typing import Literal, cast, get_args

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.options import Choice, Whole
from searchspace.topology.family import Family, NetworkSpec
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


def _goal(spec: NetworkSpec) -> _Goal:
    return cast(_Goal, spec.choice("objective"))


def _method(spec: NetworkSpec) -> str:
    """The optimiser: as given, or the first of the table that can have the objective."""
    given = spec.choice("method")
    able = (name for name, other in _METHODS.items() if _goal(spec) in other.objectives)
    return next(able) if given == _AUTO else given


def _obstacle(spec: NetworkSpec) -> str | None:
    if spec.degree is None:
        return "an optimised network needs the machine's degree"
    symmetry = spec.whole("symmetry")
    if symmetry is not None and spec.nodes % symmetry:
        return f"a symmetry of {symmetry} does not divide {spec.nodes} nodes"
    try:
        check_size(spec.nodes, spec.degree)
        check(_method(spec), _goal(spec))
    except InvalidInput as error:
        return error.message
    return None


def _generate(spec: NetworkSpec) -> Graph:
    if spec.degree is None:
        raise ValueError(_obstacle(spec))
    return optimise(
        spec.nodes,
        spec.degree,
        objective=_goal(spec),
        method=_method(spec),
        iterations=spec.whole("iterations") or 1,
        seed=spec.seed,
        symmetry=spec.whole("symmetry"),
        ring=cast(Ring, spec.choice("ring")),
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
        Whole("symmetry", "rotations that map the network onto itself", 1),
        Choice("ring", "whether the ring 0, 1, 2, ... has to stay", get_args(Ring)[::-1]),
    ),
)
