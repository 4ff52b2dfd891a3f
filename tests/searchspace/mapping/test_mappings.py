"""Every mapping method places all ranks within the cores."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.mapping import MAPPINGS, map_ranks


@given(st.sampled_from(sorted(MAPPINGS)), st.integers(1, 20), st.integers(1, 8), st.data())
def test_no_host_runs_more_ranks_than_it_has_cores(
    name: str, hosts: int, cores: int, data: st.DataObject
) -> None:
    ranks = data.draw(st.integers(1, hosts * cores))
    placed = map_ranks(name, ranks, hosts, cores)
    assert len(placed) == ranks
    assert set(placed) <= set(range(hosts))
    assert max(Counter(placed).values()) <= cores


def test_the_methods_differ_when_hosts_have_several_cores() -> None:
    assert map_ranks("by-order", 5, 3, 4) == (0, 0, 1, 1, 2)
    assert map_ranks("packed", 5, 3, 4) == (0, 0, 0, 0, 1)
    assert map_ranks("round-robin", 5, 3, 4) == (0, 1, 2, 0, 1)


def test_by_order_puts_rank_n_on_host_n_while_there_are_hosts() -> None:
    assert map_ranks("by-order", 3, 8, 4) == (0, 1, 2)


def test_refuses_more_ranks_than_cores_and_unknown_methods() -> None:
    with pytest.raises(InvalidInput, match=r"9 ranks do not fit on 4 hosts of 2 cores \(1 to 8"):
        map_ranks("packed", 9, 4, 2)
    with pytest.raises(InvalidInput, match="allowed: by-order, packed, round-robin"):
        map_ranks("spread", 1, 1, 1)
