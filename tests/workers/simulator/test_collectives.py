"""Collectives of our own: trees as they are known, tables that decide call by call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searchspace.collectives import COLLECTIVES
from searchspace.collectives.equivalents.decisions import selected
from searchspace.collectives.equivalents.openmpi_choices import chosen_algorithm
from searchspace.configuration import Configuration
from searchspace.formats.operations import encode
from searchspace.machine import parse_machine
from searchspace.platform import resolve
from tests.workers.simulator.runs import (
    BANDWIDTH,
    Server,
    answer_of,
    line_of,
    packets_on,
    write_program,
)

KIB = 1 << 10


def loads(server: Server, hosts: int, options: dict[str, str]) -> list[list[float]]:
    """Bytes that each rank sends to each other one."""
    pairs = [[u, v] for u in range(hosts) for v in range(u + 1, hosts)]
    answer = server.ask(
        {
            "id": "loads",
            "platform": line_of(hosts, edges=pairs),
            "applications": [{"trace": 0, "hosts": list(range(hosts))}],
            "options": options,
        }
    )
    assert answer["status"] == "completed", answer["reason"]
    found = [[0.0] * hosts for _ in range(hosts)]
    for (u, v), (there, back) in zip(pairs, answer["link_loads"], strict=True):
        found[u][v], found[v][u] = there, back
    return found


def tree(found: list[list[float]], least: float) -> dict[int, int]:
    """The parent of each rank that gets at least so many bytes from another."""
    hosts = range(len(found))
    return {v: u for u in hosts for v in hosts if found[u][v] >= least}


@pytest.mark.parametrize(
    ("algorithm", "parents"),
    [
        ("ompi_binomial", {1: 0, 2: 0, 3: 1, 4: 0, 5: 1, 6: 2}),
        ("ompi_knomial", {1: 0, 2: 0, 3: 0, 4: 0, 5: 4, 6: 4}),
        ("ompi_binary_tree", {1: 0, 2: 0, 3: 1, 4: 2, 5: 1, 6: 2}),
        ("ompi_chain_whole", {1: 0, 2: 1, 3: 2, 4: 3, 5: 4, 6: 5}),
        ("ompi_four_chains", {1: 0, 2: 1, 3: 0, 4: 3, 5: 0, 6: 0}),
    ],
)
def test_a_broadcast_goes_down_its_tree(
    algorithm: str, parents: dict[int, int], tmp_path: Path, serve: Callable[..., Server]
) -> None:
    call = encode("bcast", count=40 * KIB, size=1)
    server = serve(write_program(tmp_path / "bcast.ht", [[call]] * 7))

    assert tree(loads(server, 7, {"smpi/bcast": algorithm}), 40 * KIB) == parents


@pytest.mark.parametrize("ranks", [6, 8])
@pytest.mark.parametrize("collective", ["allreduce", "reduce"])
def test_rabenseifners_algorithm_takes_elements_of_any_size(
    collective: str, ranks: int, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    """SMPI's knows ten types: of others it has no end, or an error, as of complex numbers."""
    found = []
    for count, size in ((4800, 4), (19_200, 1), (6400, 3), (1200, 16)):
        call = encode(collective, count=count, size=size)
        server = serve(write_program(tmp_path / f"{size}.ht", [[call]] * ranks))
        found.append(loads(server, ranks, {f"smpi/{collective}": "rab"}))
    of_integers, *of_others = found
    for other in of_others:
        for row, same in zip(other, of_integers, strict=True):
            assert row == pytest.approx(same, abs=16 * ranks)


def test_segments_of_a_chain_overlap(tmp_path: Path, serve: Callable[..., Server]) -> None:
    """Whole, a message is as often on the way as the chain is long; in segments hardly longer."""
    call = encode("reduce", count=1 << 20, size=1)
    server = serve(write_program(tmp_path / "reduce.ht", [[call]] * 8))

    def seconds(algorithm: str) -> float:
        request: dict[str, Any] = {
            "id": algorithm,
            "platform": line_of(8),
            "applications": [{"trace": 0, "hosts": list(range(8))}],
            "options": {"smpi/reduce": algorithm},
        }
        return float(server.ask(request)["simulated_time"])

    assert seconds("ompi_chain_whole") > 5 * seconds("ompi_chain_segmented")


@pytest.mark.parametrize(("ranks", "size"), [(6, 512), (8, 512), (8, 48 * KIB), (16, 16 * KIB)])
@pytest.mark.parametrize("operation", ["bcast", "reduce", "allreduce"])
def test_a_table_takes_the_algorithm_that_it_names(
    operation: str, ranks: int, size: int, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    call = encode(operation, count=size // 8, size=8)
    server = serve(write_program(tmp_path / "calls.ht", [[call]] * ranks))
    library = chosen_algorithm(operation, ranks, size)
    named = {
        "bcast": {
            "basic_linear": "flattree",
            "binomial": "ompi_binomial",
            "knomial": "ompi_knomial",
            "binary_tree": "ompi_binary_tree",
        },
        "reduce": {"binomial": "binomial", "binary": "ompi_binary_whole"},
        "allreduce": {"recursive_doubling": "rdb", "rabenseifner": "rab"},
    }[operation]
    decided = loads(server, ranks, selected("openmpi-4.1"))

    assert decided == loads(server, ranks, {f"smpi/{operation}": named[str(library)]})


def test_neighbours_exchange_where_ranks_are_even(
    tmp_path: Path, serve: Callable[..., Server]
) -> None:
    """Of 32 ranks and more; by hand for few."""
    rules = {"smpi/allgather": "rules:2:0=ompi_neighborexchange/NTSLR"}
    call = encode("allgather", send_count=64, send_size=1, recv_count=64, recv_size=1)
    for ranks, meant in ((5, "NTSLR"), (6, "ompi_neighborexchange")):
        server = serve(write_program(tmp_path / f"{ranks}.ht", [[call]] * ranks))
        assert loads(server, ranks, rules) == loads(server, ranks, {"smpi/allgather": meant})


@pytest.mark.parametrize("mpi", ["default", "mpich", "openmpi-4.1"])
def test_a_configuration_decides_by_size(
    mpi: str, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    """Calls of one range alone move what its algorithm moves; the others are the library's."""
    by_size = {"collectives.allreduce@1024": "lr", "collectives.allreduce@65536": "rab", "mpi": mpi}
    machine = parse_machine(
        {"nodes": 6, "degree": 5, "host_speed": "1Gf", "link_bandwidth": "1Gbps"}
    )

    def options(**chosen: str) -> dict[str, str]:
        whole = Configuration({"topology": "random", **chosen})
        return dict(resolve(whole, machine, 6).options)

    # Multiples of the ranks: for what is left over, rings call the collective once more.
    for count, meant in ((6, "default"), (132, "lr"), (8190, "lr"), (8196, "rab")):
        call = encode("allreduce", count=count, size=8)
        server = serve(write_program(tmp_path / f"{count}.ht", [[call]] * 6))
        alone = {"collectives.allreduce": meant, "mpi": mpi}
        assert loads(server, 6, options(**by_size)) == loads(server, 6, options(**alone)), count


def test_a_table_that_cannot_be_read_is_told(tmp_path: Path, serve: Callable[..., Server]) -> None:
    server = serve(write_program(tmp_path / "barrier.ht", [[encode("barrier")]] * 2))
    answer = server.ask(
        {
            "id": "bad",
            "platform": line_of(2),
            "applications": [{"trace": 0, "hosts": [0, 1]}],
            "options": {"smpi/barrier": "rules:2:0"},
        }
    )

    assert answer["reason"] == {"kind": "invalid", "message": "options: no '=' in '0'"}


def test_tables_name_what_the_catalogue_knows() -> None:
    for library in ("openmpi-4.1", "mpich-4.0"):
        for option, value in selected(library).items():
            known = {*COLLECTIVES[option.removeprefix("smpi/")].algorithms, "default"}
            lines = value.partition(":")[2].replace("|", ";").split(";")
            choices = [part for line in lines for part in line.partition(":")[2].split(",")]
            names = {name for part in choices for name in part.partition("=")[2].split("/")}
            assert names <= known


def test_a_broadcast_of_as_much_as_mpi_can_count_goes_in_all_its_segments(tmp_path: Path) -> None:
    count = (1 << 31) - 1
    trace = write_program(tmp_path / "bcast.ht", [[encode("bcast", count=count, size=1)]] * 2)
    request = packets_on(line_of(2), 0, 1)
    answer = answer_of(trace, request | {"options": {"smpi/bcast": "ompi_binary_tree_segmented"}})
    assert answer["simulated_time"] == pytest.approx(count / BANDWIDTH, rel=1e-3)


def test_more_than_rabenseifners_algorithm_can_count_is_refused_by_name(tmp_path: Path) -> None:
    """SMPI's takes numbers of C, here eight bytes each, and as many as an int can tell."""
    trace = write_program(tmp_path / "rab.ht", [[encode("allreduce", count=1 << 30, size=16)]] * 2)
    request = packets_on(line_of(2), 0, 1) | {"options": {"smpi/allreduce": "rab"}}
    reason = answer_of(trace, request)["reason"]
    assert reason["kind"] == "crash"
    assert "more elements than SMPI's algorithm of Rabenseifner can count" in reason["message"]
