"""Who searches: Hamtune, and others at their defaults, each trial a look at a table.

Others ask one trial after another, which serves them; ours has as many in flight as a job, or one
where its name says so, and learns no more of a trial that is cut off than a job does. Its
baselines count as trials where they are points of the space.
"""

from __future__ import annotations

import json
import logging
import math
import os
import random
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.search.build import probes_path
from benchmarks.search.tables import COMPLETED, Case, Table, digest_of
from searchspace.configuration import Configuration
from searchspace.insight import Experience, Insight, Probes, Tried
from searchspace.space import Parameter, SearchSpace
from tuner.budget import Budget, Ledger
from tuner.objective import TrialResult, cutoff
from tuner.parameters import point_of
from tuner.search import Search

__all__ = ["OPTIMISERS", "OURS", "Objective", "OwnRun", "insight_of", "is_ours", "ours"]

_BATCH = 8
_PENALTY = 10.0
"""What a configuration that stops the program costs those who need a number, in multiples of the
longest time they have seen."""


class Objective:
    """What is optimised, by a table: counts trials and keeps the incumbents.

    Args:
        case: Whose table it is.
        table: The table.
        trials: After so many a run is over.
        goal: So many seconds end it before; None where nothing does.

    Attributes:
        incumbents: The least seconds after each trial; infinite while there are none.
        infeasible: Trials of configurations that could not run.
        repeats: Trials whose seconds had been seen in this run.
        ended: After how many trials a search has ended by itself; None of one that has not.
    """

    def __init__(self, case: Case, table: Table, trials: int, goal: float | None = None) -> None:
        self.case = case
        self.table = table
        self.trials = trials
        self._goal = -math.inf if goal is None else goal
        self.incumbents: list[float] = []
        self.infeasible = 0
        self.repeats = 0
        self.ended: int | None = None
        self._seen: set[float] = set()

    @property
    def over(self) -> bool:
        """Whether all trials are spent, or the goal is reached."""
        reached = bool(self.incumbents) and self.incumbents[-1] <= self._goal
        return reached or len(self.incumbents) >= self.trials

    def end(self) -> None:
        """The optimiser has nothing more to try; its incumbent stays."""
        self.ended = len(self.incumbents)
        self.incumbents += [self.incumbents[-1]] * (self.trials - len(self.incumbents))

    def look_up(self, configuration: Mapping[str, Any]) -> float | None:
        """The seconds of a configuration; None where it cannot run. No trial."""
        place = self.table.places[digest_of(self.case, Configuration(configuration))]
        if self.table.states[place] != COMPLETED:
            return None
        return float(self.table.values[place])

    def evaluate(self, configuration: Mapping[str, Any]) -> float | None:
        """The same, as a trial."""
        seconds = self.look_up(configuration)
        self.infeasible += seconds is None
        if seconds is not None:
            self.repeats += seconds in self._seen
            self._seen.add(seconds)
        best = self.incumbents[-1] if self.incumbents else math.inf
        self.incumbents.append(min(best, seconds if seconds is not None else math.inf))
        return seconds

    def values(self, chosen: Mapping[str, Any]) -> Configuration:
        """A point of the space from values for all of its parameters."""
        return self.case.built.space.canonicalise(chosen)


class OwnRun(NamedTuple):
    """A run of ours.

    Attributes:
        baselines: How many of the first trials were baselines.
        trials: All that had a time, as a job would have stored them.
        weights: How much each job counted in the end that it learned from.
    """

    baselines: int
    trials: list[Tried]
    weights: tuple[float, ...]


def insight_of(case: Case) -> Insight:
    """What the search of a job is told of its application."""
    probes = Probes.from_json(json.loads(probes_path(case).read_text()))
    return Insight(case.spec.described_machine, case.ranks, case.called, case.traces, probes)


def ours(
    objective: Objective,
    seed: int,
    techniques: list[str] | None = None,
    *,
    informed: bool = True,
    factor: float | None = None,
    until: float | None = None,
    in_flight: int = _BATCH,
    experiences: Sequence[Experience] = (),
) -> OwnRun:
    """Searches as a job does, learning from others where there are experiences."""
    case = objective.case
    insight = insight_of(case) if informed else None
    factor = factor if factor is not None else case.spec.cutoff_factor
    told: dict[str, Any] = {"insight": insight, "until": until, "experiences": experiences}
    with Search(case.built.space, seed, techniques, **told) as search:
        first = [configuration for _, configuration in case.built.baselines]
        inside = deque(one for one in first if search.add(one))
        baselines = len(inside)
        tried: list[Tried] = []
        pending: deque[tuple[Configuration, float | None]] = deque()
        best: float | None = None
        asked = 0
        ledger = Ledger(Budget(until=until))
        while not objective.over:
            while len(pending) < in_flight and asked < objective.trials and ledger.end() is None:
                if inside:
                    found = point_of(case.built.space, inside.popleft())
                    assert found is not None, "it is in the space"
                    pending.append((found, None))
                elif best is None and pending:
                    break  # the search begins when the baselines are known
                elif (point := search.ask()) is None:
                    break
                else:
                    ledger.expect(search.probability)
                    pending.append((point.configuration, cutoff(best, factor)))
                asked += 1
            if not pending:
                objective.end()
                break
            configuration, bound = pending.popleft()
            result = _result(objective.evaluate(configuration), bound)
            search.tell(configuration, result)
            tried += _stored(configuration, result)
            if result.value is not None:
                best = result.value if best is None else min(best, result.value)
        return OwnRun(baselines, tried, search.weights or ())


def _stored(configuration: Configuration, told: TrialResult) -> list[Tried]:
    """The trial as a job would store it, where it has a time."""
    if told.value is not None:
        return [Tried(configuration, told.value, completed=True)]
    if told.bound is not None:
        return [Tried(configuration, told.bound, completed=False)]
    return []


def _result(seconds: float | None, bound: float | None) -> TrialResult:
    """What a search is told of a look at the table, under a cutoff."""
    if seconds is None:
        return TrialResult(None, "failed")
    if bound is not None and seconds > bound:
        return TrialResult(None, "censored", bound)
    return TrialResult(seconds, "completed")


def _random(objective: Objective, seed: int) -> None:
    rng = random.Random(seed)
    while not objective.over:
        objective.evaluate(objective.case.built.space.sample(rng))


def _descent(objective: Objective, seed: int) -> None:
    """Tries all values of one parameter after another, from the defaults, then from elsewhere."""
    rng = random.Random(seed)
    space = objective.case.built.space
    varied = [parameter for parameter in space.parameters if parameter.size > 1]
    chosen = {parameter.name: parameter.default for parameter in space.parameters}
    while not objective.over:
        best = _seconds(objective.evaluate(objective.values(chosen)))
        improved = True
        while improved and not objective.over:
            improved = False
            for parameter in rng.sample(varied, len(varied)):
                found, seconds = _best_value(objective, parameter, chosen, best)
                if seconds < best:
                    chosen, best, improved = found, seconds, True
        chosen = {parameter.name: parameter.sample(rng) for parameter in space.parameters}


def _best_value(
    objective: Objective, parameter: Parameter, chosen: dict[str, Any], best: float
) -> tuple[dict[str, Any], float]:
    """Tries the other values of a parameter, and keeps each that is better than all before."""
    for value in parameter.every():
        if value == chosen[parameter.name] or objective.over:
            continue
        tried = {**chosen, parameter.name: value}
        if objective.values(tried) == objective.values(chosen):
            continue
        seconds = _seconds(objective.evaluate(objective.values(tried)))
        if seconds < best:
            chosen, best = tried, seconds
    return chosen, best


def _seconds(seconds: float | None) -> float:
    return math.inf if seconds is None else seconds


def _optuna(objective: Objective, seed: int, sampler: str) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    made: Any
    if sampler == "tpe":
        made = optuna.samplers.TPESampler(seed=seed, multivariate=True)
    else:
        made = optuna.samplers.GPSampler(seed=seed)
    study = optuna.create_study(sampler=made)
    while not objective.over:
        trial = study.ask()
        seconds = objective.evaluate(_suggested(trial, objective.case.built.space))
        if seconds is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, seconds)


def _suggested(trial: Any, space: SearchSpace) -> Configuration:
    chosen: dict[str, Any] = {}
    for parameter in space.parameters:
        when = parameter.when
        if when is None or chosen.get(when.parameter) in when.values:
            chosen[parameter.name] = _suggest(trial, parameter)
    return space.canonicalise(chosen)


def _suggest(trial: Any, parameter: Parameter) -> Any:
    # Seeds are names of networks: nothing is between two of them.
    return trial.suggest_categorical(parameter.name, list(parameter.every()))


def _smac(objective: Objective, seed: int) -> None:
    import ConfigSpace
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.runhistory import TrialValue
    from smac.runhistory.enumerations import StatusType

    logging.disable()
    space = objective.case.built.space
    described = ConfigSpace.ConfigurationSpace(seed=seed)
    parameters: dict[str, Any] = {}
    for parameter in space.parameters:
        # By number, since it knows no values of mixed kinds.
        made = ConfigSpace.CategoricalHyperparameter(
            parameter.name, [str(place) for place in range(parameter.size)]
        )
        parameters[parameter.name] = made
        described.add(made)
    values = {parameter.name: list(parameter.every()) for parameter in space.parameters}
    for parameter in space.parameters:
        if parameter.when is not None:
            decider = values[parameter.when.parameter]
            allowed = [str(decider.index(value)) for value in parameter.when.values]
            described.add(
                ConfigSpace.InCondition(
                    parameters[parameter.name], parameters[parameter.when.parameter], allowed
                )
            )
    scenario = Scenario(
        described,
        deterministic=True,
        n_trials=objective.trials,
        seed=seed,
        output_directory=Path(tempfile.mkdtemp()),
    )
    tuner = HyperparameterOptimizationFacade(
        scenario, lambda config, seed: 0.0, overwrite=True, logging_level=False
    )
    longest = 1e-6
    while not objective.over:
        info = tuner.ask()
        chosen = {name: values[name][int(place)] for name, place in dict(info.config).items()}
        seconds = objective.evaluate(space.canonicalise(chosen))
        longest = max(longest, seconds or 0.0)
        if seconds is None:
            told = TrialValue(cost=_PENALTY * longest, status=StatusType.CRASHED)
        else:
            told = TrialValue(cost=seconds)
        tuner.tell(info, told)


def _stock(objective: Objective, seed: int) -> None:
    """OpenTuner as it comes, with its database in memory."""
    import argparse

    import opentuner
    from opentuner.api import TuningRunManager
    from opentuner.measurement.interface import DefaultMeasurementInterface
    from opentuner.resultsdb.models import Result
    from opentuner.search.manipulator import ConfigurationManipulator, EnumParameter

    random.seed(seed)
    os.chdir(tempfile.mkdtemp())  # it writes a log where it stands
    space = objective.case.built.space
    manipulator = ConfigurationManipulator()
    for parameter in space.parameters:
        if parameter.size > 1:
            manipulator.add_parameter(EnumParameter(parameter.name, list(parameter.every())))
    constants = {p.name: p.default for p in space.parameters if p.size == 1}
    arguments = argparse.ArgumentParser(parents=opentuner.argparsers()).parse_args(
        ["--no-dups", f"--database=sqlite:///{tempfile.mkdtemp()}/results.db"]
    )
    interface = DefaultMeasurementInterface(
        args=arguments, manipulator=manipulator, project_name="search", program_name="table"
    )
    manager = TuningRunManager(interface, arguments)
    logging.disable()
    while not objective.over:
        desired = manager.get_next_desired_result()
        if desired is None:
            objective.evaluate(space.sample(random.Random(random.random())))
            continue
        seconds = objective.evaluate(
            space.canonicalise({**constants, **desired.configuration.data})
        )
        state = "OK" if seconds is not None else "ERROR"
        manager.report_result(desired, Result(time=_seconds(seconds), state=state))


OPTIMISERS: dict[str, Callable[[Objective, int], object]] = {
    "hamtune": ours,
    "hamtune-one-in-flight": lambda objective, seed: ours(objective, seed, in_flight=1),
    "hamtune without insight": lambda objective, seed: ours(objective, seed, informed=False),
    "hamtune mutations": lambda objective, seed: ours(
        objective,
        seed,
        ["AUCBanditMutationTechnique", "NarrowGreedyMutation", "WideGreedyMutation"],
        informed=False,
        factor=1.0,
    ),
    "hamtune until 1%": lambda objective, seed: ours(objective, seed, until=0.01),
    "ensemble": lambda objective, seed: ours(
        objective, seed, ["Surrogate", "NarrowGreedyMutation", "AUCBanditMutationTechnique"]
    ),
    "optuna-tpe": lambda objective, seed: _optuna(objective, seed, "tpe"),
    "optuna-gp": lambda objective, seed: _optuna(objective, seed, "gp"),
    "smac3": _smac,
    "opentuner": _stock,
    "descent": _descent,
    "random": _random,
}
"""By name: ours first."""
OURS = ("hamtune", "hamtune-one-in-flight")
"""Those of ours that are held against others: as a job is by default, and as others ask."""


def is_ours(optimiser: str) -> bool:
    """Whether an optimiser is our search, however it is set."""
    return optimiser.startswith("hamtune") or optimiser == "ensemble"
