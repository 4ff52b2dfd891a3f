"""Jobs whose best trials are evaluated with the fluid model as well."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from searchspace.configuration import Configuration
from storage.records import Job, Outcome, Trial
from storage.storage import Storage
from tests.tuner.analytic import SPEC, Evaluators, create_job, open_storage, simulated
from tuner.comparing import MOST, Comparison
from tuner.coordinator import Coordinator

AUTO = {**SPEC["machine"], "network": "auto"}


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    opened = open_storage(tmp_path)
    yield opened
    opened.close()


class TwoModels(Evaluators):
    """Evaluators by whose fluid model everything takes three times as long."""

    fluid_seconds: ClassVar[float] = 0.1
    fluid_failure: ClassVar[dict[str, Any] | None] = None

    def outcome(self, trial: Trial) -> Outcome:
        packets = super().outcome(trial)
        if trial.kind != "comparison" or packets.value is None:
            return packets
        if self.fluid_failure is not None:
            return Outcome(status="failed", reason=self.fluid_failure, wall_seconds=9.0)
        return replace(packets, value=3.0 * packets.value, wall_seconds=self.fluid_seconds)


def run(
    storage: Storage,
    *,
    workers: int = 2,
    stop_after: int | None = None,
    evaluators: type[TwoModels] = TwoModels,
    **changes: Any,
) -> Job:
    """A job, run to its end, or stopped and taken up again once."""
    job = create_job(storage, **({"machine": AUTO} | changes))
    for most in (stop_after, None) if stop_after else (None,):
        leased = storage.leases.acquire("test", 600.0, job.id)
        assert leased is not None
        stop = threading.Event()
        begun = threading.Semaphore(most or 0)

        def objective(
            configuration: Any,
            most: int | None = most,
            stop: threading.Event = stop,
            begun: threading.Semaphore = begun,
        ) -> Outcome:
            if most is not None and not begun.acquire(blocking=False):
                stop.set()
            return simulated(configuration)

        with evaluators(storage, workers, objective, delay=0.002) as started:
            Coordinator(storage, started.dispatch, "test", embedded=True).run_job(leased, stop)
    return storage.jobs.get(job.id)


def compared(storage: Storage, job: Job) -> list[Trial]:
    return [t for t in storage.trials.of_job(job.id) if t.kind == "comparison"]


def essence(trials: list[Trial]) -> list[tuple[Any, ...]]:
    return [(t.number, t.kind, t.configuration_sha256, t.cutoff, t.state, t.value) for t in trials]


def test_the_best_configurations_are_evaluated_with_fluid_in_the_end(storage: Storage) -> None:
    job = run(storage)

    assert (job.state, job.ended_because) == ("completed", "trials")
    trials = storage.trials.of_job(job.id)
    inside = [t for t in trials if t.inside and t.state == "completed"]
    ranked = dict.fromkeys(
        t.configuration_sha256 for t in sorted(inside, key=lambda t: (t.value or 0.0, t.number))
    )
    found = compared(storage, job)
    assert trials[-MOST:] == found
    assert [t.configuration_sha256 for t in found] == list(ranked)[:MOST]
    assert {(t.inside, t.fidelity, t.cutoff) for t in found} == {(False, "full", None)}


def test_packets_decide(storage: Storage) -> None:
    class Flattering(TwoModels):
        def outcome(self, trial: Trial) -> Outcome:
            fluid = super().outcome(trial)
            return replace(fluid, value=1e-9) if trial.kind == "comparison" else fluid

    job = run(storage, evaluators=Flattering)
    best = storage.trials.best(job.id)
    assert best is not None
    assert best.value == simulated(best.configuration).value


def test_neither_workers_nor_who_drives_the_job_change_a_trial(storage: Storage) -> None:
    jobs = [run(storage, workers=1), run(storage, workers=3), run(storage, stop_after=20)]
    expected, *others = (essence(storage.trials.of_job(job.id)) for job in jobs)
    assert others == [expected, expected]


@pytest.mark.parametrize("network", ["fluid", "packets"])
def test_one_model_alone_is_not_compared(storage: Storage, network: str) -> None:
    job = run(storage, machine={**SPEC["machine"], "network": network})
    assert job.state == "completed"
    assert not compared(storage, job)


def test_a_large_application_is_not_compared(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tuner.job_space.MOST_RANKS", 15)
    job = run(storage)
    assert job.state == "completed"
    assert not compared(storage, job)


def test_what_was_verified_on_the_whole_trace_is_compared(storage: Storage) -> None:
    job = run(storage, fidelity="auto")
    trials = storage.trials.of_job(job.id)
    whole = {t.configuration_sha256 for t in trials if t.inside and t.fidelity == "full"}
    found = compared(storage, job)
    assert trials[-len(found) :] == found
    assert {t.configuration_sha256 for t in found} <= whole
    assert {t.fidelity for t in found} == {"full"}


def test_no_comparison_is_begun_once_they_have_taken_their_share(storage: Storage) -> None:
    class Slow(TwoModels):
        fluid_seconds: ClassVar[float] = 3.0

    job = run(storage, evaluators=Slow, budget={"trials": 10, "cpu_seconds": 50.0})
    assert len(compared(storage, job)) == 2  # after 6 s of wall time a tenth of 50 s is spent


@pytest.mark.parametrize(
    ("each", "fluid", "begun"), [(0.5, 6.0, 2), (0.5, 11.0, 1), (5.0, 12.0, 2)]
)
def test_without_a_budget_of_seconds_their_share_is_one_of_what_the_search_took(
    storage: Storage, each: float, fluid: float, begun: int
) -> None:
    class Costly(TwoModels):
        fluid_seconds: ClassVar[float] = fluid

        def outcome(self, trial: Trial) -> Outcome:
            return replace(super().outcome(trial), cpu_seconds=each)

    job = run(storage, evaluators=Costly)
    trials = [t for t in storage.trials.of_job(job.id) if t.kind != "comparison"]
    search = sum(t.cpu_seconds or 0.0 for t in trials)
    assert storage.trials.search_seconds(job.id) == search  # about 20 s, and 200 s
    assert len(compared(storage, job)) == begun


def test_one_that_fails_is_the_last(storage: Storage) -> None:
    class Dear(TwoModels):
        fluid_failure: ClassVar[dict[str, Any] | None] = {"kind": "wall", "message": "too long"}

    job = run(storage, evaluators=Dear)
    assert job.state == "completed"
    assert [t.state for t in compared(storage, job)] == ["failed"]


def test_equal_configurations_take_part_once() -> None:
    comparison = Comparison()
    first, second = Configuration({"topology": "ring"}), Configuration({"topology": "line"})
    for number, (value, configuration) in enumerate(((2.0, first), (1.0, second), (0.5, first))):
        comparison.enter(value, number, configuration)
    comparison.begin(60.0)
    assert [comparison.start(), comparison.start()] == [first, second]
    assert comparison.over
