import pytest

from measuring.calibration.plan import candidates, plan
from searchspace.errors import InvalidInput
from searchspace.machine import Machine, parse_machine


def ring(hosts: int, cores: int = 1) -> Machine:
    return parse_machine(
        {
            "nodes": hosts,
            "cores_per_host": cores,
            "host_speed": "1Gf",
            "link_bandwidth": "20Mbps",
            "network": "packets",
            "topology": {"edges": [[host, (host + 1) % hosts] for host in range(hosts)]},
        }
    )


def test_names_tell_experiments_apart() -> None:
    names = [each.name for each in candidates(ring(16), 1)]
    assert len(set(names)) == len(names)


def test_hops_are_spread_from_the_nearest_to_the_farthest_pair() -> None:
    kinds = {each.detail for each in candidates(ring(16), 1) if each.kind == "ping-pong"}
    assert kinds == {"1 hops", "3 hops", "6 hops", "8 hops"}


def test_ranks_of_one_host_are_measured_where_there_are_several() -> None:
    inside = [each for each in candidates(ring(4, cores=2), 1) if each.detail == "same host"]
    assert {(each.clock, *each.calls) for each in inside} == {(0, 0, 1)}
    assert all(
        rank % 2 == 0
        for each in candidates(ring(4, cores=2), 1)
        if each not in inside
        for rank in each.calls
    )


@pytest.mark.parametrize("seconds", [20.0, 200.0])
def test_a_plan_keeps_to_its_time(seconds: float) -> None:
    machine = ring(8)
    guesses = {each: 0.01 + each.bytes / 2.5e6 for each in candidates(machine, 1)}
    made = plan(machine, guesses, seed=1, seconds=seconds)
    assert made.seconds <= seconds
    assert made.rounds >= 2


def test_what_nothing_can_be_fitted_without_is_never_left_out() -> None:
    machine = ring(8)
    guesses = {each: 0.01 + each.bytes / 2.5e6 for each in candidates(machine, 1)}
    least = plan(machine, guesses, seed=1, seconds=16.0)
    assert "computation" in {each.kind for each in least.experiments}
    sizes = {each.bytes for each in least.experiments if each.kind == "ping-pong"}
    assert 1 in sizes and len([size for size in sizes if size >= 4096]) >= 2
    with pytest.raises(InvalidInput, match=r"takes 0\.\d: give more time"):
        plan(machine, guesses, seed=1, seconds=1.0)


def test_each_round_makes_every_experiment_once_in_an_order_of_its_own() -> None:
    machine = ring(4)
    guesses = dict.fromkeys(candidates(machine, 1), 0.01)
    made = plan(machine, guesses, seed=1, seconds=100.0)
    orders = [
        tuple(experiment.name for part in parts for experiment, _ in part.experiments)
        for parts in made.in_rounds()
    ]
    assert len(set(orders)) == made.rounds
    assert {tuple(sorted(order)) for order in orders} == {
        tuple(sorted(each.name for each in made.experiments))
    }
    assert made.in_rounds() == plan(machine, guesses, seed=1, seconds=100.0).in_rounds()
