"""Which techniques a space gets, and what is refused."""

import pytest

from searchspace.errors import InvalidInput
from searchspace.space import EnumParameter, SearchSpace
from tuner.technique_factory import FACTORIES, INFORMED, Searched
from tuner.techniques import TECHNIQUES, choose


def test_every_offered_technique_can_be_made_under_its_name() -> None:
    assert {*FACTORIES, *INFORMED} == set(TECHNIQUES)
    searched = Searched(SearchSpace([EnumParameter("a", (1, 2))]), None, 1)
    made = {name: make() for name, make in FACTORIES.items()}
    made |= {name: make(searched) for name, make in INFORMED.items()}
    assert {name: technique.name for name, technique in made.items()} == {
        name: name for name in TECHNIQUES
    }


def test_every_technique_is_described_in_one_line() -> None:
    assert all(0 < len(t.description) < 100 for t in TECHNIQUES.values())


def test_a_space_without_permutations_is_searched_by_a_model() -> None:
    assert choose({"enum", "boolean"}) == ("Surrogate",)


def test_permutations_bring_recombination() -> None:
    assert {"SteadyStateGA", "pso-OX1"} < set(choose({"enum", "permutation"}))


def test_numbers_beside_permutations_bring_normal_steps() -> None:
    assert "NormalGreedyMutation" in choose({"log-integer", "permutation"})


def test_the_wish_of_the_job_is_kept_in_order() -> None:
    assert choose({"enum"}, ["PureRandom", "SteadyStateGA"]) == ("PureRandom", "SteadyStateGA")


@pytest.mark.parametrize("name", ["PseudoAnnealingSearch", "PatternSearch", "ga-OX1", "magic"])
def test_an_unknown_or_broken_technique_is_refused_with_those_that_are_allowed(name: str) -> None:
    with pytest.raises(InvalidInput, match="allowed: Surrogate, AUCBanditMut") as caught:
        choose({"enum"}, ["PureRandom", name])
    assert caught.value.field == "techniques"


def test_a_technique_that_cannot_move_anything_is_refused() -> None:
    with pytest.raises(InvalidInput, match="needs a parameter of kind integer or log-integer"):
        choose({"enum"}, ["RandomNelderMead"])
    with pytest.raises(InvalidInput, match="of kind permutation"):
        choose({"enum", "integer"}, ["pso-CX"])


def test_a_technique_named_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="listed twice"):
        choose({"enum"}, ["PureRandom", "PureRandom"])
