"""Makes the technique objects for the names of `tuner.techniques`.

Imported only by the OpenTuner process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from opentuner.search.bandittechniques import AUCBanditMetaTechnique, AUCBanditMutationTechnique
from opentuner.search.differentialevolution import DifferentialEvolution, DifferentialEvolutionAlt
from opentuner.search.evolutionarytechniques import NormalGreedyMutation, UniformGreedyMutation
from opentuner.search.pso import PSO
from opentuner.search.simplextechniques import RandomNelderMead, RightNelderMead
from opentuner.search.technique import PureRandom

from searchspace.insight import Experience, Insight
from searchspace.space import SearchSpace
from tuner.genetic_technique import SteadyStateGA
from tuner.manipulator import Permutation
from tuner.outlook import Outlook

__all__ = ["FACTORIES", "INFORMED", "Searched", "root_technique"]


class _Mutation(UniformGreedyMutation):  # type: ignore[misc]
    """Mutation of the incumbent that changes a permutation a little instead of drawing it anew."""

    def mutate_param(self, cfg: dict[str, Any], param: Any) -> None:
        if isinstance(param, Permutation):
            param.op1_few_swaps(cfg)
        else:
            super().mutate_param(cfg, param)


def _pso(crossover: str) -> Callable[[], Any]:
    return lambda: PSO(crossover=f"op3_cross_{crossover}")


def _opentuners_default() -> Any:
    return AUCBanditMetaTechnique(
        [
            DifferentialEvolutionAlt(),
            UniformGreedyMutation(),
            NormalGreedyMutation(mutation_rate=0.3),
            RandomNelderMead(),
        ],
        name="AUCBanditMetaTechniqueA",
    )


@dataclass(frozen=True)
class Searched:
    """What a technique may be told beside its driver.

    Attributes:
        space: The space, with conditions.
        insight: What is known of the application and the machine; None where nothing is.
        seed: Of the search.
        outlook: Where a model writes down what it expects.
        experiences: Of the finished jobs that a model learns from.
    """

    space: SearchSpace
    insight: Insight | None
    seed: int
    outlook: Outlook = field(default_factory=Outlook)
    experiences: Sequence[Experience] = ()


def _surrogate(searched: Searched) -> Any:
    # Its library takes a second to be imported, which other techniques need not wait for.
    from tuner.surrogate_technique import Surrogate

    return Surrogate(
        searched.space, searched.insight, searched.seed, searched.outlook, searched.experiences
    )


FACTORIES: dict[str, Callable[[], Any]] = {
    "AUCBanditMutationTechnique": AUCBanditMutationTechnique,
    "NarrowGreedyMutation": lambda: _Mutation(name="NarrowGreedyMutation", mutation_rate=0.0),
    "UniformGreedyMutation": lambda: _Mutation(name="UniformGreedyMutation"),
    "WideGreedyMutation": lambda: _Mutation(name="WideGreedyMutation", mutation_rate=0.3),
    "NormalGreedyMutation": lambda: NormalGreedyMutation(mutation_rate=0.3),
    "SteadyStateGA": SteadyStateGA,
    "DifferentialEvolutionAlt": DifferentialEvolutionAlt,
    "DifferentialEvolution": DifferentialEvolution,
    "RandomNelderMead": RandomNelderMead,
    "RightNelderMead": RightNelderMead,
    "pso-OX1": _pso("OX1"),
    "pso-OX3": _pso("OX3"),
    "pso-PMX": _pso("PMX"),
    "pso-PX": _pso("PX"),
    "pso-CX": _pso("CX"),
    "AUCBanditMetaTechniqueA": _opentuners_default,
    "PureRandom": PureRandom,
}


INFORMED: dict[str, Callable[[Searched], Any]] = {"Surrogate": _surrogate}
"""Those that look at more than their driver."""


def root_technique(names: Sequence[str], searched: Searched) -> Any:
    """One technique by itself, or a bandit over several."""
    made = [INFORMED[name](searched) if name in INFORMED else FACTORIES[name]() for name in names]
    return made[0] if len(made) == 1 else AUCBanditMetaTechnique(made, name="bandit")
