"""Job files: what they may say, and what they are told when they say something else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from searchspace.errors import InvalidDocument, InvalidInput
from searchspace.job import build_space, load_job, load_new_job
from searchspace.jobspec import MODEL, JobSpec
from tests.searchspace.job_files import FROM_THE_MANUAL, SMALL, small
from tuner.techniques import TECHNIQUES


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
        ({"cutoff": "adaptive", "cutoff_factor": None}, "cutoff: is adaptive, and without a cut"),
        ({"completed_share": "30%"}, "completed_share: counts only with cutoff: adaptive"),
        ({"cutoff": "adaptive", "completed_share": 0}, "completed_share: '0' is not a part above"),
        ({"limits": {"memory": 4}}, "limits.memory: must be at least 4MiB, not '4': .* in bytes"),
        ({"limits": {"memory": "4 floppies"}}, "limits.memory: '4 floppies' has an unknown unit"),
    ],
)
def test_bad_jobs_are_told_field_and_remedy(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        load_job(small(**change))
    assert "\n" not in str(caught.value)


def test_a_stored_job_may_have_less_memory_than_a_new_one() -> None:
    job = small(limits={"memory": "1MiB"})
    assert load_job(job).limits.memory == 1 << 20
    with pytest.raises(InvalidInput, match=r"limits\.memory: must be at least 4MiB, not '1048576'"):
        load_new_job(job)


def test_a_machine_by_its_id_is_checked_when_it_is_known() -> None:
    spec = load_job(small(machine={"id": "0k3v9m2x7q1zt8ac"}))
    with pytest.raises(InvalidInput, match=r"machine\.id"):
        build_space(spec, 16)
    placed = load_job(spec.canonical() | {"machine": SMALL["machine"]})
    assert build_space(placed, 16).space.size == 2


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
