"""The de Bruijn network, undirected: a word is joined to those it becomes by shifting in a letter.

Cables of a word to itself and second cables between two words are left out, so a few nodes have
fewer than 2 x base cables.
"""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.options import Whole
from searchspace.topology.family import Family, NetworkSpec
from searchspace.topology.k_ary_n_cube import whole_power

__all__ = ["BASE", "DE_BRUIJN", "few_cables", "letters"]

BASE = Whole("base", "letters that can be shifted in; half the degree, or 2, if not given", low=2)


def letters(spec: NetworkSpec) -> int:
    """How many letters a shift can choose from: as given, or half the degree."""
    return spec.whole("base") or max(2, (spec.degree or 4) // 2)


def few_cables(spec: NetworkSpec) -> str | None:
    """Why the degree is too small; None where it is not, or the letters were given."""
    most = 2 * letters(spec)
    if spec.degree is None or spec.whole("base") is not None or most <= spec.degree:
        return None
    return f"a degree of at least {most} is needed, not {spec.degree}"


def _obstacle(spec: NetworkSpec) -> str | None:
    base = letters(spec)
    if (few := few_cables(spec)) is not None:
        return few
    if whole_power(spec.nodes, base) is None:
        return f"{spec.nodes} is not a power of {base}, the number of letters"
    return None


def _generate(spec: NetworkSpec) -> Graph:
    nodes, base = spec.nodes, letters(spec)
    shifts = ((word, (word * base + last) % nodes) for word in range(nodes) for last in range(base))
    return Graph.from_edges(nodes, {(min(e), max(e)) for e in shifts if e[0] != e[1]})


DE_BRUIJN = Family(
    name="de-bruijn",
    description="undirected de Bruijn network: words joined by shifting in a letter",
    obstacle=_obstacle,
    generate=_generate,
    uses_degree=True,
    options=(BASE,),
)
