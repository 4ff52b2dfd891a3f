"""What a job file says of scripts that propose or measure, and what makes no sense beside it."""

from typing import Any

import pytest

from searchspace.errors import InvalidInput
from searchspace.job import load_job

JOB: dict[str, Any] = {
    "name": "cg",
    "application": {"builtin": "cg", "class": "S", "ranks": 4},
    "machine": {"nodes": 4, "degree": 2, "host_speed": "100Gf", "link_bandwidth": "40Gbps"},
    "search": {"topology": ["random", "torus-2d"]},
    "budget": {"trials": 10},
}


def test_without_a_script_nothing_changes() -> None:
    spec = load_job(JOB)
    assert (spec.external, spec.batch, spec.cutoff_factor, spec.fidelity) == (None, 8, 1.3, None)


def test_a_script_that_proposes_is_told_whole_values() -> None:
    spec = load_job({**JOB, "external": "proposals"})
    assert (spec.batch, spec.cutoff_factor, spec.fidelity) == (8, None, "full")
    assert load_job({**JOB, "external": "proposals", "cutoff_factor": 2}).cutoff_factor == 2


def test_a_script_that_measures_has_one_trial_at_a_time_unless_it_says() -> None:
    spec = load_job({**JOB, "external": "measurements"})
    assert (spec.batch, spec.cutoff_factor, spec.fidelity) == (1, 1.3, "full")
    assert load_job({**JOB, "external": "measurements", "batch": 4}).batch == 4


@pytest.mark.parametrize("external", ["proposals", "measurements"])
def test_the_canonical_form_reads_back_the_same(external: str) -> None:
    spec = load_job({**JOB, "external": external})
    assert load_job(spec.canonical()) == spec


@pytest.mark.parametrize(
    ("external", "changes", "message"),
    [
        ("proposals", {"techniques": ["PureRandom"]}, "techniques: a script proposes all"),
        ("proposals", {"budget": {"until": "1%"}}, "budget.until: needs the model of our search"),
        ("proposals", {"fidelity": "auto"}, "fidelity: a script is told whole times"),
        ("proposals", {"refinement": 5}, "refinement: is no part of a job with external"),
        ("measurements", {"refinement": 5}, "refinement: is no part of a job with external"),
        ("measurements", {"budget": {"cpu_seconds": 9}}, "budget.cpu_seconds: nothing is simulat"),
        ("measurements", {"concurrency": 2}, "concurrency: workers evaluate nothing; batch says"),
        ("measurements", {"limits": {"wall_seconds": 5}}, "limits: are those of the simulator"),
        ("measurements", {"fidelity": "auto"}, "fidelity: a script is told whole times"),
        ("both", {}, "unknown value 'both'; allowed: proposals, measurements"),
    ],
)
def test_what_makes_no_sense_with_scripts_is_refused(
    external: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        load_job({**JOB, "external": external, **changes})


def test_a_script_that_proposes_learns_from_no_job() -> None:
    with pytest.raises(InvalidInput, match="no model learns"):
        load_job({**JOB, "external": "proposals", "learn_from": "auto"})
    assert load_job({**JOB, "external": "measurements", "learn_from": "auto"})


def test_two_objectives_of_a_script_have_no_bound() -> None:
    document = {**JOB, "external": "proposals", "objective": ["time", "cost"]}
    assert load_job(document).cutoff_factor is None
    with pytest.raises(InvalidInput, match="has no bound with two objectives"):
        load_job({**document, "cutoff_factor": 1.3})


def test_finalists_are_measured_already() -> None:
    given = {
        "machine": {**JOB["machine"], "topology": {"edges": [[0, 1], [1, 2], [2, 3], [3, 0]]}},
        "search": {"ordering": ["original", "hamorder"]},
        "finalists": {"measure": 2, "on": "agent"},
    }
    with pytest.raises(InvalidInput, match="finalists"):
        load_job({**JOB, **given, "external": "measurements"})
