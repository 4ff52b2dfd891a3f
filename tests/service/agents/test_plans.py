"""What finalists come to on a cluster, and what is no fault of theirs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from searchspace.errors import HamtuneError
from service.agents import endpoints, plans
from service.agents.schemas import Wish
from storage.errors import ArtifactMissing, Conflict
from storage.measured_records import Measuring
from storage.view import StorageView

WISH = Wish(agent="a", cluster="c", library="openmpi")
MEASURING = cast(
    "Measuring", SimpleNamespace(job_id="j", settings={"target": "openmpi-4.1", "measure": 2})
)


class Runs:
    """Two jobs with one entered configuration each."""

    def __init__(self) -> None:
        self.settled: list[str] = []
        self.claimed: list[str] = []

    def configurations(self, _job_id: str, _purpose: str) -> list[Any]:
        return [SimpleNamespace(state="entered", trial=1, place=1, plan=None, label="trial 1")]

    def settle_entered(self, _job_id: str, found: dict[int, tuple[str, dict[str, Any]]]) -> None:
        self.settled += [state for state, _ in found.values()]

    def measurable_jobs(self, *_: object) -> list[str]:
        return ["first", "second"]

    def measuring(self, job_id: str) -> Measuring:
        return cast("Measuring", SimpleNamespace(**{**vars(MEASURING), "job_id": job_id}))

    def claim(self, job_id: str, *_: object) -> None:
        self.claimed.append(job_id)


@pytest.fixture
def storage() -> Any:
    return SimpleNamespace(measured_runs=Runs())


@pytest.mark.parametrize("error", [HamtuneError("no simulator"), ArtifactMissing("no trace")])
def test_a_host_at_fault_makes_no_configuration_infeasible(
    storage: Any, monkeypatch: pytest.MonkeyPatch, error: HamtuneError
) -> None:
    def broken(_: StorageView, job_id: str, *_more: object) -> dict[str, Any]:
        if job_id == "second":
            return {"ranks": 4}
        raise error

    monkeypatch.setattr(plans, "plan_of", broken)
    assert endpoints._next(storage, WISH) is None
    assert storage.measured_runs.settled == ["open"]
    assert storage.measured_runs.claimed == ["second"]


def test_what_a_library_cannot_be_told_is_infeasible(
    storage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> dict[str, Any]:
        raise Conflict("cannot express")

    monkeypatch.setattr(plans, "plan_of", refused)
    plans.settle(storage, MEASURING)
    assert storage.measured_runs.settled == ["infeasible"]
