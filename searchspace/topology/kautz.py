"""The Kautz network, undirected: as de Bruijn's, of the words without a letter twice in a row."""

from __future__ import annotations

import itertools

from searchspace.graph import Graph
from searchspace.topology.de_bruijn import BASE, few_cables, letters
from searchspace.topology.family import Family, NetworkSpec
from searchspace.topology.k_ary_n_cube import whole_power

__all__ = ["KAUTZ"]


def _length(spec: NetworkSpec) -> int | None:
    """Letters of a word: there are (base + 1) x base ** (length - 1) words."""
    base = letters(spec)
    if spec.nodes == base + 1:
        return 1
    power = whole_power(spec.nodes // (base + 1), base) if spec.nodes % (base + 1) == 0 else None
    return None if power is None else power + 1


def _obstacle(spec: NetworkSpec) -> str | None:
    if (few := few_cables(spec)) is not None:
        return few
    if _length(spec) is None:
        base = letters(spec)
        return f"{spec.nodes} is not {base + 1} times a power of {base}"
    return None


def _generate(spec: NetworkSpec) -> Graph:
    length, base = _length(spec) or 1, letters(spec)
    words = [
        word
        for word in itertools.product(range(base + 1), repeat=length)
        if all(a != b for a, b in itertools.pairwise(word))
    ]
    number = {word: index for index, word in enumerate(words)}
    shifts = (
        (index, number[(*word[1:], last)])
        for index, word in enumerate(words)
        for last in range(base + 1)
        if last != word[-1]
    )
    return Graph.from_edges(len(words), {(min(e), max(e)) for e in shifts if e[0] != e[1]})


KAUTZ = Family(
    name="kautz",
    description="undirected Kautz network: as de-bruijn, words without a letter twice in a row",
    obstacle=_obstacle,
    generate=_generate,
    uses_degree=True,
    options=(BASE,),
)
