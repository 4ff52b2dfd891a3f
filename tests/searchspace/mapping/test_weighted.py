from __future__ import annotations

import numpy as np
import pytest

from searchspace.errors import InvalidInput
from searchspace.hop_machine import Grid, HopMachine
from searchspace.mapping import map_ranks
from searchspace.mapping.metrics import MappingMetrics, metrics_of
from searchspace.mapping.weighted import Weights
from searchspace.traffic import Traffic

MESH = HopMachine.uniform(Grid((4, 4), wrapped=False))


def drawn_flows() -> Traffic:
    """Thirty flows between ranks drawn at random."""
    drawn = np.random.default_rng(0)
    ends = drawn.integers(0, 16, 30), drawn.integers(0, 16, 30)
    return Traffic.from_pairs(16, *ends, drawn.integers(1, 1000, 30))


def judged(**options: float) -> MappingMetrics:
    traffic = drawn_flows()
    return metrics_of(
        traffic, MESH, map_ranks("weighted", traffic, MESH, seed=4, steps=20_000, **options)
    )


def test_what_has_weight_becomes_least() -> None:
    traffic = drawn_flows()
    by_hop_bytes = metrics_of(traffic, MESH, map_ranks("auto", traffic, MESH, steps=100_000))

    congested = judged(hop_bytes=0, dilation=0)
    far = judged(hop_bytes=0, congestion=0)

    assert congested.congestion < by_hop_bytes.congestion
    assert congested.hop_bytes > by_hop_bytes.hop_bytes
    assert far.dilation < by_hop_bytes.dilation


def test_the_sum_is_a_multiple_of_what_it_is_with_ranks_in_order() -> None:
    traffic = drawn_flows()
    in_order = metrics_of(traffic, MESH, np.arange(16, dtype=np.uint32))
    weights = Weights(2, 0.5, 1)

    assert weights.of(in_order, traffic, MESH) == pytest.approx(3.5)
    found = judged(hop_bytes=2, dilation=0.5, congestion=1)
    assert weights.of(found, traffic, MESH) < 3.5


def test_a_network_with_too_many_routes_is_refused() -> None:
    large = HopMachine.uniform(Grid((128, 128), wrapped=True))
    with pytest.raises(InvalidInput, match="'weighted' keeps routes for at most"):
        map_ranks("weighted", Traffic.silent(2), large)
