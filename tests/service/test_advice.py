"""What is to be done where the best of a search is slower than a baseline."""

from service.jobs.advice import advice
from storage.failures import FailureCount

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


def test_where_most_trials_failed_their_limit_is_to_be_raised_first() -> None:
    ended = FailureCount("wall", "stopped after 0.001 s", 42)
    failures = [ended, FailureCount("crash", "it crashed", 1)]
    said = (
        "43 of 47 trials failed: stopped after 0.001 s (42 of them); raise limits.wall_seconds of "
        "the job file"
    )
    assert advice(1.01, {"torus-2d": 1.0}, SPEC, failures=failures, finished=47) == [said]
    assert advice(1.0, {"torus-2d": 2.0}, SPEC, failures=failures, finished=47) == [said]
    assert advice(1.01, {"torus-2d": 1.0}, SPEC, failures=failures, finished=86) == [MORE]
    (crashed,) = advice(1.0, {}, SPEC, failures=failures[1:], finished=1)
    assert crashed == "1 of 1 trials failed: it crashed"
