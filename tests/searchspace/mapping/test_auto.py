"""The mapper `auto`: optimal on lattices, never worse than what it starts from, repeatable."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from searchspace.hop_machine import Dragonfly, Grid, HopMachine, Network, Shape, Tree
from searchspace.kernels._native import map_auto
from searchspace.mapping import map_ranks
from searchspace.mapping.auto import improve
from searchspace.mapping.mapper import Places
from searchspace.mapping.metrics import metrics_of
from searchspace.topology import generate
from searchspace.traffic import Traffic


def shuffled(traffic: Traffic, seed: int = 1) -> Traffic:
    """The same traffic under numbers that say nothing."""
    return traffic.renumbered(np.random.default_rng(seed).permutation(traffic.ranks))


def stencil(*extents: int, rings: bool = False, corners: int = 0) -> Traffic:
    """Neighbours along each axis exchange 1000 bytes, those across a corner `corners`."""
    number = np.arange(math.prod(extents)).reshape(extents)
    pairs: list[tuple[int, int, int]] = []
    for place in itertools.product(*map(range, extents)):
        for step in itertools.product((-1, 0, 1), repeat=len(extents)):
            size = 1000 if sum(map(abs, step)) == 1 else corners
            there = [a + b for a, b in zip(place, step, strict=True)]
            outside = any(not 0 <= at < most for at, most in zip(there, extents, strict=True))
            if not any(step) or size == 0 or (outside and not rings):
                continue
            other = tuple(at % most for at, most in zip(there, extents, strict=True))
            if number[place] < number[other]:
                pairs.append((int(number[place]), int(number[other]), size))
    one, other_end, sizes = zip(*sorted(set(pairs)), strict=True)
    return shuffled(Traffic.from_pairs(number.size, one, other_end, sizes))


def ring(ranks: int) -> Traffic:
    every = np.arange(ranks)
    return shuffled(Traffic.from_pairs(ranks, every, (every + 1) % ranks, np.full(ranks, 1000)))


def random_traffic(ranks: int, seed: int) -> Traffic:
    random = np.random.default_rng(seed)
    one, other = random.integers(0, ranks, (2, 4 * ranks))
    return Traffic.from_pairs(ranks, one, other, random.integers(1, 1000, 4 * ranks))


def power_law_traffic(ranks: int, seed: int) -> Traffic:
    """Few ranks exchange most; some exchange nothing."""
    random = np.random.default_rng(seed)
    share = (np.arange(ranks) + 1.0) ** -0.7
    one, other = random.choice(ranks, (2, 4 * ranks), p=share / share.sum())
    return Traffic.from_pairs(ranks, one, other, random.integers(1, 1000, 4 * ranks))


def grouped_traffic(extents: tuple[int, ...], sides: dict[int, int], seed: int) -> Traffic:
    """Random pairs within boxes, for each side of these; each pair exchanges so many bytes."""
    random = np.random.default_rng(seed)
    number = np.arange(math.prod(extents))
    places = np.stack(np.unravel_index(number, extents))
    pairs: list[NDArray[np.int64]] = []
    for side, size in sides.items():
        boxes = np.ravel_multi_index(tuple(places // side), extents)
        for box in np.unique(boxes):
            members = number[boxes == box]
            ends = random.choice(members, (2, 2 * len(members)))
            pairs.append(np.vstack([ends, np.full(ends.shape[1], size)]))
    one, other, sizes = np.hstack(pairs)
    return shuffled(Traffic.from_pairs(number.size, one, other, sizes), seed)


def hop_bytes(traffic: Traffic, machine: HopMachine, places: Places) -> int:
    return metrics_of(traffic, machine, places).hop_bytes


def mapped(traffic: Traffic, shape: Shape, **options: int) -> int:
    machine = HopMachine.uniform(shape)
    return hop_bytes(traffic, machine, map_ranks("auto", traffic, machine, **options))


@pytest.mark.parametrize(
    ("traffic", "shape"),
    [
        (stencil(8, 8, 8), Grid((8, 8, 8), wrapped=False)),
        (stencil(8, 4, 6, rings=True), Grid((4, 6, 8), wrapped=True)),
        (stencil(3, 5), Grid((5, 5, 5), wrapped=False)),
        (stencil(64, 4), Grid((16, 4, 4), wrapped=True)),
        (ring(128), Grid((8, 16), wrapped=False)),
        (ring(90), Grid((5, 10, 3), wrapped=False)),
    ],
)
def test_stencils_and_rings_that_fit_a_grid_take_one_hop_a_flow(
    traffic: Traffic, shape: Grid
) -> None:
    found = mapped(traffic, shape)
    if traffic.ranks == 256:  # a long axis goes up and down; its turns need more
        assert found < 1.2 * traffic.total
    else:
        assert found == traffic.total


@pytest.mark.parametrize(
    ("extents", "grid", "cores", "crossing", "busiest"),
    [
        # Blocks of 2 x 2 in each node: two flows between neighbours.
        ((8, 8), Grid((4, 4), wrapped=False), 4, 2 * 3 * 8, 2),
        # Blocks of 1 x 2 x 2, so that no cable has more than the four flows across the long axis.
        ((4, 4, 4), Grid((4, 2, 2), wrapped=False), 4, 3 * 16 + 16 + 16, 4),
        ((6, 4, 4), Grid((6, 2, 2), wrapped=False), 4, 5 * 16 + 24 + 24, 4),
        # Blocks of 2 x 3 in a row, which goes up and down.
        ((12, 3), Grid((3, 2), wrapped=False), 6, 5 * 3, 3),
    ],
)
def test_stencils_are_folded_into_grids_of_hosts_with_several_cores(
    extents: tuple[int, ...], grid: Grid, cores: int, crossing: int, busiest: int
) -> None:
    traffic, machine = stencil(*extents), HopMachine.uniform(grid, cores)
    found = metrics_of(traffic, machine, map_ranks("auto", traffic, machine))
    assert found.hop_bytes <= 1000 * crossing
    assert found.congestion <= 1000 * busiest


def test_a_ring_stays_in_a_host_as_long_as_there_are_cores() -> None:
    machine = HopMachine.uniform(Grid((4, 4), wrapped=False), 3)
    traffic = ring(48)
    assert hop_bytes(traffic, machine, map_ranks("auto", traffic, machine)) == 16 * 1000


@settings(max_examples=6, deadline=None)
@given(order=st.permutations((16, 4, 8)), seed=st.integers(0, 1000))
def test_axes_that_fit_each_other_are_found_whatever_their_order(
    order: list[int], seed: int
) -> None:
    traffic = shuffled(stencil(*order), seed)
    assert mapped(traffic, Grid((16, 8, 4), wrapped=True)) == traffic.total


def test_a_lattice_is_cut_into_blocks_for_a_tree() -> None:
    # Sixteen blocks of 4 x 4: 24 flows inside a block, and all others between blocks.
    traffic = stencil(16, 16)
    inside = 16 * 24 * 1000
    assert mapped(traffic, Tree((16, 16))) == 2 * inside + 4 * (traffic.total - inside)


@pytest.mark.parametrize("arity", [(3, 5, 8), (5, 3, 12), (7, 6, 4), (3, 3, 3, 3)])
def test_arities_that_are_no_powers_of_two_do_not_put_it_behind_scotch(
    arity: tuple[int, ...],
) -> None:
    machine = HopMachine.uniform(Tree(arity))
    for seed in range(3):
        traffic = random_traffic(machine.places, seed)
        theirs = hop_bytes(traffic, machine, map_ranks("scotch", traffic, machine))
        assert hop_bytes(traffic, machine, map_ranks("auto", traffic, machine)) <= theirs


@pytest.mark.parametrize(
    ("extents", "arity"),
    [
        ((14, 15), (7, 6, 5)),
        ((6, 6, 5), (5, 3, 12)),
        ((21, 20), (7, 6, 10)),
        ((8, 5, 6), (3, 5, 16)),
        ((15, 16), (3, 5, 16)),
    ],
)
@pytest.mark.parametrize("rings", [False, True])
def test_stencils_are_cut_for_arities_that_divide_no_axis(
    extents: tuple[int, ...], arity: tuple[int, ...], rings: bool
) -> None:
    machine = HopMachine.uniform(Tree(arity))
    traffic = stencil(*extents, rings=rings)
    theirs = hop_bytes(traffic, machine, map_ranks("scotch", traffic, machine))
    assert hop_bytes(traffic, machine, map_ranks("auto", traffic, machine)) <= theirs


def test_a_part_of_a_ring_is_cut_wherever_the_ring_begins() -> None:
    # A closed band of 24 x 3 on three children of 24: each takes a stretch of 8 columns.
    traffic = stencil(24, 3, rings=True)
    between = 3 * 3 * 1000
    assert mapped(traffic, Tree((3, 24))) == 2 * (traffic.total - between) + 4 * between


@pytest.mark.parametrize("children", [3, 5, 7])
def test_groups_of_ranks_are_found_whatever_the_number_of_children(children: int) -> None:
    # Groups of 11 that exchange much, each rank also a little with another group: 2 hops inside.
    each = 11
    ranks = children * each
    group = np.arange(ranks) // each
    one, other = np.triu_indices(ranks, k=1)
    size = np.where(group[one] == group[other], 100, (other - one) % ranks == each)
    traffic = shuffled(Traffic.from_pairs(ranks, one, other, size))
    inside = children * 100 * each * (each - 1) // 2
    assert mapped(traffic, Tree((children, each))) == 2 * inside + 4 * (traffic.total - inside)


def test_a_ring_goes_from_router_to_router_by_one_cable_each() -> None:
    routers, hosts = 16 * 8, 4
    inside, between = 2 * routers * (hosts - 1), 3 * routers
    assert mapped(ring(routers * hosts), Dragonfly(16, 8, hosts)) == 1000 * (inside + between)


def test_a_ring_goes_through_all_hosts_of_a_router_before_the_next() -> None:
    # Of 88 routers with three hosts of four cores: nothing within hosts, two hops within routers.
    machine = HopMachine.uniform(Dragonfly(11, 8, 3), 4)
    traffic = ring(machine.places)
    found = hop_bytes(traffic, machine, map_ranks("auto", traffic, machine))
    assert found == 1000 * (88 * 2 * 2 + 88 * 3)


@pytest.mark.parametrize(
    ("extents", "rings", "shape", "cores"),
    [
        ((8, 8, 16), False, Grid((8, 8), wrapped=True), 16),
        ((32, 36), False, Grid((6, 6), wrapped=True), 32),
        ((36, 32), True, Grid((6, 6), wrapped=True), 32),
        ((32, 33), True, Dragonfly(11, 8, 3), 4),
        ((24, 32), False, Dragonfly(8, 6, 2), 8),
    ],
)
def test_blocks_on_hosts_of_several_cores_cost_a_twentieth_less_than_scotch(
    extents: tuple[int, ...], rings: bool, shape: Shape, cores: int
) -> None:
    traffic, machine = stencil(*extents, rings=rings), HopMachine.uniform(shape, cores)
    theirs = hop_bytes(traffic, machine, map_ranks("scotch", traffic, machine))
    assert hop_bytes(traffic, machine, map_ranks("auto", traffic, machine)) <= 0.95 * theirs


@pytest.mark.parametrize(
    ("traffic", "shape", "cores"),
    [
        (stencil(8, 8), Grid((4, 4), wrapped=False), 4),
        (stencil(8, 8, rings=True), Grid((4, 4), wrapped=True), 4),
        (stencil(6, 6, 6), Grid((3, 3, 3), wrapped=False), 8),
        (stencil(16, 16), Tree((16, 16)), 1),
        (ring(96), Tree((3, 4, 2)), 4),
        (ring(512), Dragonfly(16, 8, 4), 1),
    ],
)
def test_what_can_be_no_better_is_not_annealed(traffic: Traffic, shape: Shape, cores: int) -> None:
    machine = HopMachine.uniform(shape, cores)
    start = np.arange(traffic.ranks, dtype=np.uint32)
    flows = (traffic.first, traffic.partner, traffic.size)
    _, name, steps, _ = map_auto(
        *flows, machine.hops, start, 0.0, 100_000_000, 1, 0, lambda _seconds, _cost: True
    )
    assert (name, steps) == ("structure", 0)


@pytest.mark.parametrize(
    "traffic",
    [stencil(2, 4), stencil(8), ring(8), ring(7), stencil(3, 2), stencil(2, 2, 2), ring(5)],
)
@pytest.mark.parametrize(
    ("shape", "cores"),
    [
        (Grid((2, 2), wrapped=False), 2),
        (Grid((4,), wrapped=True), 2),
        (Tree((2, 2)), 2),
        (Tree((2, 4)), 1),
        (Dragonfly(2, 2, 1), 2),
    ],
)
def test_it_stops_at_nothing_that_is_not_the_least(
    traffic: Traffic, shape: Shape, cores: int
) -> None:
    machine = HopMachine.uniform(shape, cores)
    every = np.array(list(itertools.permutations(range(8), traffic.ranks)), dtype=np.intp)
    slots = np.arange(8, dtype=np.uint32)
    hops = machine.hops.table(slots, slots).astype(np.int64)
    cost = np.zeros(len(every), dtype=np.int64)
    for rank in range(traffic.ranks):
        for at in range(traffic.first[rank], traffic.first[rank + 1]):
            if traffic.partner[at] > rank:
                cost += traffic.size[at] * hops[every[:, rank], every[:, traffic.partner[at]]]
    found = map_ranks("auto", traffic, machine, steps=20_000)
    assert hop_bytes(traffic, machine, found) == cost.min()


def test_weak_corners_do_not_hide_a_lattice() -> None:
    traffic = stencil(8, 8, corners=10)
    straight, diagonal = 2 * 8 * 7 * 1000, 2 * 7 * 7 * 10
    assert mapped(traffic, Grid((8, 8), wrapped=False)) == straight + 2 * diagonal


def test_a_ring_of_odd_length_steps_over_one_node() -> None:
    assert mapped(ring(35), Grid((6, 6), wrapped=False)) == 36 * 1000


SHAPES: list[Shape] = [
    Tree((3, 4, 3)),
    Grid((6, 6), wrapped=True),
    Grid((4, 3, 3), wrapped=False),
    Dragonfly(4, 3, 3),
    Network(generate("random", 36, degree=3, seed=1)),
]


@settings(max_examples=25, deadline=None)
@given(
    shape=st.sampled_from(SHAPES),
    ranks=st.integers(2, 36),
    seed=st.integers(0, 1000),
    steps=st.sampled_from([0, 0, 500, 3000]),
)
def test_it_is_never_worse_than_its_start_and_repeats_itself(
    shape: Shape, ranks: int, seed: int, steps: int
) -> None:
    traffic = random_traffic(ranks, seed)
    machine = HopMachine.uniform(shape)
    start = np.random.default_rng(seed).permutation(36)[:ranks].astype(np.uint32)
    told: list[int] = []

    def proceed(_seconds: float, hop_bytes: int) -> bool:
        told.append(hop_bytes)
        return True

    found, again = (
        improve(traffic, machine, seed=seed, steps=steps, start=start, proceed=proceed)
        for _ in range(2)
    )
    assert np.array_equal(found, again)
    assert len(set(found.tolist())) == ranks
    assert hop_bytes(traffic, machine, found) <= hop_bytes(traffic, machine, start)
    assert hop_bytes(traffic, machine, map_ranks("auto", traffic, machine)) <= hop_bytes(
        traffic, machine, map_ranks("by-order", traffic, machine)
    )


@pytest.mark.parametrize(
    "machine",
    [
        *map(HopMachine.uniform, SHAPES),
        HopMachine.uniform(Grid((2, 3, 2, 3), wrapped=True)),
        HopMachine.uniform(Grid((9, 6, 8), wrapped=True)),
        HopMachine.uniform(Grid((20, 18), wrapped=False)),
        HopMachine.uniform(Grid((30, 31), wrapped=True)),
        HopMachine.uniform(Tree((9, 10, 2))),
        HopMachine.uniform(Tree((10, 12, 3))),
        HopMachine.uniform(Tree((2, 160, 2))),
        HopMachine.uniform(Grid((16, 16, 16), wrapped=True)),
        HopMachine(Grid((6, 7, 5), wrapped=True), (1, 0, 2) * 70),
        HopMachine(Grid((6, 5, 4), wrapped=False), ((1,) * 2 + (0,) * 38) * 3),
    ],
)
def test_every_set_of_instructions_finds_the_same_mapping(
    machine: HopMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row fits some registers, or none; grids are whole, or parts of one."""
    traffic = power_law_traffic(machine.places - 3, 4)
    found = []
    for chosen in ("portable", "avx2", "avx512"):
        monkeypatch.setenv("HAMTUNE_INSTRUCTIONS", chosen)
        found.append(map_ranks("auto", traffic, machine, steps=20_000))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_more_steps_help_where_there_is_no_structure() -> None:
    traffic = random_traffic(64, 3)
    fast, slow = (
        mapped(traffic, Grid((8, 8), wrapped=True), steps=steps) for steps in (0, 200_000)
    )
    assert slow < fast


def test_annealing_finds_how_hot_it_must_be_where_few_ranks_exchange_most() -> None:
    traffic = power_law_traffic(288, 7)
    mesh = Grid((12, 24), wrapped=False)
    assert mapped(traffic, mesh, steps=1_000_000) < 0.9 * mapped(traffic, mesh)


def test_bisection_joins_no_rank_to_another_group_than_its_own() -> None:
    """Where it joins whatever is left at once, a byte takes 1.7 hops."""
    traffic = grouped_traffic((4096,), {4: 1000, 16: 250, 64: 62, 256: 15, 1024: 3}, seed=1)
    assert mapped(traffic, Grid((16, 16, 16), wrapped=True)) < 1.62 * traffic.total


def test_annealing_keeps_the_groups_that_a_bisection_finds() -> None:
    """From hot on, groups would form anew in places that do not fit together: 2% higher here."""
    saved = []
    for seed in range(4):
        traffic = grouped_traffic((8, 8, 8), {2: 1000, 4: 300, 8: 30}, seed)
        fast, slow = (
            mapped(traffic, Grid((8, 8, 8), wrapped=True), steps=steps) for steps in (0, 4_000_000)
        )
        saved.append(1 - slow / fast)
    assert np.mean(saved) > 0.042


def test_annealing_keeps_to_the_structure_of_a_lattice_however_long_it_takes() -> None:
    """With 400,000 steps a rank, ways are compared: from new bisections it ends 3% higher."""
    short, long = (
        mapped(stencil(6, 6, 6), Grid((6, 36), wrapped=False), steps=216 * steps)
        for steps in (50_000, 400_000)
    )
    assert long <= short


@pytest.mark.parametrize("steps", [30_000, 8_000_000])
@pytest.mark.parametrize(
    "machine",
    [
        HopMachine.uniform(Tree((2, 3, 3))),
        HopMachine.uniform(Grid((3, 6), wrapped=True)),
        HopMachine.uniform(Dragonfly(3, 3, 2)),
        HopMachine.uniform(Grid((3, 3), wrapped=False), cores=2, inside=(2, 1)),
    ],
    ids=["tree", "torus", "dragonfly", "caches"],
)
def test_threads_that_meet_find_the_same_each_time(machine: HopMachine, steps: int) -> None:
    """One long annealing, and so much time that short ones are compared first."""
    traffic = random_traffic(18, 5)
    alone, once, again = (
        improve(traffic, machine, seed=2, steps=steps, threads=threads) for threads in (1, 3, 3)
    )
    np.testing.assert_array_equal(once, again)
    fast = improve(traffic, machine, seed=2)
    for found in (alone, once):
        assert len(set(found.tolist())) == 18
        assert hop_bytes(traffic, machine, found) <= hop_bytes(traffic, machine, fast)


def test_threads_that_wait_for_each_other_end_when_one_is_told_to() -> None:
    traffic, machine = random_traffic(64, 3), HopMachine.uniform(Grid((8, 8), wrapped=True))
    told: list[int] = []

    def proceed(_seconds: float, least: int) -> bool:
        told.append(least)
        return len(told) < 12

    found = improve(traffic, machine, seconds=2, threads=4, proceed=proceed)
    assert len(told) == 12
    assert hop_bytes(traffic, machine, found) <= min(told)


def test_progress_can_end_the_search() -> None:
    traffic, machine = random_traffic(64, 3), HopMachine.uniform(Grid((8, 8), wrapped=True))
    told: list[tuple[float, int]] = []

    def once(seconds: float, least: int) -> bool:
        told.append((seconds, least))
        return False

    found = improve(traffic, machine, seconds=60, proceed=once)
    assert len(told) == 1
    assert hop_bytes(traffic, machine, found) <= told[0][1]


@pytest.mark.parametrize("shape", [*SHAPES, Tree((2, 160, 2)), Grid((2, 3, 2, 3), wrapped=True)])
def test_what_is_told_while_annealing_is_reached(shape: Shape) -> None:
    machine = HopMachine.uniform(shape)
    traffic = random_traffic(machine.places - 3, 5)
    told: list[int] = []

    def proceed(_seconds: float, least: int) -> bool:
        told.append(least)
        return len(told) < 3

    found = improve(traffic, machine, seconds=60, proceed=proceed)
    assert hop_bytes(traffic, machine, found) <= min(told)


def test_seconds_are_cpu_seconds_of_annealing() -> None:
    traffic, machine = random_traffic(64, 3), HopMachine.uniform(Grid((8, 8), wrapped=True))
    told: list[float] = []

    def proceed(at: float, least: float) -> bool:
        told.append(at)
        return True

    improve(traffic, machine, seconds=0.35, proceed=proceed)
    assert told == sorted(told)
    assert told[-1] <= 0.4
