"""MPI implementations as selectors: each works for every collective, at every size of message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from searchspace.collectives import COLLECTIVES, DEFAULT, SELECTORS
from searchspace.collectives.equivalents.decisions import selected
from searchspace.collectives.tables import OF_SMPI
from searchspace.formats.operations import Value, decode, encode
from searchspace.formats.time_independent import NOT_COMMUTATIVE, SENT_WHOLE
from searchspace.platform import collective_obstacle
from tests.workers.simulator.runs import Server, line_of, write_program

RANKS = 8
COUNTS = (1, 37, 1024, 20_000, 150_000)  # elements of 8 bytes: each side of the tables' thresholds


def call(name: str, count: int, rank: int) -> bytes:
    """A collective in which every rank has `count` elements for each of the others."""
    sending: dict[str, Value] = {"send_count": count, "send_size": 8}
    receiving: dict[str, Value] = {"recv_count": count, "recv_size": 8}
    each = [count] * RANKS
    at_root = rank == 0
    fields: dict[str, dict[str, Value]] = {
        "alltoall": sending | receiving,
        "allgather": sending | receiving,
        "allreduce": {"count": count, "size": 8},
        "bcast": {"count": count, "size": 8},
        "reduce": {"count": count, "size": 8},
        "alltoallv": {"send_size": 8, "recv_size": 8, "send_counts": each, "recv_counts": each},
        "allgatherv": sending | {"recv_size": 8, "recv_counts": each},
        "reduce_scatter": {"size": 8, "counts": each},
        "gather": sending | (receiving if at_root else {}),
        "scatter": receiving | (sending if at_root else {}),
        "barrier": {},
    }
    return encode(name, **fields[name])


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A trace for each collective of the catalogue, and one with all of them."""
    directory = tmp_path_factory.mktemp("collectives")
    programs = {name: [name] for name in COLLECTIVES} | {"all": list(COLLECTIVES)}
    return {
        program: write_program(
            directory / f"{program}.ht",
            [
                [call(name, count, rank) for count in COUNTS for name in names]
                for rank in range(RANKS)
            ],
        )
        for program, names in programs.items()
    }


def grid(rank_hosts: list[int]) -> dict[str, object]:
    """A ring of the hosts that are used."""
    hosts = max(rank_hosts) + 1
    edges = sorted([[host, host + 1] for host in range(hosts - 1)] + [[0, hosts - 1]])
    return line_of(hosts, cores=RANKS // hosts, edges=edges)


def in_elements(name: str, count: int, size: int, rank: int) -> bytes:
    """The same call with elements of another size."""
    for operation in decode(call(name, count, rank)):
        changed = {
            field: size if field.endswith("size") and value else value
            for field, value in operation.fields.items()
        }
        return encode(name, **changed)
    raise AssertionError


@pytest.mark.parametrize("name", sorted(SENT_WHOLE & set(COLLECTIVES)))
def test_what_is_sent_whole_takes_as_long_in_bytes(
    name: str, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    # An export to stock traces relies on it.
    traces = [
        write_program(
            tmp_path / f"{size}.ht",
            [
                [in_elements(name, 24 * count // size, size, rank) for count in (1, 37, 341, 5000)]
                for rank in range(RANKS)
            ],
        )
        for size in (24, 1)
    ]
    server = serve(*traces)
    known = COLLECTIVES[name].algorithms
    algorithms = [{f"smpi/{name}": each} for each in known if not known[each].own]
    for options in [*algorithms, *map(selected, OF_SMPI)]:
        for ranks_per_host in (1, 2):
            hosts = [rank // ranks_per_host for rank in range(RANKS)]
            times = [
                server.ask(
                    {
                        "id": name,
                        "platform": grid(hosts),
                        "applications": [{"trace": trace, "hosts": hosts}],
                        "options": options,
                    }
                )["simulated_time"]
                for trace in (0, 1)
            ]
            assert times[0] == times[1], options


@pytest.mark.parametrize("ranks_per_host", [1, 2])
@pytest.mark.parametrize("selector", SELECTORS)
def test_a_selector_works_for_every_collective(
    selector: str,
    ranks_per_host: int,
    traces: dict[str, Path],
    serve: Callable[..., Server],
) -> None:
    rank_hosts = [rank // ranks_per_host for rank in range(RANKS)]
    server = serve(*traces.values())
    wrong = {}
    for number, program in enumerate(traces):
        called = list(COLLECTIVES) if program == "all" else [program]
        if any(
            collective_obstacle(name, DEFAULT, selector, RANKS, tuple(rank_hosts))
            for name in called
        ):
            continue
        request = {
            "id": program,
            "platform": grid(rank_hosts),
            "applications": [{"trace": number, "hosts": rank_hosts}],
            "options": selected(selector),
        }
        answer = server.ask(request)
        if answer["status"] != "completed":
            wrong[program] = answer["reason"]
    assert wrong == {}


@pytest.mark.parametrize("ranks", [5, 8])
@pytest.mark.parametrize("selector", SELECTORS)
def test_a_selector_reduces_by_operations_that_do_not_commute(
    selector: str, ranks: int, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    """Parts of a vector differ in size: some algorithms for such operations want them equal."""
    calls = [
        encode(name, **fields, size=8, flags=NOT_COMMUTATIVE)
        for count in COUNTS
        for name, fields in (
            ("allreduce", {"count": count}),
            ("reduce", {"count": count}),
            ("reduce_scatter", {"counts": [count + rank for rank in range(ranks)]}),
            ("reduce_scatter_block", {"count": count}),
        )
    ]
    hosts = list(range(ranks))
    server = serve(write_program(tmp_path / "ordered.ht", [calls] * ranks))
    request = {
        "id": selector,
        "platform": line_of(ranks),
        "applications": [{"trace": 0, "hosts": hosts}],
        "options": selected(selector),
    }
    answer = server.ask(request)
    assert answer["status"] == "completed", answer["reason"]


@pytest.mark.parametrize("ranks_per_host", [1, 2])
def test_every_algorithm_on_offer_works_where_the_catalogue_says_so(
    ranks_per_host: int, traces: dict[str, Path], serve: Callable[..., Server]
) -> None:
    rank_hosts = [rank // ranks_per_host for rank in range(RANKS)]
    server = serve(*traces.values())
    wrong = {}
    for name, collective in COLLECTIVES.items():
        for algorithm in collective.offered:
            if collective_obstacle(name, algorithm.name, DEFAULT, RANKS, tuple(rank_hosts)):
                continue
            request = {
                "id": name,
                "platform": grid(rank_hosts),
                "applications": [{"trace": list(traces).index(name), "hosts": rank_hosts}],
                "options": {f"smpi/{name}": algorithm.name},
            }
            answer = server.ask(request)
            if answer["status"] != "completed":
                wrong[name, algorithm.name] = answer["reason"]
    assert wrong == {}
