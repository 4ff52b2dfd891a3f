"""The search techniques that a job may name, and the choice where it names none.

OpenTuner's techniques keep OpenTuner's names. Not offered, because they do not work:
PseudoAnnealingSearch, the Torczon family and MultiNelderMead (they sort with `cmp=`, gone from
Python 3); PatternSearch (compares with its first point, which it never has evaluated); `ga-*` and
GGA (both parents of a crossover are the same configuration); BinaryGA (its first generation is 200
random trials). This module does not import OpenTuner.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from searchspace.errors import InvalidInput

__all__ = ["TECHNIQUES", "Technique", "choose"]

_NUMERIC = frozenset({"integer", "log-integer"})
_PERMUTATION = frozenset({"permutation"})


@dataclass(frozen=True)
class Technique:
    """A technique on offer.

    Attributes:
        name: As in a job file.
        description: One line for people.
        needs: Works only where one of these kinds of parameters varies; empty for all spaces.
    """

    name: str
    description: str
    needs: frozenset[str] = frozenset()


_ALL = (
    Technique(
        "Surrogate",
        "proposes what a model of all trials so far holds best; it knows the application's traffic",
    ),
    Technique(
        "AUCBanditMutationTechnique",
        "changes one value of the incumbent; a bandit learns which parameters pay",
    ),
    Technique(
        "NarrowGreedyMutation",
        "changes exactly one value of the incumbent at random",
    ),
    Technique(
        "UniformGreedyMutation",
        "changes one value of the incumbent, and each other one with probability 0.1",
    ),
    Technique(
        "WideGreedyMutation",
        "changes one value of the incumbent, and each other one with probability 0.3",
    ),
    Technique(
        "NormalGreedyMutation",
        "like WideGreedyMutation, with normally distributed steps of numbers"
        " and small moves of permutations",
    ),
    Technique(
        "SteadyStateGA",
        "recombines the best configurations; permutations by OX1, PMX and CX",
    ),
    Technique(
        "DifferentialEvolutionAlt",
        "differential evolution with rare crossover; slow to start (30 random trials)",
    ),
    Technique(
        "DifferentialEvolution",
        "differential evolution; permutations and enums are redrawn rather than combined",
    ),
    Technique("RandomNelderMead", "downhill simplex from a random start; moves numbers", _NUMERIC),
    Technique("RightNelderMead", "downhill simplex from a small corner; moves numbers", _NUMERIC),
    Technique("pso-OX1", "particle swarm; permutations by ordered crossover", _PERMUTATION),
    Technique("pso-OX3", "particle swarm; ordered crossover with shifted cuts", _PERMUTATION),
    Technique(
        "pso-PMX", "particle swarm; permutations by partially mapped crossover", _PERMUTATION
    ),
    Technique("pso-PX", "particle swarm; permutations by partition crossover", _PERMUTATION),
    Technique("pso-CX", "particle swarm; permutations by cycle crossover", _PERMUTATION),
    Technique("AUCBanditMetaTechniqueA", "OpenTuner's default bandit, as it comes"),
    Technique("PureRandom", "draws configurations evenly"),
)

TECHNIQUES: dict[str, Technique] = {technique.name: technique for technique in _ALL}
"""The offered techniques by name."""


def choose(kinds: Collection[str], wanted: Sequence[str] | None = None) -> tuple[str, ...]:
    """The techniques for a space; several share the asks through an AUC bandit.

    Without a wish it is the model, which does best by far where it knows the application
    (`python -m benchmarks.search`); with permutations, of which it knows little, mutations and
    recombination.

    Args:
        kinds: The kinds of the varied parameters (`tuner.parameters.kinds`).
        wanted: The names that the job file gives; None or empty leaves the choice here.

    Raises:
        InvalidInput: A name is unknown, given twice, or does not suit the space.
    """
    if not wanted:
        if not _PERMUTATION.intersection(kinds):
            return ("Surrogate",)
        names = ["AUCBanditMutationTechnique", "NarrowGreedyMutation", "WideGreedyMutation"]
        if _NUMERIC.intersection(kinds):
            names.append("NormalGreedyMutation")
        return (*names, "SteadyStateGA", "pso-OX1")
    for index, name in enumerate(wanted):
        _check(name, kinds, again=name in wanted[:index])
    return tuple(wanted)


def _check(name: str, kinds: Collection[str], *, again: bool) -> None:
    if name not in TECHNIQUES:
        raise InvalidInput(
            f"unknown technique '{name}'; allowed: {', '.join(TECHNIQUES)}", field="techniques"
        )
    if again:
        raise InvalidInput(f"technique '{name}' is listed twice", field="techniques")
    needs = TECHNIQUES[name].needs
    if needs and kinds and not needs.intersection(kinds):
        raise InvalidInput(
            f"technique '{name}' needs a parameter of kind {' or '.join(sorted(needs))},"
            " and this space has none; leave it out",
            field="techniques",
        )
