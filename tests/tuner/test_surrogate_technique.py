"""The technique with a model: what it says of what is left to try."""

import pytest

from searchspace.space import EnumParameter, SearchSpace
from tuner.objective import TrialResult
from tuner.outlook import SURE
from tuner.search import Search

SPACE = SearchSpace([EnumParameter(name, tuple("abcd")) for name in ("one", "two", "three")])


@pytest.mark.parametrize(("completed", "foretold"), [(3, False), (2 * SURE, True)])
def test_nothing_is_foretold_from_a_handful_of_results(completed: int, foretold: bool) -> None:
    said = []
    with Search(SPACE, 1, techniques=["Surrogate"]) as search:
        for number in range(2 * SURE):
            point = search.ask()
            assert point is not None
            said.append(search.expectation)
            seconds = 1.0 + "abcd".index(str(point.configuration["one"]))
            told = TrialResult(seconds, "completed")
            search.tell(
                point.configuration, told if number < completed else TrialResult(None, "failed")
            )
    assert any(one is not None for one in said) == foretold


def test_the_first_eight_try_every_algorithm_however_many_results_are_known() -> None:
    algorithms = tuple(f"algorithm-{number}" for number in range(8))
    space = SearchSpace(
        [
            EnumParameter("collectives.bcast", algorithms),
            EnumParameter("topology", tuple(f"network-{number}" for number in range(12))),
        ]
    )
    with Search(space, 1, techniques=["Surrogate"]) as search:
        for number in range(6):  # all alike, as baselines are
            known = space.canonicalise(
                {"collectives.bcast": algorithms[0], "topology": f"network-{number}"}
            )
            assert search.add(known)
            search.tell(known, TrialResult(1.0 + number, "completed"))
        asked = []
        for _ in range(8):
            point = search.ask()
            assert point is not None
            asked.append(point.configuration["collectives.bcast"])
            search.tell(point.configuration, TrialResult(50.0, "completed"))
    assert set(asked) == set(algorithms)
