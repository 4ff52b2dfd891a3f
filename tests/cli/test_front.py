"""A job with two objectives and limits, from its file to its front, by the command line alone."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searchspace.configuration import Configuration
from searchspace.front import hypervolume, pareto_front
from searchspace.job import build_space, load_new_job
from tests.cli.conftest import Hamtune, tiny_job

MOST = 10_000
JOB: dict[str, Any] = {
    **tiny_job(),
    "name": "fair",
    "application": {"builtin": "is", "class": "S", "ranks": 8},
    "search": {
        "topology": [
            {"family": "random", "degree": [2, 3, 4, 5], "instances": 3},
            "ring",
            "torus-3d",
            {"family": "fat-tree", "ports": 4, "levels": 2},
        ],
        "ordering": ["original", "hamorder"],
        "collectives": {"alltoall": "all"},
    },
    "objective": ["time", "cost"],
    "constraints": {"cost": f"<= {MOST:,}", "diameter": 3},
    "budget": {"trials": 24},
    "cutoff_factor": 1.05,
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Hamtune:
    return Hamtune(tmp_path_factory.mktemp("fair"))


@pytest.fixture(scope="module")
def finished(ran: Hamtune) -> dict[str, Any]:
    return dict(ran.json("run", ran.job_file(JOB)))


@pytest.fixture(scope="module")
def trials(ran: Hamtune, finished: dict[str, Any]) -> list[dict[str, Any]]:
    """All trials with what their networks cost."""
    bills = build_space(load_new_job(JOB), 8).bills
    assert bills is not None
    found = ran.trials(finished["job"]["id"])
    for trial in found:
        trial["bill"] = bills.of(Configuration.from_json(trial["configuration"]))
    return found


def test_the_check_says_what_is_left_out(ran: Hamtune) -> None:
    said = ran("check", ran.job_file(JOB), "--no-evaluation").stdout
    assert "objective     time and cost\n" in said
    assert "constraints   cost <= 10,000, diameter <= 3: nothing that breaks one is sim" in said
    assert "left out: topology = ring: has a diameter of 4, more than the 3 of" in said
    assert "left out: topology = fat-tree: costs " in said
    assert "combinations cannot be run" not in said


def test_nothing_that_breaks_a_limit_is_simulated(trials: list[dict[str, Any]]) -> None:
    assert len(trials) >= 24
    for trial in trials:
        assert trial["state"] in ("completed", "censored")
        assert trial["bill"].cost <= MOST
        assert trial["bill"].diameter <= 3


def test_the_front_is_that_of_all_trials(
    ran: Hamtune, finished: dict[str, Any], trials: list[dict[str, Any]]
) -> None:
    completed = [t for t in trials if t["state"] == "completed" and _inside(t)]
    places = [(t["bill"].cost, t["value"]) for t in completed]
    expected = [completed[index]["number"] for index in pareto_front(places)]
    front = ran.json("front", "fair")
    assert [one["trial"] for one in front["points"]] == expected
    assert len(expected) >= 2
    assert front["by"] == "cost"
    assert expected[-1] == finished["best"]["trial"]
    wide = ran.json("front", "fair", "--reference", "1ms,20000")
    assert wide["hypervolume"] == pytest.approx(hypervolume(places, (20_000, 1e-3)))
    said = ran("front", "fair").stdout
    assert f"{len(expected)} of " in said
    assert front["points"][0]["network"] in said


def test_the_front_of_time_and_energy(ran: Hamtune, finished: dict[str, Any]) -> None:
    assert finished["best"]["trial"]
    by = ran.json("front", "fair", "--by", "energy")
    assert by["by"] == "energy"
    assert by["points"][-1]["trial"] == finished["best"]["trial"]
    said = ran("front", "fair", "--by", "energy").stdout
    assert "joules" in said
    assert "s x J up to" in said
    job = {**JOB, "name": "frugal", "objective": ["time", "energy"]}
    assert "objective     time and energy\n" in (
        ran("check", ran.job_file(job), "--no-evaluation").stdout
    )
    ran.json("run", ran.job_file(job))
    found = ran.json("front", "frugal")
    assert found["by"] == "energy"
    energies = [one["energy"] for one in found["points"]]
    assert energies == sorted(energies)
    assert all(one["energy"] > 0 for one in (*found["points"], *found["others"]))


def _inside(trial: dict[str, Any]) -> bool:
    return trial["configuration"]["topology"] in ("random", "torus-3d")


def test_what_is_cheaper_may_be_slower(trials: list[dict[str, Any]]) -> None:
    """A trial is stopped by what costs no more, not by the fastest of all."""
    best = min(t["value"] for t in trials if t["state"] == "completed" and _inside(t))
    limits = [t["cutoff"] for t in trials if t["cutoff"] is not None]
    assert max(limits) > 1.05 * best
    for trial in trials:
        rivals = [
            other["value"]
            for other in trials
            if other["state"] == "completed"
            and other["number"] < trial["number"]
            and other["bill"].cost <= trial["bill"].cost
            and _inside(other)
        ]
        if trial["cutoff"] is not None:
            assert trial["cutoff"] >= 1.05 * min(rivals) * (1 - 1e-12)


def test_the_same_job_has_the_same_trials_with_another_number_of_workers(
    ran: Hamtune, finished: dict[str, Any], another: Callable[[], Hamtune]
) -> None:
    elsewhere = another()
    elsewhere.environment["HAMTUNE_CONCURRENCY"] = "1"
    again = elsewhere.json("run", elsewhere.job_file(JOB))
    assert elsewhere.trials(again["job"]["id"]) == ran.trials(finished["job"]["id"])


def test_any_trial_of_the_front_is_exported_with_the_cables_that_it_was_priced_by(
    ran: Hamtune, finished: dict[str, Any], tmp_path: Path
) -> None:
    for point in ran.json("front", "fair")["points"]:
        folder = tmp_path / str(point["trial"])
        number = str(point["trial"])
        done = ran("export", "fair", "--trial", number, "--format", "cabling", "-o", folder)
        assert done.returncode == 0, done.stderr
        with (folder / "cabling.csv").open(newline="") as text:
            rows = list(csv.DictReader(text))
        assert len(rows) == point["cables"]
        assert sum(float(row["length"]) for row in rows) == pytest.approx(point["metres"])


def test_the_front_is_drawn(ran: Hamtune, finished: dict[str, Any], tmp_path: Path) -> None:
    for name in ("front.svg", "front.png"):
        assert ran("front", "fair", "--picture", tmp_path / name).returncode == 0
        assert (tmp_path / name).stat().st_size > 1000
    assert "cost of the network" in (tmp_path / "front.svg").read_text()
    for arguments, complaint in (
        (("--picture", "front.pdf"), "pictures are .svg or .png files"),
        (("--reference", "soon"), "--reference must be a time and a price"),
        (("--by", "beauty"), "'beauty' is not one of"),
    ):
        assert complaint in ran.refused("front", "fair", *arguments)
