"""The spaces that job files describe, and the configurations that they begin with."""

from __future__ import annotations

from typing import Any

import pytest

from searchspace.collectives import called_collectives
from searchspace.errors import InvalidInput
from searchspace.job import build_space, load_job
from tests.searchspace.job_files import FROM_THE_MANUAL, small


def test_the_space_of_the_manual() -> None:
    built = build_space(load_job(FROM_THE_MANUAL), 64)
    by_name = {parameter.name: parameter for parameter in built.space.parameters}
    assert list(by_name) == [
        "topology", "topology_seed", "ordering", "mapping", "mpi", "collectives.alltoall",
        "collectives.allreduce", "collectives.allgather", "collectives.bcast",
    ]  # fmt: skip
    collectives = [
        by_name[f"collectives.{c}"].size for c in ("alltoall", "allreduce", "allgather", "bcast")
    ]
    product = 3 * 2 * 1 * 3
    for size in collectives:
        product *= size
    assert built.space.size == product
    assert built.space.constraints == ()


def test_instances_of_a_family_are_seeds() -> None:
    document = small(search__topology=[{"family": "random", "instances": 8}, "torus-2d"], seed=5)
    built = build_space(load_job(document), 16)
    seeds = {c.get("topology_seed") for c in built.space.enumerate()}
    assert seeds == {None, *range(5, 13)}
    assert built.space.size == 9


def test_instances_of_a_mapper_are_seeds_and_the_search_may_map_itself() -> None:
    mapping = [{"mapper": "random", "instances": 4}, "by-order", "permutation"]
    spec = load_job(small(search__mapping=mapping, seed=7))

    by_name = {p.name: p for p in build_space(spec, 16).space.parameters}

    assert by_name["mapping_seed"].describe() == {
        "name": "mapping_seed", "kind": "integer", "low": 7, "high": 10,
        "when": {"mapping": ["random"]},
    }  # fmt: skip
    assert by_name["permutation"].describe() == {
        "name": "permutation", "kind": "permutation", "items": list(range(16)),
        "when": {"mapping": ["permutation"]},
    }  # fmt: skip


def test_parameters_of_families_count_where_their_family_is_chosen() -> None:
    circulants = {"family": "circulant", "jumps": ["1,4", "2,4", "1,6"]}
    document = small(search__topology=["ring", circulants, {"family": "mesh-2d", "dims": "8x2"}])
    built = build_space(load_job(document), 16)
    chosen = [c.to_dict() for c in built.space.enumerate() if built.space.infeasible(c) is None]
    networks = [{n: c[n] for n in ("topology", "circulant", "mesh-2d") if n in c} for c in chosen]
    assert networks == [
        {"topology": "ring"},
        {"topology": "circulant", "circulant": {"jumps": "1,4"}},
        {"topology": "circulant", "circulant": {"jumps": "1,6"}},
        {"topology": "mesh-2d", "mesh-2d": {"dims": "8,2"}},
    ]
    assert [rule.description for rule in built.space.constraints] == [
        "circulant (jumps = 2,4): the jumps and the 16 nodes have the divisor 2 in common: "
        "not connected (15 or 17 nodes can be had)"
    ]
    assert dict(built.baselines)["mesh-2d"].get("mesh-2d.dims") is None


def test_the_first_network_is_one_that_can_be_had() -> None:
    circulants = {"family": "circulant", "jumps": ["2,4", "1,6"]}
    built = build_space(load_job(small(search__topology=[circulants, "ring"])), 16)
    label, first = built.baselines[-1]
    assert (label, first["circulant.jumps"]) == ("circulant original default", "1,6")


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"family": "circulant", "jumps": []}, "search.topology.0.jumps: must list at least one"),
        ({"family": "circulant", "jumps": "a"}, "search.topology.0.jumps: must be whole numbers"),
        ({"family": "ring", "k": 3}, "search.topology.0.k: unknown field of ring; allowed: family"),
        (
            {"family": "circulant", "jumps": ["2,4", "4,6"]},
            r"search.topology: circulant \(jumps = 2,4\): .* not connected",
        ),
        (
            {"family": "chvatal"},
            r"search.topology: chvatal: .* 12 nodes, not 16 \(12 nodes can be had\)",
        ),
    ],
)
def test_wrong_parameters_of_families(choice: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load_job(small(search__topology=[choice, "random"]))


def test_collectives_that_are_never_called_are_left_out_and_reported() -> None:
    document = small(search__collectives={"bcast": "all", "alltoall": "all"})
    built = build_space(load_job(document), 16, called_collectives({"calls": ["send", "bcast"]}))
    names = [parameter.name for parameter in built.space.parameters]
    assert "collectives.bcast" in names
    assert "collectives.alltoall" not in names
    assert {
        "parameter": "collectives.alltoall",
        "value": None,
        "reason": "the application never calls it",
    } in built.excluded
    assert built.describe()["excluded"] == built.excluded


def test_all_leaves_out_what_cannot_work_and_says_why() -> None:
    document = small(application={"trace": "t.ht"}, search__collectives={"alltoall": ["all"]})
    built = build_space(load_job(document), 6)
    parameter = next(p for p in built.space.parameters if p.name == "collectives.alltoall")
    assert {"default", "bruck", "ring"} <= set(parameter.every())
    assert not {"pair", "pair_rma", "mpich"} & set(parameter.every())
    assert {
        "parameter": "collectives.alltoall",
        "value": "pair",
        "reason": "needs a power of two ranks, not 6",
    } in built.excluded


def test_an_algorithm_must_work_in_every_communicator_that_calls_it() -> None:
    """Pairs of 16 ranks are a power of two, those of its columns are not."""
    document = small(application={"trace": "t.ht"}, search__collectives={"alltoall": ["all"]})
    summary = {
        "calls": {"alltoall": 32},
        "communicators": {"alltoall": [[], [0, 1, 2], [3, 4, 5, 6, 7, 8]]},
    }
    built = build_space(load_job(document), 16, called_collectives(summary))
    parameter = next(p for p in built.space.parameters if p.name == "collectives.alltoall")
    assert "ring" in parameter.every()
    assert {
        "parameter": "collectives.alltoall",
        "value": "pair",
        "reason": "needs a power of two ranks, not 3 (in a communicator of 3 ranks)",
    } in built.excluded


def test_a_target_is_not_forced_to_what_would_reduce_in_another_order() -> None:
    """Open MPI takes what it is told also for operations that do not commute."""
    document = small(search__target="openmpi-4.1", search__collectives={"allreduce": ["all"]})
    called = called_collectives({"calls": {"allreduce": 1, "reduce": 1}})

    def offered(*non_commutative: str) -> set[object]:
        built = build_space(load_job(document), 16, called, non_commutative)
        return next(
            {*p.every()} for p in built.space.parameters if p.name == "collectives.allreduce"
        )

    assert {"lr", "rdb"} <= offered() == offered("reduce")
    assert "rdb" in offered("allreduce")
    assert offered("allreduce").isdisjoint({"lr", "rab"})
    document = small(search__target="openmpi-4.1", search__collectives={"allreduce": ["lr"]})
    with pytest.raises(InvalidInput, match=r"lr does not keep the order of ranks in Open MPI"):
        build_space(load_job(document), 16, called, ("allreduce",))


def test_an_algorithm_that_works_with_some_mappings_is_kept_with_a_constraint() -> None:
    document = small(
        machine__cores_per_host=4,
        search__mapping=["packed", "round-robin"],
        search__collectives={"bcast": ["SMP_linear", "NTSL"]},
    )
    built = build_space(load_job(document), 16)
    reasons = {
        built.space.infeasible(c): (c["mapping"], c["collectives.bcast"])
        for c in built.space.enumerate()
    }
    broken = (
        "collectives.bcast = SMP_linear, mapping = round-robin: "
        "SMP_linear needs hosts with more than one rank"
    )
    assert set(reasons) == {None, broken}
    assert reasons[broken] == ("round-robin", "SMP_linear")


def test_a_space_without_anything_that_runs_is_refused() -> None:
    document = small(
        application={"trace": "t.ht"},
        search={
            "topology": ["random", "torus-2d"],
            "mpi": ["impi"],
            "collectives": {"bcast": "default"},
        },
    )
    with pytest.raises(InvalidInput, match=r"no configuration of this space can be run: .*SMP_lin"):
        build_space(load_job(document), 7)


def test_baselines_are_meshes_tori_and_the_first_network_with_each_implementation() -> None:
    built = build_space(
        load_job(FROM_THE_MANUAL), 64, called_collectives({"calls": ["bcast", "barrier"]})
    )
    assert [label for label, _ in built.baselines] == [
        "mesh-2d", "mesh-3d", "torus-2d", "torus-3d",
        "random original mpich", "random original ompi", "random original mvapich2",
    ]  # fmt: skip
    configurations = dict(built.baselines)
    assert configurations["random original ompi"].to_dict() == {
        "topology": "random",
        "topology_seed": 1,
        "ordering": "original",
        "mapping": "by-order",
        "mpi": "ompi",
        "collectives": {"bcast": "default"},
    }
    # A baseline that lies in the space is the same configuration there.
    torus = configurations["torus-3d"]
    assert built.space.canonicalise(torus) == torus


def test_baselines_that_do_not_exist_or_repeat_are_left_out() -> None:
    document = small(
        machine__nodes=14,
        application__ranks=8,
        search={"topology": "torus-2d", "mpi": ["ompi", "mpich"]},
    )
    labels = [label for label, _ in build_space(load_job(document), 8).baselines]
    assert labels == ["mesh-2d", "torus-2d", "torus-2d original mpich"]


def test_a_given_network_is_searched_and_compared_with() -> None:
    edges = [[n, (n + 1) % 16] for n in range(16)]
    document = small(
        machine__topology={"edges": edges}, search={"ordering": ["original", "hamorder"]}
    )
    built = build_space(load_job(document), 16)
    assert next(built.space.enumerate())["topology"] == "given"
    # Nobody who has a network could have a torus instead.
    assert [label for label, _ in built.baselines] == ["given original default"]
