"""Refining the mapping of a job's best configuration: which trials come after the search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from searchspace.configuration import Configuration
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.job import JobSpec
from searchspace.mapping import Places
from searchspace.mapping.refinement import Refinement
from searchspace.mapping.time_model import HostLimits
from searchspace.platform import chosen_algorithms, resolve, written_out
from searchspace.topology.network_cache import NetworkCache
from storage.networks import ProjectNetworks
from storage.records import Application, Job, Trial
from storage.storage import Storage
from storage.traces import traces_of

__all__ = ["MappingRefiner", "refiner_of"]


class MappingRefiner:
    """Asks for configurations that differ from one in the mapping, and is told their trials.

    Args:
        spec: The job, with its machine in it.
        ranks: Of the application.
        traffic: What they exchange.
        best: The configuration to begin with.
        value: Its simulated seconds.
        result: What else its simulation said.
        cache: Where networks that take long to build are.
    """

    def __init__(
        self,
        spec: JobSpec,
        ranks: int,
        traffic: TracesTraffic,
        best: Configuration,
        value: float,
        result: Mapping[str, Any] | None,
        cache: NetworkCache | None = None,
    ) -> None:
        self._configuration = best
        self._machine = spec.described_machine
        resolved = resolve(best, self._machine, ranks, traffic=traffic, cache=cache)
        algorithms = chosen_algorithms(best)
        self._search = Refinement(
            traffic(algorithms),
            resolved.where,
            [resolved.places],
            rounds=traffic.rounds(algorithms),
            limits=HostLimits.of(self._machine),
            tie_rule=self._machine.tie_rule,
            seed=spec.seed,
        )
        start = self._search.ask()
        assert start is not None, "a refinement asks for its start"
        self._search.tell(start, value, (result or {}).get("link_loads", ()))
        self._open: dict[str, Places] = {}

    @property
    def best(self) -> float:
        """The least simulated seconds."""
        assert self._search.best is not None
        return self._search.best[0]

    def ask(self) -> Configuration | None:
        """The next configuration to evaluate; None where no new mapping was found."""
        places = self._search.ask()
        if places is None:
            return None
        configuration = written_out(self._configuration, self._machine, places.tolist())
        self._open[configuration.sha256] = places
        return configuration

    def tell(self, configuration: Configuration, trial: Trial) -> None:
        """Tell what became of a configuration; `trial` has its result."""
        places = self._open.pop(configuration.sha256)
        value = trial.value if trial.state == "completed" else None
        self._search.tell(places, value, (trial.result or {}).get("link_loads", ()))


def refiner_of(
    storage: Storage, job: Job, spec: JobSpec, application: Application, trial: Trial
) -> MappingRefiner:
    """The refiner that begins with a completed trial, which has its result.

    Raises:
        InvalidInput: The network is too large for its routes to be kept.
        NotFound: The application's trace is gone.
    """
    assert trial.value is not None, "a refinement begins with a completed trial"
    return MappingRefiner(
        spec,
        application.ranks,
        TracesTraffic(traces_of(storage, application)),
        Configuration.from_json(trial.configuration),
        trial.value,
        trial.result,
        ProjectNetworks(storage.networks, job.project),
    )
