"""What holds of any traffic that crosses a network of packets."""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.collectives import COLLECTIVES, SELECTORS
from searchspace.collectives.equivalents.decisions import option, selected
from searchspace.formats.operations import encode
from searchspace.kernels import trace_summary
from searchspace.protocol import PROTOCOLS
from searchspace.topology import generate
from tests.workers.simulator.runs import (
    BANDWIDTH,
    IDEAL,
    MTU,
    PLAIN,
    STORED,
    Server,
    answer_of,
    line_of,
    packets_on,
    write_program,
)
from tests.workers.simulator.test_exactness import configurations
from tests.workers.simulator.test_operations import RANKS as FEW_RANKS
from tests.workers.simulator.test_operations import blocking_forms, ring_forms
from tests.workers.simulator.test_packet_protocol import compute
from tests.workers.simulator.test_packets import receives, sends
from tests.workers.simulator.test_selectors import RANKS, call, grid
from workers.capture import capture_builtin

TCP = PROTOCOLS["tcp-openmpi"].numbers()
ONE_SIDED = {"smpi/alltoall": "pair_rma"}  # left to SimGrid's engine
TURN = 3 * MTU
NAMED = {"ideal": IDEAL, "stored": STORED, "tcp": TCP, "turns": IDEAL | {"turn": TURN}}
Message = tuple[int, int, int]  # source, target, bytes

HOSTS = 6


def messages(most: int = 12) -> st.SearchStrategy[list[Message]]:
    """Messages between different hosts."""
    pair = st.lists(st.integers(0, HOSTS - 1), min_size=2, max_size=2, unique=True)
    size = st.one_of(st.integers(0, 5000), st.integers(5001, 200_000))
    one = st.tuples(pair, size).map(lambda drawn: (drawn[0][0], drawn[0][1], drawn[1]))
    return st.lists(one, min_size=1, max_size=most)


def network(seed: int) -> dict[str, Any]:
    graph = generate("random", HOSTS, degree=3, seed=seed)
    return line_of(HOSTS, edges=[list(edge) for edge in graph.edges])


def program(directory: Path, traffic: list[Message], *, late: float = 0.0) -> Path:
    """All messages at once, each with a tag of its own, after some work of all ranks."""
    ranks: list[list[bytes]] = [
        [encode("compute", flops=late)] if late else [] for _ in range(HOSTS)
    ]
    slots = [0] * HOSTS
    for tag, (source, target, size) in enumerate(traffic):
        for rank, name, peer in ((target, "irecv", source), (source, "isend", target)):
            ranks[rank].append(
                encode(name, slot=slots[rank], peer=peer, tag=tag, count=size, size=1)
            )
            slots[rank] += 1
    for rank, used in enumerate(slots):
        ranks[rank].append(encode("waitall", slots=list(range(used))))
    return write_program(directory / "traffic.ht", ranks)


def answer_to(traffic: list[Message], seed: int, **changes: Any) -> dict[str, Any]:
    """The answer for all of these messages at once on a random network."""
    late = changes.pop("late", 0.0)
    platform = network(seed) | changes.pop("platform", {})
    with tempfile.TemporaryDirectory() as directory:
        trace = program(Path(directory), traffic, late=late)
        answer = answer_of(trace, packets_on(platform, *range(HOSTS), **changes))
    assert answer["status"] == "completed", answer["reason"]
    return answer


@settings(max_examples=25, deadline=None)
@given(messages(), st.integers(0, 100), st.sampled_from(sorted(NAMED)))
def test_bytes_are_conserved_and_no_cable_is_faster_than_its_rate(
    traffic: list[Message], seed: int, protocol: str
) -> None:
    """Loads are those of the fluid model, which sends the same bytes over the same cables."""
    answer = answer_to(traffic, seed, **NAMED[protocol])
    with tempfile.TemporaryDirectory() as directory:
        trace = program(Path(directory), traffic)
        request = packets_on(network(seed), *range(HOSTS)) | {"options": PLAIN}
        del request["platform"]["packets"]
        fluid = answer_of(trace, request)
    assert answer["link_loads"] == fluid["link_loads"]
    busiest = max(itertools.chain.from_iterable(answer["link_loads"]))
    assert answer["simulated_time"] >= busiest / BANDWIDTH


@settings(max_examples=25, deadline=None)
@given(messages(), st.integers(0, 100), st.sampled_from(sorted(NAMED)))
def test_the_same_request_has_the_same_answer(
    traffic: list[Message], seed: int, protocol: str
) -> None:
    one = answer_to(traffic, seed, **NAMED[protocol])
    other = answer_to(traffic, seed, **NAMED[protocol])
    timeless = ("simulated_time", "rank_finish_times", "link_loads")
    assert [one[key] for key in timeless] == [other[key] for key in timeless]


@settings(max_examples=25, deadline=None)
@given(messages(), st.integers(0, 100), st.sampled_from(sorted(NAMED)), st.integers(1, 1000))
def test_what_starts_later_ends_later_by_as_much(
    traffic: list[Message], seed: int, protocol: str, delay: int
) -> None:
    """In fractions of a power of two, so that no sum is rounded."""
    unit = 2.0**-30
    exact = {
        "platform": {"link_bandwidth": 1 / unit, "link_latency": 64 * unit, "host_speed": 1 / unit}
    }
    at_once = answer_to(traffic, seed, **exact, **NAMED[protocol])
    later = answer_to(traffic, seed, late=float(delay), **exact, **NAMED[protocol])
    shifted = [time + delay * unit for time in at_once["rank_finish_times"][0]]
    assert later["rank_finish_times"][0] == shifted


Flow = tuple[int, int]  # bytes, and when they are sent, us


def received(flows: list[Flow], protocol: str) -> list[float]:
    """When each message is there: all over one cable, each between two ranks of its own."""
    count = len(flows)
    senders = [
        [compute(start * 1e-6), *sends((count + rank, size))]
        for rank, (size, start) in enumerate(flows)
    ]
    receivers = [receives((rank, size)) for rank, (size, _) in enumerate(flows)]
    with tempfile.TemporaryDirectory() as directory:
        trace = write_program(Path(directory) / "flows.ht", [*senders, *receivers])
        hosts = [0] * count + [1] * count
        request = packets_on(line_of(2, cores=count), *hosts, **NAMED[protocol])
        answer = answer_of(trace, request)
    assert answer["status"] == "completed", answer["reason"]
    times: list[float] = answer["rank_finish_times"][0][count:]
    return times


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 50_000), st.integers(0, 30)), min_size=2, max_size=6),
    st.sampled_from(["ideal", "stored", "turns"]),
    st.booleans(),
)
def test_more_traffic_makes_nothing_faster_on_one_cable(
    flows: list[Flow], protocol: str, are_short: bool
) -> None:
    """But for whose turn it is, where messages of several packets take turns."""
    if are_short:
        flows = [(min(size, MTU), start) for size, start in flows]
    with_less, with_more = received(flows[:-1], protocol), received(flows, protocol)
    rounding = 1e-15
    turn = TURN if protocol == "turns" else MTU
    turns = 0.0 if are_short else len(flows) * turn / BANDWIDTH
    for less, more in zip(with_less, with_more, strict=False):
        assert more >= less - turns - rounding
    assert max(with_more) >= max(with_less) - rounding


@settings(max_examples=15, deadline=None)
@given(messages(6), st.integers(0, 100), st.sampled_from(["ideal", "stored"]))
def test_longer_trains_end_when_packets_do_but_for_a_train_a_message(
    traffic: list[Message], seed: int, protocol: str
) -> None:
    """What the documentation says of the error of longer trains."""
    packets = answer_to(traffic, seed, **NAMED[protocol] | {"trains": 1e9})
    trains = answer_to(traffic, seed, **NAMED[protocol] | {"trains": 64})
    packets_of = [math.ceil(max(1, size) / MTU) for _, _, size in traffic]
    longest = [2 ** math.ceil(math.log2(max(1.0, count / 64))) * MTU for count in packets_of]
    at_most = sum(longest) * HOSTS / BANDWIDTH
    for one, other in zip(
        packets["rank_finish_times"][0], trains["rank_finish_times"][0], strict=True
    ):
        assert abs(one - other) <= at_most


@pytest.mark.parametrize("forms", [ring_forms, blocking_forms])
@pytest.mark.parametrize("protocol", sorted(NAMED))
@pytest.mark.parametrize("rank_hosts", [[0, 1, 2, 3], [0, 0, 1, 1]])
def test_every_form_of_message_goes_as_packets(
    forms: Callable[[int], list[Any]], protocol: str, rank_hosts: list[int], tmp_path: Path
) -> None:
    trace = write_program(
        tmp_path / "forms.ht",
        [[encode(name, **fields) for name, fields in forms(rank)] for rank in range(FEW_RANKS)],
    )
    platform = line_of(max(rank_hosts) + 1)
    answer = answer_of(trace, packets_on(platform, *rank_hosts, **NAMED[protocol]))
    assert answer["status"] == "completed", answer["reason"]


@pytest.mark.parametrize("ranks_per_host", [1, 2])
def test_every_algorithm_sends_over_each_cable_what_it_does_beside_a_fluid(
    ranks_per_host: int, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    """But for what SMPI tells itself of who shares a host, which no real run sends."""
    rank_hosts = [rank // ranks_per_host for rank in range(RANKS)]
    bookkeeping = 4 * 2 * (RANKS + 1) * (RANKS - 1)  # bytes: numbers, to all and back to one
    for name, collective in COLLECTIVES.items():
        server = serve(
            write_program(
                tmp_path / f"{name}.ht",
                [[call(name, count, rank) for count in (1, 2000)] for rank in range(RANKS)],
            )
        )
        chosen = [{f"smpi/{name}": option(name, each)} for each in collective.algorithms]
        for options in [*chosen, *map(selected, SELECTORS)]:
            request = packets_on(grid(rank_hosts), *rank_hosts, **TCP) | {"options": options}
            packets = server.ask(request)
            if options == ONE_SIDED:
                assert packets["reason"]["kind"] == "invalid"
                continue
            del request["platform"]["packets"]
            fluid = server.ask(request)
            assert packets["status"] == fluid["status"], (options, packets["reason"])
            chosen_by_order = name == "gather" and "mvapich2" in options.values()
            if packets["status"] != "completed" or chosen_by_order:
                continue  # SMPI's ranks leave each other their choice in a global variable
            pairs = zip(packets["link_loads"], fluid["link_loads"], strict=True)
            for here, there in ((h, t) for p in pairs for h, t in zip(*p, strict=True)):
                assert there - bookkeeping <= here <= there, options


@pytest.mark.parametrize("program", ["cg", "ft", "is", "mg"])
def test_a_prepared_process_answers_as_a_fresh_one(
    program: str, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    trace = tmp_path / "captured.ht"
    capture_builtin(program, "S", 8, {}, trace)
    server = serve(trace)
    same = ("status", "simulated_time", "rank_finish_times", "link_loads")
    for resolved in itertools.islice(configurations(program, 8, trace_summary(trace)), 3):
        request = {"id": program, **resolved.simulator_request()}
        request["platform"] = request["platform"] | {"packets": TCP}
        fresh = answer_of(trace, request)
        for _ in range(3):
            again = server.ask(request)
            assert {key: again[key] for key in same} == {key: fresh[key] for key in same}
        mixed = {**request, "platform": {**request["platform"]}}
        del mixed["platform"]["packets"]
        assert server.ask(mixed)["status"] == "completed"
        assert server.ask(request)["simulated_time"] == fresh["simulated_time"]
