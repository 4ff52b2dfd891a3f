"""Which techniques a space gets, and what is refused."""

import pytest

from searchspace.errors import InvalidInput
from tuner.technique_factory import FACTORIES
from tuner.techniques import TECHNIQUES, choose


def test_every_offered_technique_can_be_made_under_its_name() -> None:
    assert list(FACTORIES) == list(TECHNIQUES)
    assert {name: make().name for name, make in FACTORIES.items()} == {n: n for n in TECHNIQUES}


def test_every_technique_is_described_in_one_line() -> None:
    assert all(0 < len(t.description) < 100 for t in TECHNIQUES.values())


def test_a_space_of_enums_is_searched_by_mutations() -> None:
    assert choose({"enum", "boolean"}) == (
        "AUCBanditMutationTechnique",
        "NarrowGreedyMutation",
        "WideGreedyMutation",
    )


def test_permutations_bring_recombination() -> None:
    assert {"SteadyStateGA", "pso-OX1"} < set(choose({"enum", "permutation"}))


def test_numbers_bring_normal_steps() -> None:
    assert "NormalGreedyMutation" in choose({"log-integer"})


def test_the_wish_of_the_job_is_kept_in_order() -> None:
    assert choose({"enum"}, ["PureRandom", "SteadyStateGA"]) == ("PureRandom", "SteadyStateGA")


@pytest.mark.parametrize("name", ["PseudoAnnealingSearch", "PatternSearch", "ga-OX1", "magic"])
def test_an_unknown_or_broken_technique_is_refused_with_those_that_are_allowed(name: str) -> None:
    with pytest.raises(InvalidInput, match="allowed: AUCBanditMutationTechnique, Narrow") as caught:
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
