from __future__ import annotations

import dataclasses
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from searchspace.graph import Graph
from searchspace.topology import FAMILIES, generate, network_cache
from searchspace.topology.network_cache import generate_once, network_key
from searchspace.traffic import Traffic

PLAIN: dict[str, Any] = {"degree": 4, "seed": 1}


@pytest.mark.parametrize(
    "same", [{"objective": "aspl"}, {"iterations": 100_000}, {"iterations": "100000"}]
)
def test_a_description_with_defaults_written_out_has_the_same_key(same: dict[str, Any]) -> None:
    assert network_key("optimised", 64, **PLAIN, **same) == network_key("optimised", 64, **PLAIN)


@pytest.mark.parametrize(
    "other", [{"degree": 6}, {"seed": 2}, {"objective": "bisection"}, {"hosts_per_switch": 2}]
)
def test_another_network_has_another_key(other: dict[str, Any]) -> None:
    assert network_key("optimised", 64, **PLAIN | other) != network_key("optimised", 64, **PLAIN)


def test_what_a_family_does_not_look_at_is_not_in_the_key() -> None:
    assert network_key("ring", 64, **PLAIN) == network_key("ring", 64)


def test_networks_made_for_other_traffic_have_another_key() -> None:
    ring, chain = (
        Traffic.from_pairs(8, range(last), [(n + 1) % 8 for n in range(last)], [1] * last)
        for last in (8, 7)
    )
    keys = {network_key("tailored", 8, degree=4, traffic=one) for one in (ring, chain)}
    assert len(keys) == 2
    assert network_key("random", 8, **PLAIN, traffic=ring) == network_key("random", 8, **PLAIN)


def test_a_network_is_made_for_the_traffic_that_is_given() -> None:
    ring = Traffic.from_pairs(8, range(8), [(n + 1) % 8 for n in range(8)], [1] * 8)
    skips = Traffic.from_pairs(8, range(8), [(n + 3) % 8 for n in range(8)], [1] * 8)
    shelf = Shelf("own")
    for traffic in (ring, skips, ring):
        made = generate_once(shelf, "tailored", 8, degree=2, traffic=traffic)
        assert {tuple(sorted(pair)) for pair in zip(*traffic.pairs[:2], strict=True)} == set(
            made.edges
        )
    assert len(shelf.kept) == 2


def test_traffic_is_not_remembered_with_the_network_that_was_made_for_it() -> None:
    traffic = Traffic.from_pairs(6, [0, 2], [3, 5], [1, 1])
    forgotten = weakref.ref(traffic)
    made = generate_once(None, "tailored", 6, degree=2, iterations=32, traffic=traffic)
    again = Traffic.from_pairs(6, [0, 2], [3, 5], [1, 1])
    assert generate_once(None, "tailored", 6, degree=2, iterations=32, traffic=again) is made
    del traffic
    gc.collect()
    assert forgotten() is None


def test_a_new_version_of_a_family_has_new_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    before = network_key("optimised", 64, **PLAIN)
    family = FAMILIES["optimised"]
    newer = dataclasses.replace(family, version=family.version + 1)
    monkeypatch.setitem(FAMILIES, "optimised", newer)

    assert network_key("optimised", 64, **PLAIN) != before


class Shelf:
    """Keeps networks for somebody, and counts those it asked to be built."""

    def __init__(self, scope: str) -> None:
        self.scope = scope
        self.kept: dict[str, Graph] = {}

    def once(self, key: str, build: Callable[[], Graph]) -> Graph:
        return self.kept.setdefault(key, build())


@pytest.mark.parametrize("family", ["random", "optimised"])
def test_a_network_is_built_once_for_each_that_asks_and_not_for_others(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How soon it is there would tell what others have asked for."""
    built = []

    def counted(*arguments: Any, **options: Any) -> Graph:
        built.append(arguments)
        return generate(*arguments, **options)

    monkeypatch.setattr(network_cache, "generate", counted)
    ours, theirs = Shelf("ours"), Shelf("theirs")
    first = network_cache.generate_once(ours, family, 20, **PLAIN)
    assert network_cache.generate_once(ours, family, 20, **PLAIN) == first
    assert len(built) == 1
    assert network_cache.generate_once(theirs, family, 20, **PLAIN) == first
    assert len(built) == 2
