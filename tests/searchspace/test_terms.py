"""Objectives and constraints of jobs, and what they leave of a space."""

from __future__ import annotations

import json
from typing import Any

import pytest

from searchspace.bills import Bills
from searchspace.configuration import Value
from searchspace.errors import InvalidDocument, InvalidInput
from searchspace.job import JobSpec, build_space, load_job, load_new_job, with_parts
from searchspace.jobspace import BuiltSpace
from searchspace.parts import Parts
from searchspace.schema import schema
from searchspace.terms import Constraints, Terms
from searchspace.validation import check

JOB: dict[str, Any] = {
    "name": "fair",
    "application": {"builtin": "is", "class": "S", "ranks": 16},
    "machine": {"nodes": 16, "host_speed": "100Gf", "link_bandwidth": "40Gbps"},
    "search": {
        "topology": [{"family": "random", "degree": [3, 4]}, "torus-3d", "torus-2d", "fat-tree"],
        "mpi": ["mpich", "ompi"],
    },
    "budget": {"trials": 20},
}


PARTS = {"switches": [{"radix": 3, "price": 1}]}


def job(**changes: Any) -> JobSpec:
    return load_new_job({**JOB, **changes})


def space(**changes: Any) -> BuiltSpace:
    return build_space(job(**changes), 16)


def families(built: BuiltSpace) -> tuple[object, ...]:
    return tuple(built.space.parameters[0].every())


def left_out(built: BuiltSpace) -> dict[str, str]:
    return {f"{one['parameter']}: {one['value']}": one["reason"] for one in built.excluded}


def test_time_alone_counts_unless_something_else_is_said() -> None:
    spec = job()
    assert spec.objective == ["time"]
    assert spec.terms is None
    assert spec.described_machine.parts is None
    assert build_space(spec, 16).bills is None


def test_objectives_and_limits_are_read() -> None:
    spec = job(objective=["time", "power"], constraints={"cost": "<= 90,000.5", "diameter": 4})
    assert spec.terms == Terms(Parts(), "power", {"cost": 90_000.5, "diameter": 4.0})
    # What the parts are today stands in the job, whatever the defaults become.
    assert spec.canonical()["machine"]["parts"]["switches"][0]["radix"] == 4
    again = load_job(json.loads(json.dumps(spec.canonical())))
    assert again == spec
    assert Terms.from_json(json.loads(json.dumps(spec.terms.to_json()))) == spec.terms


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"objective": "cost"}, "objective"),
        ({"objective": ["cost", "time"]}, "objective"),
        ({"objective": ["time", "cost", "power"]}, "objective"),
        ({"objective": "energy"}, "objective"),
        ({"constraints": {"energy": 5}}, "constraints.energy"),
        ({"objective": ["time", "beauty"]}, "objective"),
        ({"constraints": {"cost": ">= 5"}}, "constraints.cost"),
        ({"constraints": {"cost": "cheap"}}, "constraints.cost"),
        ({"constraints": {"cost": -1}}, "constraints.cost"),
        ({"constraints": {"cost": "<= 1,5"}}, "constraints.cost"),
        ({"constraints": {"cost": "1,2,3"}}, "constraints.cost"),
        ({"constraints": {"cost": "1_000,000"}}, "constraints.cost"),
        ({"constraints": {"cost": "<= \u0665\u0665"}}, "constraints.cost"),
        ({"constraints": {"weight": 1}}, "constraints.weight"),
        ({"objective": ["time", "cost"], "techniques": ["PureRandom"]}, "techniques"),
        ({"objective": ["time", "cost"], "fidelity": "auto"}, "fidelity"),
        (
            {"objective": ["time", "cost"], "budget": {"trials": 9, "until": "1%"}},
            "budget.until",
        ),
        (
            {
                "objective": ["time", "cost"],
                "search": {**JOB["search"], "mapping": ["permutation", "by-order"]},
            },
            "search.mapping",
        ),
    ],
)
def test_terms_that_cannot_be(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        job(**changes)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("<= 1,234,567.5", 1_234_567.5),
        ("90_000", 9e4),
        ("<=9e4", 9e4),
        (" .5", 0.5),
        ("1234", 1234),
    ],
)
def test_limits_as_they_are_written(text: str, limit: float) -> None:
    assert check(Constraints, {"cost": text}).cost == limit


def test_no_outlook_is_given_where_time_is_weighed_against_something() -> None:
    """A gain in time alone says nothing of a front."""
    assert job().without_model is None
    assert job(constraints={"diameter": 4}).without_model is None
    without = job(objective=["time", "cost"]).without_model
    assert without is not None
    assert "front of two objectives" in without[0]


def test_a_job_says_what_parts_cost_where_its_machine_does_not() -> None:
    """As where a stored machine took the place of a reference."""
    spec = load_job({**JOB, "constraints": {"cost": 1e9}})
    assert spec.described_machine.parts is None
    assert with_parts(spec).described_machine.parts == Parts()
    assert with_parts(spec).canonical()["machine"]["parts"]["switches"][0]["radix"] == 4
    assert with_parts(load_job(JOB)) == load_job(JOB)
    own = job(machine={**JOB["machine"], "parts": PARTS}, constraints={"cost": 1e9})
    assert with_parts(own) is own


def test_several_mistakes_are_told_at_once() -> None:
    with pytest.raises(InvalidDocument, match=r"techniques.*\n.*fidelity"):
        job(objective=["time", "cost"], techniques=["PureRandom"], fidelity="auto")


def test_the_objective_of_several_applications_keeps_its_place() -> None:
    several = {name: value for name, value in JOB.items() if name != "application"}
    several["applications"] = [{"name": "a", "application": JOB["application"]}]
    assert load_new_job({**several, "objective": "mean"}).application.objective == "mean"  # type: ignore[union-attr]
    assert load_new_job({**several, "objective": "mean"}).objective == ["time"]
    spec = load_new_job({**several, "objective": ["time", "cost"]})
    assert (spec.application.objective, spec.objective) == ("max", ["time", "cost"])  # type: ignore[union-attr]


def test_networks_that_are_too_dear_are_left_out_with_the_reason() -> None:
    built = space(constraints={"cost": "<= 19,000", "diameter": 3})
    everything = space()
    assert families(everything) == ("random", "torus-3d", "torus-2d", "fat-tree")
    assert families(built) == ("random",)
    told = left_out(built)
    assert told["topology: fat-tree"].endswith("more than the 19,000 of constraints.cost")
    assert told["topology: torus-3d"] == (
        "has a diameter of 4, more than the 3 of constraints.diameter"
    )
    assert "baselines: torus-3d" in told
    assert [label for label, _ in built.baselines if "random" not in label] == []
    assert len(built.baselines) < len(everything.baselines)
    for point in built.space.enumerate():
        assert built.bills is not None
        bill = built.bills.of(point)
        assert bill is not None
        allowed = bill.cost <= 19_000 and bill.diameter <= 3
        assert (built.space.infeasible(point) is None) == allowed


def test_a_parameter_of_a_family_that_is_always_too_dear_loses_its_value() -> None:
    built = space(constraints={"cables": 30})
    (degree,) = (p for p in built.space.parameters if p.name == "random.degree")
    assert tuple(degree.every()) == (3,)
    assert "topology: random (degree = 4)" in left_out(built)


def test_a_job_without_a_network_within_its_limits_is_refused_with_every_reason() -> None:
    with pytest.raises(InvalidInput, match=r"no network .* random has 24 cables, .*; torus") as no:
        job(constraints={"cables": 3})
    assert no.value.field == "constraints"


def test_a_switch_that_is_not_sold_leaves_a_family_out() -> None:
    machine = {**JOB["machine"], "parts": PARTS}
    built = space(machine=machine, constraints={"cost": 1e9})
    assert families(built) == ("random",)
    assert "needs 4 ports, and the largest has 3" in left_out(built)["topology: torus-2d"]


def test_a_family_with_fewer_instances_has_the_seeds_of_the_others() -> None:
    """`topology_seed` is one parameter: as many seeds as the family with most instances wants."""
    few = {"family": "random", "degree": 3}
    many = {"family": "jellyfish", "degree": 3, "hosts_per_switch": 2, "instances": 8}
    document = {**JOB["machine"], "parts": {"floor": {"rack_nodes": 2}}}
    machine = job(machine=document).described_machine
    parts = machine.parts
    assert parts is not None
    networks: list[dict[str, Value]] = [
        {"topology": "random", "random.degree": 3, "topology_seed": s} for s in range(8)
    ]
    bills = [Bills(machine, parts).of(network) for network in networks]
    costs = [bill.cost for bill in bills if bill is not None]
    assert min(costs) < costs[0]
    search = {"topology": [few, many, "torus-2d"]}
    limits = {"cost": min(costs)}
    built = build_space(job(machine=document, search=search, constraints=limits), 16)
    assert "random" in families(built)
    affordable = [p for p in built.space.enumerate() if built.space.infeasible(p) is None]
    assert any(point["topology"] == "random" for point in affordable)


def test_baselines_of_large_machines_are_not_built_whenever_a_space_is() -> None:
    """Else a request would wait for seconds: the coordinator looks at them when it asks them."""
    large = {**JOB["machine"], "nodes": 4096}
    search = {"topology": ["torus-3d"], "mpi": ["mpich", "ompi"]}
    built = build_space(job(machine=large, search=search, constraints={"diameter": 30}), 16)
    labels = [label for label, _ in built.baselines]
    assert labels[:4] == ["mesh-2d", "mesh-3d", "torus-2d", "torus-3d"]
    assert built.excluded == []


def test_where_one_configuration_is_left_there_is_nothing_to_tune() -> None:
    with pytest.raises(InvalidInput, match="has one value beside 4 that are left out"):
        job(constraints={"cables": 30}, search={"topology": JOB["search"]["topology"]})


def test_large_spaces_are_looked_at_when_the_search_comes_upon_them() -> None:
    many = {"topology": [{"family": "random", "degree": 4, "instances": 5000}]}
    built = build_space(job(search=many, constraints={"diameter": 3}), 16)
    assert built.excluded[0]["parameter"] == "baselines"
    bills = built.bills
    assert bills is not None
    for point, _ in zip(built.space.enumerate(), range(20), strict=False):
        bill = bills.of(point)
        assert bill is not None
        assert (built.space.infeasible(point) is None) == (bill.diameter <= 3)


def test_every_family_may_have_a_degree_of_its_own() -> None:
    machine = {**JOB["machine"], "nodes": 20, "degree": 3}
    items = [
        "torus-2d",
        {"family": "dragonfly", "degree": 4},
        {"family": "random", "degree": [3, 5]},
    ]
    built = build_space(job(machine=machine, search={"topology": items}), 16)
    assert families(built) == ("torus-2d", "dragonfly", "random")
    with pytest.raises(InvalidInput, match=r"degree of its own: \{family: dragonfly, degree: N\}"):
        job(machine=machine, search={"topology": ["torus-2d", "dragonfly"]})
    with pytest.raises(InvalidInput, match="unknown field of torus-2d"):
        job(search={"topology": [{"family": "torus-2d", "degree": 4}]})


def test_the_schema_knows_the_terms() -> None:
    found = schema("job")
    assert {"cost", "power", "switches", "cables", "diameter"} == set(
        found["$defs"]["Constraints"]["properties"]
    )
    assert "cost" in json.dumps(found["properties"]["objective"])
    assert "weighted" in json.dumps(found["properties"]["objective"])
    assert "Parts" in found["$defs"]


def test_a_long_limit_is_read_in_one_pass() -> None:
    with pytest.raises(InvalidInput, match="a text like"):
        check(Constraints, {"cost": "1" * 300_000 + "!"})
    assert check(Constraints, {"cost": ".5", "power": "<= 1.5e+3"}).given == {
        "cost": 0.5,
        "power": 1500.0,
    }
