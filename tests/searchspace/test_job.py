"""Job files: what they may say, and what they are told when they say something else."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from searchspace.collectives import called_collectives
from searchspace.errors import InvalidDocument, InvalidInput
from searchspace.job import build_space, load_job, load_new_job
from searchspace.jobspec import MODEL, JobSpec
from tuner.techniques import TECHNIQUES

FROM_THE_MANUAL = """
name: cg-64
application: {builtin: cg, class: A, ranks: 64}     # or {trace: t.ht}
machine: {nodes: 64, degree: 6, host_speed: 100Gf, link_bandwidth: 40Gbps, switch_latency: 60ns,
          switch_bandwidth: 10Pbps, model: smpi-default}
search:
  topology: [random, torus-3d, mesh-3d]
  ordering: [original, hamorder]
  mapping: [by-order]
  mpi: [mpich, ompi, mvapich2]
  collectives: {alltoall: all, allreduce: all, allgather: all, bcast: all}
budget: {trials: 100}
seed: 1
"""

SMALL: dict[str, Any] = {
    "name": "small",
    "application": {"builtin": "cg", "class": "S", "ranks": 16},
    "machine": {"nodes": 16, "degree": 4, "host_speed": "100Gf", "link_bandwidth": "40Gbps"},
    "search": {"topology": ["random", "torus-2d"]},
    "budget": {"trials": 5},
}


def small(**change: Any) -> dict[str, Any]:
    """The small job with some fields changed; `machine__nodes=4` changes one inside a group."""
    document = copy.deepcopy(SMALL)
    for name, value in change.items():
        *groups, last = name.split("__")
        target = document
        for group in groups:
            target = target[group]
        target[last] = value
    return document


def test_the_job_of_the_manual() -> None:
    spec = load_job(FROM_THE_MANUAL)
    assert spec.known_ranks == 64
    assert spec.described_machine.switch_latency == 60e-9
    assert (spec.seed, spec.batch, spec.cutoff_factor) == (1, 8, 1.3)
    assert (spec.limits.memory, spec.limits.wall_seconds) == (4 * 2**30, 600.0)


def test_the_network_model_is_a_field_of_the_machine() -> None:
    machine = {**SMALL["machine"], "network": "auto", "protocol": {"name": "verbs", "mtu": "2KiB"}}
    spec = load_job(small(machine=machine))
    assert spec.described_machine.model_text == "packets, verbs with mtu of its own"
    assert load_job(spec.canonical()) == spec
    with pytest.raises(InvalidInput, match=r"machine\.protocol\.mtu: '2kiB' has an unknown unit"):
        load_job(small(machine={**machine, "protocol": {"mtu": "2kiB"}}))


@pytest.mark.parametrize("said", [{}, {"network": "fluid"}, {"network": "packets"}])
def test_a_new_job_that_says_no_network_model_gets_auto(said: dict[str, str]) -> None:
    document = small(machine={**SMALL["machine"], **said})
    spec = load_new_job(document)
    network = said.get("network", "auto")
    assert spec.described_machine.network == network
    assert spec.canonical()["machine"]["network"] == network
    assert load_new_job(spec.canonical()) == load_job(spec.canonical()) == spec
    assert load_new_job(json.dumps(document)) == spec


def test_a_stored_job_that_says_no_network_model_has_fluid() -> None:
    spec = load_job(small())
    assert spec.described_machine.network == "fluid"
    assert load_new_job(spec.canonical()) == spec


def test_a_machine_that_a_new_job_refers_to_stays_as_it_is() -> None:
    document = small(machine={"id": "0k3v9m2x7q1zt8ac"})
    assert load_new_job(document) == load_job(document)


@pytest.mark.parametrize("document", ["[]", "machine: 3", small(machine="fast"), small(machine=[])])
def test_what_is_wrong_with_a_new_job_is_said_as_of_any(document: Any) -> None:
    with pytest.raises(InvalidInput) as new:
        load_new_job(document)
    with pytest.raises(InvalidInput) as stored:
        load_job(document)
    assert str(new.value) == str(stored.value)


@pytest.mark.parametrize(
    ("changes", "search", "seconds"),
    [
        ({}, 0.0, 10.0),
        ({}, 99.0, 10.0),
        ({}, 500.0, 50.0),
        ({}, 1e6, 600.0),
        ({"limits": {"wall_seconds": 30}}, 500.0, 30.0),
        ({"limits": {"wall_seconds": 5}}, 0.0, 5.0),
        ({"budget": {"trials": 5, "cpu_seconds": 100}}, 500.0, 10.0),
        ({"budget": {"cpu_seconds": 100, "wall_seconds": 50}}, 500.0, 5.0),
    ],
)
def test_what_a_comparison_of_network_models_may_take(
    changes: dict[str, Any], search: float, seconds: float
) -> None:
    limits = load_job(small(**changes)).comparison_limits(search)
    assert (limits.wall_seconds, limits.memory) == (seconds, 4 * 2**30)


@pytest.mark.parametrize(
    "document",
    [
        FROM_THE_MANUAL,
        small(),
        small(application={"builtin": "mm", "ranks": 16}),
        small(application={"trace": "t.ht"}, machine={"id": "0k3v9m2x7q1zt8ac"}),
        small(application={"id": "0k3v9m2x7q1zt8ac"}, cutoff_factor=None, techniques=["a"]),
        small(search__topology=[{"family": "random", "instances": 8}]),
        small(search__topology=["random", {"family": "circulant", "jumps": ["1,5", "1x7"]}]),
        small(budget={"wall_seconds": "10min", "target": "1.5ms", "patience": 20}),
        small(budget={"until": "1%"}),
    ],
)
def test_the_canonical_form_reads_back(document: Any) -> None:
    spec = load_job(document)
    canonical = json.loads(json.dumps(spec.canonical()))
    assert load_job(canonical) == spec
    assert load_job(canonical).canonical() == canonical
    assert set(canonical) == set(JobSpec.model_fields)


def test_one_choice_needs_no_list() -> None:
    spec = load_job(
        small(search={"topology": "torus-2d", "mpi": "ompi", "ordering": ["original", "hamorder"]})
    )
    assert spec.search.topology == ["torus-2d"]
    assert spec.search.mpi == ["ompi"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"typo": 1}, "typo: unknown field; allowed: name, application, machine, search"),
        ({"name": ""}, "name: must not be empty"),
        ({"name": "a\nb"}, "name: must be one line"),
        ({"application": {}}, "application: must name one of: builtin, trace, source, pattern"),
        (
            {"application": "cg"},
            "application: must name one of: builtin, trace, source, pattern",
        ),
        (
            {"application": {"pattern": "ring", "ranks": 4, "size": 1, "count": 1, "rate": 1}},
            "application.pattern: unknown pattern 'ring'; allowed: all-to-all, bcast/scatter",
        ),
        (
            {
                "application": {
                    "pattern": "linear",
                    "ranks": 4,
                    "size": "1Gx",
                    "count": 1,
                    "rate": 1,
                }
            },
            "application.size: '1Gx' has an unknown unit",
        ),
        (
            {"application__typo": 1},
            "application.typo: unknown field; allowed: builtin, ranks, class",
        ),
        (
            {"application__builtin": "nas"},
            "application.builtin: unknown program 'nas'; allowed: .*bt, cg",
        ),
        ({"application__class": "Z"}, "application.class: unknown class 'Z'; allowed: S, W, A, B"),
        ({"application__ranks": 15}, "application.ranks: class S needs a power of two"),
        ({"application__ranks": 32}, "application.ranks: 32 ranks do not fit on 16 hosts"),
        ({"machine__nodes": "few"}, "machine.nodes: must be a valid integer, not 'few'"),
        ({"machine__host_speed": "1GHz"}, "machine.host_speed: '1GHz' has an unknown unit"),
        ({"machine__nodes": 17, "machine__degree": 3}, "random: nodes x degree must be even"),
        ({"machine__degree": 16}, r"random: the degree \(16\) must be less than the number of"),
        ({"search": {}}, "search.topology: is required; allowed: random, mesh-2d"),
        ({"search__topology": []}, "search.topology: must list at least 1"),
        ({"search__topology": ["rung"]}, "search.topology: unknown topology 'rung'; allowed: ran"),
        ({"search__topology": ["given"]}, "given: machine.topology does not give a network"),
        (
            {"search__topology": ["mesh-3d"], "machine__nodes": 26},
            "search.topology: mesh-3d: 26 is",
        ),
        ({"search__topology": ["random", "random"]}, "search.topology: 'random' is listed twice"),
        (
            {"search__topology": [{"family": "mesh-2d", "instances": 2}]},
            "search.topology.0.instances: mesh-2d has one network of a size",
        ),
        ({"search__topology": ["random"]}, "search: nothing to tune: .*; use hamtune evaluate"),
        ({"search__mpi": ["lam"]}, "search.mpi: unknown mpi 'lam'; allowed: mpich, ompi"),
        (
            {"search__mapping": [{"mapper": "mpipp", "ends": 2}]},
            "search.mapping.0.ends: unknown field of mpipp; allowed: mapper, instances, starts",
        ),
        (
            {"search__mapping": [{"mapper": "mpipp", "starts": 0}]},
            "search.mapping.0.starts: must be a whole number from 1",
        ),
        (
            {"search__mapping": [{"mapper": "treematch", "instances": 2}]},
            "search.mapping.0.instances: treematch makes no random choices; only these do: random",
        ),
        ({"refinement": -1}, "refinement: must be greater than or equal to 0"),
        (
            {"search__mapping": ["geometric"], "search__ordering": ["bfs"]},
            "search.mapping: 'geometric' needs the coordinates",
        ),
        (
            {"search__mapping": ["best"]},
            "search.mapping: unknown mapping 'best'; allowed: by-order",
        ),
        (
            {"search__collectives": {"alltoall": ["brock"]}},
            "search.collectives.alltoall: unknown algorithm 'brock'; allowed: all, default, basic",
        ),
        (
            {"search__collectives": {"alltoall": "pair_rma"}},
            "search.collectives.alltoall: algorithm 'pair_rma' is not offered: it gives wrong data",
        ),
        (
            {"search__collectives": {"bcast": "SMP_linear"}},
            "search.collectives.bcast: SMP_linear needs hosts with more than one rank",
        ),
        ({"search__collectives": {"alltol": "all"}}, "search.collectives.alltol: unknown collecti"),
        ({"budget": {}}, "budget: must set at least one of: trials, evaluations, wall_seconds"),
        ({"budget__trials": 0}, "budget.trials: must be greater than 0, not 0"),
        ({"budget": {"wall_seconds": "0s"}}, "budget.wall_seconds: must be greater than 0"),
        ({"batch": 0}, "batch: must be greater than or equal to 1"),
        ({"cutoff_factor": 0}, "cutoff_factor: must be greater than 0"),
        ({"limits": {"memory": 4}}, "limits.memory: must be at least 1MiB, not '4': .* in bytes"),
        ({"limits": {"memory": "4 floppies"}}, "limits.memory: '4 floppies' has an unknown unit"),
    ],
)
def test_bad_jobs_are_told_field_and_remedy(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        load_job(small(**change))
    assert "\n" not in str(caught.value)


def test_a_machine_by_its_id_is_checked_when_it_is_known() -> None:
    spec = load_job(small(machine={"id": "0k3v9m2x7q1zt8ac"}))
    with pytest.raises(InvalidInput, match=r"machine\.id"):
        build_space(spec, 16)
    placed = load_job(spec.canonical() | {"machine": SMALL["machine"]})
    assert build_space(placed, 16).space.size == 2


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
        "not connected (15 or 17 can be had)"
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
        ({"family": "chvatal"}, r"search.topology: chvatal: .* 12 nodes, not 16 \(12 can be had\)"),
    ],
)
def test_wrong_parameters_of_families(choice: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load_job(small(search__topology=[choice, "random"]))


def test_all_mistakes_are_told_at_once() -> None:
    wrong = small(
        typo=1,
        machine__nodes="few",
        search__mpi=["lam", "mpich", "mpich"],
        search__collectives={"alltoall": ["brock"], "alltol": "all"},
        budget__trials=0,
    )
    with pytest.raises(InvalidDocument) as caught:
        load_job(wrong)
    told = [(error.field, error.message.partition(";")[0]) for error in caught.value.errors]
    assert sorted(told) == [
        ("budget.trials", "must be greater than 0, not 0"),
        ("machine.nodes", "must be a valid integer, not 'few'"),
        ("search.collectives.alltoall", "unknown algorithm 'brock'"),
        ("search.collectives.alltol", "unknown collective"),
        ("search.mpi", "'mpich' is listed twice"),
        ("search.mpi", "unknown mpi 'lam'"),
        ("typo", "unknown field"),
    ]
    assert str(caught.value).count("\n") == len(told) - 1


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


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"techniques": ["PureRandom"]}, "needs the technique Surrogate"),
        ({"search__mapping": ["by-order", "permutation"]}, "says little of permutations"),
        ({"cutoff_factor": 1.0}, "cutoff_factor is not above 1"),
    ],
)
def test_until_needs_a_model_that_can_tell_it(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidInput, match=rf"budget\.until: .*{complaint}"):
        load_job(small(budget={"until": "2%"}, **change))


def test_until_is_told_by_a_technique_that_there_is() -> None:
    assert load_job(small(budget={"until": "2%"}, techniques=[MODEL])).budget.until == 0.02
    assert MODEL in TECHNIQUES


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
