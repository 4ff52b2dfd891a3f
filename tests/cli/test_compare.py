"""Jobs and trials side by side, and one trial by itself, from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli.comparison import best_after
from tests.cli.conftest import Hamtune, tiny_job


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Hamtune:
    return Hamtune(tmp_path_factory.mktemp("compared"))


@pytest.fixture(scope="module")
def first(ran: Hamtune) -> dict[str, Any]:
    return dict(ran.json("run", ran.job_file(tiny_job())))


@pytest.fixture(scope="module")
def second(ran: Hamtune) -> dict[str, Any]:
    job = tiny_job() | {"name": "other", "seed": 8, "budget": {"trials": 20}}
    job["search"]["ordering"] = ["original"]
    return dict(ran.json("run", ran.job_file(job)))


@pytest.fixture(scope="module")
def limited(ran: Hamtune) -> str:
    """A job whose limit ends every evaluation; its id."""
    job = tiny_job() | {"name": "limited", "limits": {"wall_seconds": 1e-6}}
    # No cache answers it, and no evaluation of it is done before its limit is looked at.
    job["application"] = {"builtin": "lu", "class": "A", "ranks": 4}
    assert ran("run", ran.job_file(job)).returncode == 1
    return str(ran.json("jobs", "--name", "limited")[0]["id"])


def test_jobs_are_compared_by_what_differs(
    ran: Hamtune, first: dict[str, Any], second: dict[str, Any]
) -> None:
    answer = ran.json("compare", "tiny", "other")

    assert answer["job_file"] == {
        "search.ordering": [["original", "hamorder"], ["original"]],
        "budget.trials": [12, 20],
        "seed": [7, 8],
    }
    assert [job["value"] for job in answer["jobs"]] == [
        first["best"]["value"],
        second["best"]["value"],
    ]
    least = min(job["value"] for job in answer["jobs"])
    assert [job["ratio"] for job in answer["jobs"]] == [
        job["value"] / least for job in answer["jobs"]
    ]
    assert answer["jobs"][0]["baselines"] == first["best"]["baselines"]
    assert answer["jobs"][0]["after"]["25"] is None
    assert answer["jobs"][1]["after"]["10"] >= answer["jobs"][1]["value"]
    assert answer["notes"] == []


def test_the_table_has_a_column_for_each_job(
    ran: Hamtune, first: dict[str, Any], second: dict[str, Any], tmp_path: Path
) -> None:
    picture = tmp_path / "both.svg"
    said = ran("compare", "tiny", second["job"]["id"], "--picture", picture).stdout

    lines = said.splitlines()
    assert lines[0].split() == ["tiny", "other"]
    assert any(line.startswith("times the fastest") for line in lines)
    assert ["seed", "7", "8"] in [line.split() for line in lines]
    (spent,) = (line.split() for line in lines if line.startswith("CPU time"))
    assert {spent[3], spent[5]} <= {"ms", "s"}
    assert lines[-1] == str(picture)
    assert "<svg" in picture.read_text()
    same = ran("compare", "tiny", "tiny").stdout.splitlines()
    assert same[0].split() == [first["job"]["id"]] * 2


def test_machines_that_differ_are_told_with_units_and_names(
    ran: Hamtune, first: dict[str, Any]
) -> None:
    machine = tiny_job()["machine"] | {"network": "packets", "protocol": "verbs"}
    job = tiny_job() | {"name": "verbs", "machine": machine | {"link_bandwidth": "100Gbps"}}
    ran.json("run", ran.job_file(job | {"budget": {"trials": 4, "wall_seconds": 3723.3456}}))

    said = ran("compare", "tiny", "verbs").stdout
    assert ["machine.link_bandwidth", "40", "Gbps", "100", "Gbps"] in map(
        str.split, said.split("\n")
    )
    assert ["machine.protocol", "-", "verbs"] in map(str.split, said.split("\n"))
    assert ["budget.wall_seconds", "-", "62.06", "min"] in map(str.split, said.split("\n"))
    assert "machine.protocol." not in said
    found = ran.json("compare", "tiny", "verbs")["job_file"]
    assert found["budget.wall_seconds"] == [None, 3723.3456]  # documents keep all digits


def test_names_are_shown_as_they_are_and_never_as_markup(
    ran: Hamtune, first: dict[str, Any]
) -> None:
    name = "[/x] :smile: [red]a"
    hostile = ran.json("clone", "tiny", "--name", name)["id"]

    assert name in ran("jobs").stdout
    assert name in ran("compare", "tiny", hostile).stdout.splitlines()[0]


def test_other_programs_are_said_to_be_others(
    ran: Hamtune, first: dict[str, Any], limited: str
) -> None:
    job = tiny_job() | {"name": "is", "application": {"builtin": "is", "class": "S", "ranks": 4}}
    ran.json("run", ran.job_file(job))

    answer = ran.json("compare", "tiny", "is", limited)
    assert answer["notes"] == [
        "they do not tune the same application: their times are those of two programs"
    ]
    assert answer["jobs"][2]["value"] is None
    assert [job["ratio"] for job in answer["jobs"]] == [None] * 3
    said = ran("compare", "tiny", "is").stdout
    assert "times the fastest" not in said
    assert answer["notes"][0] in said
    refused = ran.refused("compare", "tiny", limited, "--picture", "no.png", status=1)
    assert "no completed trial" in refused


def test_two_trials_are_compared(ran: Hamtune, first: dict[str, Any]) -> None:
    one = first["best"]
    other = next(
        trial
        for trial in ran.trials(first["job"]["id"])
        if trial["state"] == "completed" and trial["value"] > one["value"]
    )
    pair = f"{one['trial']},{other['number']}"
    answer = ran.json("compare", "tiny", "--trials", pair)

    assert answer["trials"] == [one["trial"], other["number"]]
    assert answer["configuration"]
    assert answer["measured"]["simulated time"] == [one["value"], other["value"]]
    slower, faster = other["number"], one["trial"]
    assert answer["reasons"][0].startswith(f"trial {slower} takes ")
    assert answer["reasons"][0].endswith(f" times as long as trial {faster}")
    said = ran("compare", "tiny", "--trials", pair).stdout
    assert said.splitlines()[0].split() == ["trial", str(faster), "trial", str(slower)]
    assert "busiest cable, one way" in said
    assert "their configurations are the same" in ran("compare", "tiny", "--trials", "1,1").stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["tiny"], "name two jobs or more"),
        (["tiny", "--trials", "3"], "write two numbers, such as 3,17"),
        (["tiny", "tiny", "--trials", "1,2"], "two trials of one job"),
        (["tiny", "tiny", "--picture", "both.pdf"], ".png or .svg"),
    ],
)
def test_wrong_use_is_told(ran: Hamtune, arguments: list[str], complaint: str) -> None:
    assert complaint in ran.refused("compare", *arguments)


def test_a_trial_is_told_with_names_and_words(ran: Hamtune, first: dict[str, Any]) -> None:
    number = first["best"]["trial"]
    said = ran("trial", "tiny", str(number)).stdout

    lines = said.splitlines()
    assert lines[0].startswith(f"trial {number} of tiny ({first['job']['id']}): completed, ")
    assert ["topology", first["best"]["configuration"]["topology"]] in map(str.split, lines)
    assert " is the last" in said
    assert "one way" in said
    assert f"'job={first['job']['id']} trial={first['job']['id']}-{number}'" in said
    assert "  baseline       mesh-2d\n" in ran("trial", "tiny", "1").stdout
    answer = ran.json("trial", "tiny", str(number))
    assert answer["value"] == first["best"]["value"]
    assert answer["placement"]["hosts"] == 8


def test_a_trial_that_failed_names_the_limit_that_ended_it(ran: Hamtune, limited: str) -> None:
    said = ran("trial", limited, "1").stdout

    assert said.splitlines()[0] == f"trial 1 of limited ({limited}): failed"
    assert "  because        limits.wall_seconds (" in said
    assert ") of the job file ended it: stopped after " in said


def test_a_number_that_is_not_there_is_told_with_those_that_are(
    ran: Hamtune, first: dict[str, Any]
) -> None:
    trials = len(ran.trials(first["job"]["id"]))
    for arguments in (["trial", "tiny", "99"], ["compare", "tiny", "--trials", "1,99"]):
        assert ran.refused(*arguments, status=1) == (
            f"hamtune: job tiny ({first['job']['id']}) has trials 1 to {trials}, but no trial 99"
        )


def test_the_best_after_so_many_trials_counts_those_of_the_search() -> None:
    job = {"progress": {"kinds": {"baseline": 2, "search": 25}}}
    points = [
        {"trial": number, "kind": "baseline" if number < 3 else "search", "best": best}
        for number, best in ((1, None), (2, 0.9), (11, 0.8), (13, 0.7), (27, 0.6), (28, 0.5))
    ]

    assert best_after(job, {"points": points}) == {"10": 0.8, "25": 0.6, "50": None, "100": None}


def test_nothing_is_told_of_a_search_that_only_estimates() -> None:
    job = {"progress": {"kinds": {"baseline": 2, "estimate": 2, "search": 40, "verification": 12}}}
    points = [{"trial": 42 + n, "kind": "verification", "best": 0.9 - n / 100} for n in range(12)]

    assert set(best_after(job, {"points": points}).values()) == {None}
