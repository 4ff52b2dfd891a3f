"""Cases are simulated as the measured program calls them."""

from __future__ import annotations

from pathlib import Path

from measuring.trust.cases import NETWORKS, Case
from measuring.trust.simulate import collective_trace, simulate
from searchspace.kernels import trace_summary


def test_each_operation_is_one_call_of_every_rank(tmp_path: Path) -> None:
    for operation in ("alltoall", "allreduce", "bcast", "gather", "reduce_scatter"):
        trace = collective_trace(operation, 1024, 4, tmp_path / f"{operation}.ht")

        assert trace_summary(trace)["ranks"] == 4
        assert operation in trace_summary(trace)["calls"]


def test_more_bytes_take_longer_and_networks_differ(tmp_path: Path) -> None:
    def case(network: str, size: int) -> Case:
        return Case(network, "openmpi", "alltoall", size, "ring")

    cases = [case("ring", 32768), case("ring", 131_072), case("torus", 131_072)]

    found = simulate(cases, lambda case: NETWORKS[case.network].machine(), {}, tmp_path)

    assert found[cases[0]] < found[cases[2]] < found[cases[1]]
