"""Jobs that refine the mapping of the best configuration after the search."""

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from searchspace.collectives import called_collectives
from searchspace.configuration import Configuration
from searchspace.formats.patterns import Pattern, pattern_trace
from searchspace.formats.trace import describe_trace
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.job import build_space, load_job
from searchspace.mapping.metrics import cable_loads, metrics_of
from searchspace.platform import resolve
from storage.messages import PREPARE
from storage.records import Job, Outcome, Trial
from tests.tuner.analytic import Evaluators, estimated, open_storage
from tuner.coordinator import Coordinator

SPEC: dict[str, Any] = {
    "name": "refined",
    "application": {"pattern": "linear", "ranks": 12, "size": "1kB", "count": 3, "rate": 10},
    "machine": {"nodes": 12, "degree": 4, "host_speed": "1Gf", "link_bandwidth": "1Gbps"},
    "search": {"topology": ["ring", "torus-2d"], "mapping": {"mapper": "random", "instances": 9}},
    "budget": {"trials": 6},
    "refinement": 30,
    "batch": 3,
    "seed": 3,
}


class Applications:
    """A stored application, and a simulator that knows its traffic only."""

    def __init__(self, directory: Path) -> None:
        self.storage = open_storage(directory)
        self._spec = load_job(SPEC)
        self._trace = directory / "linear.ht"
        pattern_trace(Pattern.model_validate(SPEC["application"]), self._trace)
        self._traffic = TracesTraffic([self._trace])

    def prepare(self, job_id: str) -> None:
        spec = load_job(self.storage.jobs.get(job_id).spec)
        summary = describe_trace(self._trace)
        application = self.storage.applications.add(
            name="linear",
            kind="pattern",
            key="linear",
            trace_sha256=self.storage.artifacts.put(self._trace),
            ranks=12,
            summary=summary,
        )
        space = build_space(spec, 12, called_collectives(summary)).describe()
        if spec.fidelity == "auto":
            space["fidelity"] = {"trace_sha256": "1" * 64, "share": 0.02, "obstacle": None}
        self.storage.jobs.set_prepared(job_id, application_id=application.id, space=space)

    def simulated(self, configuration: Mapping[str, Any]) -> Outcome:
        """A program that takes as long as its busiest cable and all hops."""
        machine = self._spec.described_machine
        chosen = Configuration.from_json(configuration)
        resolved = resolve(chosen, machine, 12, traffic=self._traffic)
        found = metrics_of(self._traffic(), resolved.where, resolved.places)
        loads = cable_loads(self._traffic(), resolved.where, resolved.places)
        return Outcome(
            status="completed",
            value=1e-3 * (found.congestion + 1e-3 * found.hop_bytes),
            result={"rank_finish_times": [], "link_loads": [[load, load] for load in loads]},
            cpu_seconds=0.5,
        )

    def run(self, workers: int = 2, stop_after: int | None = None, **changes: Any) -> Job:
        """A job, run to its end or stopped and taken up again once."""
        spec = load_job({**SPEC, **changes})
        job = self.storage.jobs.create(name=spec.name, spec=spec.canonical(), seed=spec.seed)
        self._drive(job, workers, stop_after)
        if stop_after is not None:
            assert self.storage.jobs.get(job.id).state == "running"
            self._drive(job, workers, None)
        return self.storage.jobs.get(job.id)

    def _drive(self, job: Job, workers: int, stop_after: int | None) -> None:
        leased = self.storage.leases.acquire("test", 600.0, job.id)
        assert leased is not None
        stop = threading.Event()
        evaluated = threading.Semaphore(stop_after or 0)

        def objective(configuration: Mapping[str, Any]) -> Outcome:
            if stop_after is not None and not evaluated.acquire(blocking=False):
                stop.set()
            return self.simulated(configuration)

        with _Evaluators(self, workers, objective) as evaluators:
            coordinator = Coordinator(self.storage, evaluators.dispatch, "test", embedded=True)
            coordinator.run_job(leased, stop)


class _Evaluators(Evaluators):
    def __init__(
        self,
        applications: Applications,
        workers: int,
        objective: Callable[[Mapping[str, Any]], Outcome],
    ) -> None:
        self._applications = applications
        super().__init__(applications.storage, workers, objective, delay=0.002)

    def dispatch(self, task: str, identifier: str) -> None:
        if task == PREPARE:
            self._applications.prepare(identifier)
        else:
            super().dispatch(task, identifier)


@pytest.fixture
def applications(tmp_path: Path) -> Iterator[Applications]:
    made = Applications(tmp_path)
    yield made
    made.storage.close()


def essence(trials: list[Trial]) -> list[tuple[Any, ...]]:
    return [(t.number, t.kind, t.configuration_sha256, t.cutoff, t.state, t.value) for t in trials]


def test_the_best_configuration_is_refined_and_becomes_better(applications: Applications) -> None:
    job = applications.run()

    assert (job.state, job.ended_because) == ("completed", "trials")
    trials = applications.storage.trials.of_job(job.id)
    searched = [t for t in trials if t.kind == "search"]
    refined = [t for t in trials if t.kind == "refinement"]
    assert (len(searched), len(refined)) == (6, 30)
    assert trials[-30:] == refined
    start = min((t for t in trials[:-30] if t.value is not None and t.inside), key=_value)
    best = applications.storage.trials.best(job.id)
    assert best is not None
    assert best.value is not None
    assert best.kind == "refinement"
    assert best.value < _value(start)
    assert best.configuration["mapping"] == "permutation"
    for trial in refined:
        assert trial.configuration["topology"] == start.configuration["topology"]
        assert trial.cutoff is not None
        assert trial.cutoff <= _value(start)


def test_refinements_do_not_depend_on_workers_or_on_who_drives_the_job(
    applications: Applications, tmp_path_factory: pytest.TempPathFactory
) -> None:
    job = applications.run(workers=1)
    expected = essence(applications.storage.trials.of_job(job.id))
    for workers, stop_after in ((3, None), (2, 25)):
        other = Applications(tmp_path_factory.mktemp("other"))
        again = other.run(workers, stop_after)
        assert essence(other.storage.trials.of_job(again.id)) == expected
        other.storage.close()


def test_refined_estimates_are_verified_on_the_whole_trace(applications: Applications) -> None:
    job = applications.run(fidelity="auto")

    trials = applications.storage.trials.of_job(job.id)
    refined = [t for t in trials if t.kind == "refinement"]
    assert len(refined) == 30
    assert {t.fidelity for t in refined} == {"low"}
    verified = {t.configuration_sha256 for t in trials if t.kind == "verification"}
    best_refined = min((t for t in refined if t.state == "completed"), key=_value)
    assert best_refined.configuration_sha256 in verified
    best = applications.storage.trials.best(job.id)
    assert best is not None
    assert best.fidelity == "full"
    assert best.configuration["mapping"] == "permutation"
    whole = applications.simulated(best.configuration)
    assert best.value == whole.value
    low = estimated(whole)
    assert low.value == best_refined.value


def test_budgets_of_what_simulations_cost_end_a_refinement(applications: Applications) -> None:
    job = applications.run(budget={"trials": 6, "evaluations": 20})

    trials = applications.storage.trials.of_job(job.id)
    assert len(trials) == 20
    assert trials[-1].kind == "refinement"
    assert job.ended_because == "trials"


def _value(trial: Trial) -> float:
    assert trial.value is not None
    return trial.value
