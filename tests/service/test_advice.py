"""What is to be done where the best of a search is slower than a baseline."""

from service.jobs.advice import advice

SPEC = {
    "search": {"topology": [{"family": "random", "instances": 8}, "torus-2d"]},
    "budget": {"trials": 80},
}
MORE = (
    "the search had 80 trials: submit the job with more (budget.trials: 320); what was simulated "
    "once is not simulated again"
)


def test_nothing_where_the_best_beats_all() -> None:
    assert advice(1.0, {"torus-3d": 1.0, "mesh-2d": 2.0}, SPEC) == []
    assert advice(1.0, {}, SPEC) == []


def test_a_network_outside_of_the_space_is_put_into_it() -> None:
    network, more = advice(1.01, {"torus-3d": 1.0, "mesh-2d": 2.0}, SPEC)
    assert network.startswith("torus-3d is not in the search space: add it to search.topology")
    assert more == MORE


def test_one_inside_of_the_space_needs_more_trials() -> None:
    assert advice(1.01, {"torus-2d": 1.0}, SPEC) == [MORE]
    assert advice(1.01, {"random original ompi": 1.0}, SPEC) == [MORE]


def test_more_trials_are_of_no_use_where_everything_was_tried() -> None:
    assert advice(1.01, {"torus-2d": 1.0}, SPEC, exhausted=True) == []
