"""A new job like another, with changes, from the command line."""

from __future__ import annotations

from typing import Any

import click
import pytest

from cli.client import connect
from cli.clone import changes_of
from service.settings import Settings
from tests.cli.conftest import Hamtune, tiny_job


@pytest.fixture
def original(hamtune: Hamtune) -> dict[str, Any]:
    """A job that waits for somebody to run it."""
    with connect(None, Settings.under(hamtune.data)) as client:
        return client.create_job(tiny_job())


def test_a_clone_has_the_same_file_and_a_name_of_its_own(
    hamtune: Hamtune, original: dict[str, Any]
) -> None:
    first = hamtune("clone", "tiny")
    assert "nothing runs over" in first.stderr
    clone = hamtune.json("show", first.stdout.strip())
    assert clone["name"] == "tiny-2"
    assert {**clone["spec"], "name": "tiny"} == original["spec"]
    assert hamtune.json("clone", "tiny")["name"] == "tiny-3"


def test_fields_are_changed_by_their_paths(hamtune: Hamtune, original: dict[str, Any]) -> None:
    changed = hamtune.json(
        "clone",
        original["id"],
        "--name=longer",
        "--set=budget.trials=400",
        "--set=search.topology=[{family: random, instances: 2}, torus-3d]",
        "--set=search.collectives.allgather=all",
        "--set=cutoff_factor=null",
    )

    assert changed["name"] == "longer"
    assert changed["spec"]["budget"]["trials"] == 400
    assert changed["spec"]["search"]["topology"][1] == "torus-3d"
    assert set(changed["spec"]["search"]["collectives"]) == {"allreduce", "bcast", "allgather"}
    assert changed["spec"]["cutoff_factor"] == 1.3


@pytest.mark.parametrize(
    ("assignment", "complaint"),
    [
        ("budget.trails=400", "budget.trails: unknown field"),
        ("budget.trials=many", "budget.trials: "),
        ("search.ordering=[hamordr]", "did you mean 'hamorder'?"),
        ("seed", "--set seed: write KEY=VALUE, such as budget.trials=400"),
        (".seed=1", "write KEY=VALUE"),
        ("seed=[1", "--set seed=[1: line 1, column 3"),
    ],
)
def test_a_wrong_change_is_told_and_creates_nothing(
    hamtune: Hamtune, original: dict[str, Any], assignment: str, complaint: str
) -> None:
    assert complaint in hamtune.refused("clone", "tiny", "--set", assignment)
    assert [job["id"] for job in hamtune.json("jobs")] == [original["id"]]


def test_assignments_are_applied_one_after_the_other() -> None:
    assert changes_of(["budget={trials: 4}", "budget.patience=3", "budget.trials=5"]) == {
        "budget": {"trials": 5, "patience": 3}
    }
    assert changes_of(["seed.deep=1", "seed=2"]) == {"seed": 2}
    assert changes_of(["application.run=./solver a=b"]) == {"application": {"run": "./solver a=b"}}
    assert changes_of(["finalists={on: agent}"]) == {"finalists": {"on": "agent"}}
    with pytest.raises(click.UsageError):
        changes_of(["=1"])
