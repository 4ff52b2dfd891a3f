"""Makes the technique objects for the names of `tuner.techniques`.

Imported only by the OpenTuner process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from opentuner.search.bandittechniques import AUCBanditMetaTechnique, AUCBanditMutationTechnique
from opentuner.search.differentialevolution import DifferentialEvolution, DifferentialEvolutionAlt
from opentuner.search.evolutionarytechniques import NormalGreedyMutation, UniformGreedyMutation
from opentuner.search.pso import PSO
from opentuner.search.simplextechniques import RandomNelderMead, RightNelderMead
from opentuner.search.technique import PureRandom

from tuner.genetic_technique import SteadyStateGA
from tuner.manipulator import Permutation

__all__ = ["FACTORIES", "root_technique"]


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


def root_technique(names: Sequence[str]) -> Any:
    """One technique by itself, or a bandit over several."""
    made = [FACTORIES[name]() for name in names]
    return made[0] if len(made) == 1 else AUCBanditMetaTechnique(made, name="bandit")
