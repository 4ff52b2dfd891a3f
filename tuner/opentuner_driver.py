"""OpenTuner's search driver with its results kept in memory and its results told from outside.

OpenTuner's own driver finds results with SQL queries through SQLAlchemy. That costs 14 to 30 ms a
trial, loses de-duplication silently under SQLAlchemy 2 and orders results by wall-clock time. Its
techniques only need what this class offers: configurations by value, results by configuration, the
best result, and a call back when a result arrives. Its rows are used as plain objects that never
meet a database. Imported only by the OpenTuner process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from opentuner.resultsdb.models import Configuration, Result
from opentuner.search.objective import MinimizeTime
from opentuner.search.technique import SearchTechniqueBase

from tuner.manipulator import Manipulator

__all__ = ["MemoryDriver"]

_STATES = {
    "completed": "OK",
    "censored": "TIMEOUT",
    "failed": "ERROR",
    "infeasible": "ERROR",
}


class _Results:
    """Results as techniques and objectives read them: the part of a query that they use."""

    def __init__(self, results: list[Any]) -> None:
        self._results = results

    def __iter__(self) -> Iterator[Any]:
        return iter(self._results)

    def count(self) -> int:
        return len(self._results)


class MemoryDriver:
    """Asks a technique for configurations and tells it results. Not for several threads.

    The attributes are those that techniques use.

    Args:
        manipulator: The parameters.
        technique: The root technique, fresh.
    """

    def __init__(self, manipulator: Manipulator, technique: SearchTechniqueBase) -> None:
        self.manipulator = manipulator
        self.objective = MinimizeTime()
        self.objective.set_driver(self)
        self.best_result: Any = None
        self.generation = 0
        self.injected: list[Any] = []  # results that no technique asked for
        self.history: list[Any] = []  # all results, in the order in which they were told
        self.tuning_run = None  # a row that desired results may belong to
        self._technique = technique
        self._configurations: dict[str, Any] = {}
        self._results: dict[str, list[Any]] = {}
        self._callbacks: dict[Any, list[Callable[[Any], None]]] = {}
        technique.set_driver(self)

    def ask(self) -> Any | None:
        """The next desired result; None when the techniques wait for results or have ended."""
        self.generation += 1
        return self._technique.desired_result() or None

    def tell(
        self, desired: Any, value: float | None, status: str, bound: float | None = None
    ) -> None:
        """Give the result of a desired result that was asked.

        Args:
            desired: What `ask` returned, once.
            value: Objective, for a completed trial; finite.
            status: `completed`, `censored`, `failed` or `infeasible`.
            bound: What a censored trial takes at least.
        """
        result = self._add(desired.configuration, value, status, bound)
        desired.result = result
        for callback in self._callbacks.pop(desired, ()):
            callback(result)

    def inject(
        self,
        values: dict[str, Any],
        value: float | None,
        status: str,
        bound: float | None = None,
    ) -> None:
        """Make a result known that no technique asked for."""
        self.injected.append(self._add(self.get_configuration(values), value, status, bound))

    def _add(
        self, configuration: Any, value: float | None, status: str, bound: float | None
    ) -> Any:
        # Infinity is the one value that loses every comparison: a censored trial is known to be
        # worse than the incumbent, but not whether it is worse than any other trial.
        time = math.inf if value is None else value
        result = Result(configuration=configuration, state=_STATES[status], time=time)
        result.bound = bound  # for techniques that learn from what trials take at least
        self.history.append(result)
        usable = status == "completed"
        first = self.best_result is None
        better = usable and (
            first or self.best_result.state != "OK" or self.objective.lt(result, self.best_result)
        )
        # What the bandits give credit for.
        result.was_new_best = better
        if better or first:
            self.best_result = result
        self._results.setdefault(configuration.hash, []).append(result)
        return result

    def get_configuration(self, cfg: dict[str, Any]) -> Any:
        """The one configuration with these values; techniques compare configurations by identity.

        Its values are a copy: techniques go on to change the dictionary that they gave.
        """
        self.manipulator.normalize(cfg)
        key = self.manipulator.hash_config(cfg)
        found = self._configurations.get(key)
        if found is None:
            found = Configuration(hash=key, data=self.manipulator.copy(cfg))
            self._configurations[key] = found
        return found

    def has_results(self, config: Any) -> bool:
        """Whether a configuration has been told a result."""
        return config.hash in self._results

    def results_query(self, *, config: Any) -> _Results:
        """The results of a configuration."""
        return _Results(self._results.get(config.hash, []))

    def register_result_callback(self, desired: Any, callback: Callable[[Any], None]) -> None:
        """Call back with the result of a desired result when it is told."""
        self._callbacks.setdefault(desired, []).append(callback)

    def add_plugin(self, plugin: Any) -> None:
        """Techniques register as plugins; none that is offered uses the hooks of plugins."""
