"""What the simulator makes of truncated traces, and of several applications at once."""

from pathlib import Path
from typing import Any

import pytest

from searchspace.formats.operations import encode
from searchspace.truncation import truncate
from tests.workers.simulator.runs import answer_of, line_of, on_a_line, write_program

PLAIN_STEP = encode("compute", flops=1e6) + encode("allreduce", count=1000, size=8)


def exchange(rank: int) -> bytes:
    """Ranks 0 and 1 compute differently long and swap a message."""
    other = 1 - rank
    return (
        encode("compute", flops=1e6 * (1 + rank))
        + encode("irecv", slot=0, peer=other, count=10_000, size=8)
        + encode("isend", slot=1, peer=other, count=10_000, size=8)
        + encode("waitall", slots=[0, 1])
    )


def program(directory: Path, iterations: int) -> tuple[Path, Path]:
    whole = write_program(
        directory / "p.ht",
        [[encode("bcast", count=1, size=4), *[exchange(rank)] * iterations] for rank in range(2)],
    )
    short = directory / "short.ht"
    truncate(whole, short)
    return whole, short


def test_the_time_of_the_whole_is_estimated(tmp_path: Path) -> None:
    whole, short = program(tmp_path, 200)
    exact = answer_of(whole, on_a_line(0, 1))
    estimated = answer_of(short, on_a_line(0, 1))
    assert estimated["status"] == "completed"
    assert estimated["simulated_time"] == pytest.approx(exact["simulated_time"], rel=1e-6)
    assert estimated["estimate"]["played"] < exact["simulated_time"] / 50
    assert estimated["estimate"]["error"] < 1e-3
    assert exact["estimate"] is None


def test_the_error_tells_how_uneven_the_iterations_are(tmp_path: Path) -> None:
    mark = encode("pcontrol", level=1)
    steps = [
        mark + encode("compute", flops=1e6 * (1 + step % 2)) + encode("barrier")
        for step in range(50)
    ]
    whole = write_program(tmp_path / "p.ht", [steps] * 2)
    short = tmp_path / "short.ht"
    truncate(whole, short, 3)
    answer = answer_of(short, on_a_line(0, 1))
    assert 0.1 < answer["estimate"]["error"] < 0.5


@pytest.mark.parametrize("flops", [(1e6, 3e6), (3e6, 1e6), (1e6, 1e6, 1e6, 9e6)])
def test_what_is_computed_counts_however_it_is_shared_out(
    tmp_path: Path, flops: tuple[float, ...]
) -> None:
    """The longer of two iterations is only left out where it computes no more than the other."""
    steps = [
        encode("pcontrol", level=1) + encode("compute", flops=flops[step % len(flops)])
        + encode("allreduce", count=1000, size=8)
        for step in range(48)
    ]  # fmt: skip
    whole = write_program(tmp_path / "p.ht", [steps] * 2)
    truncate(whole, tmp_path / "short.ht")
    exact = answer_of(whole, on_a_line(0, 1))["simulated_time"]
    answer = answer_of(tmp_path / "short.ht", on_a_line(0, 1))
    assert answer["simulated_time"] == pytest.approx(exact, rel=0.03)


@pytest.mark.parametrize("kept", [2, 3])
def test_the_slowest_rank_sets_the_pace_of_a_pipeline(tmp_path: Path, kept: int) -> None:
    """The first ranks run ahead: what they take for an iteration is not what the loop takes."""
    ranks = []
    for rank in range(4):
        receive = [encode("recv", peer=rank - 1, count=100, size=8)] if rank > 0 else []
        send = [encode("send", peer=rank + 1, count=100, size=8)] if rank < 3 else []
        ranks.append([*receive, encode("compute", flops=1e6 * (1 + rank)), *send] * 100)
    whole = write_program(tmp_path / "p.ht", ranks)
    truncate(whole, tmp_path / "short.ht", kept)
    exact = answer_of(whole, on_a_line(0, 1, 2, 3))["simulated_time"]
    answer = answer_of(tmp_path / "short.ht", on_a_line(0, 1, 2, 3))
    assert answer["simulated_time"] == pytest.approx(exact, rel=1e-3)
    assert 0.5 < answer["estimate"]["error"] < 0.8


def swaps(rank: int, ranks: int) -> bytes:
    """A round in a ring: compute, send to the right, receive from the left."""
    return (
        encode("compute", flops=1e5)
        + encode("irecv", slot=0, peer=(rank - 1) % ranks, count=500, size=8)
        + encode("isend", slot=1, peer=(rank + 1) % ranks, count=500, size=8)
        + encode("waitall", slots=[0, 1])
    )


def test_a_rank_that_comes_late_does_not_set_the_pace(tmp_path: Path) -> None:
    """Its neighbours wait for it in one round, and theirs in the next: each of them once."""
    ranks = [
        [encode("compute", flops=1e6 * (1 + 40 * (rank == 3))), *[swaps(rank, 8)] * 1000]
        for rank in range(8)
    ]
    whole = write_program(tmp_path / "p.ht", ranks)
    truncate(whole, tmp_path / "short.ht")
    exact = answer_of(whole, on_a_line(*range(8)))["simulated_time"]
    estimated = answer_of(tmp_path / "short.ht", on_a_line(*range(8)))
    assert estimated["simulated_time"] == pytest.approx(exact, rel=1e-3)
    assert estimated["estimate"]["error"] > 1  # what one of the rounds alone says


def test_a_rank_that_comes_late_to_rounds_within_steps_counts_once_a_step(tmp_path: Path) -> None:
    ranks = []
    for rank in range(8):
        late = encode("compute", flops=1e6 * (1 + 5 * (rank == 3)))
        step = encode("pcontrol", level=1) + encode("barrier") + late + swaps(rank, 8) * 50
        ranks.append([*[step] * 40, encode("barrier")])
    whole = write_program(tmp_path / "p.ht", ranks)
    truncate(whole, tmp_path / "short.ht")
    exact = answer_of(whole, on_a_line(*range(8)))["simulated_time"]
    estimated = answer_of(tmp_path / "short.ht", on_a_line(*range(8)))
    assert estimated["estimate"]["played"] < exact / 10
    assert estimated["simulated_time"] == pytest.approx(exact, rel=0.25)


def test_ranks_that_only_wait_for_a_loop_of_others_do_not_count(tmp_path: Path) -> None:
    """One pair after the other plays 40 rounds; a token goes from pair to pair."""
    token = {"tag": 9, "count": 0, "size": 1}
    ball = {"tag": 1, "count": 5000, "size": 8}
    ranks = []
    for rank in range(8):
        mate, serves = rank ^ 1, rank % 2 == 0
        hit = [encode("send", peer=mate, **ball), encode("recv", peer=mate, **ball)]
        rounds = (hit if serves else hit[::-1]) * 40
        before = [encode("recv", peer=rank - 1, **token)] if serves and rank > 0 else []
        after = [encode("send", peer=rank + 1, **token)] if not serves and rank < 7 else []
        ranks.append([*before, *rounds, *after])
    whole = write_program(tmp_path / "p.ht", ranks)
    truncate(whole, tmp_path / "short.ht")
    exact = answer_of(whole, on_a_line(*range(8)))["simulated_time"]
    estimated = answer_of(tmp_path / "short.ht", on_a_line(*range(8)))
    assert estimated["estimate"]["played"] < exact / 5
    assert estimated["simulated_time"] == pytest.approx(exact, rel=1e-2)


@pytest.mark.parametrize("rank_hosts", [range(8), [0, 0, 1, 1, 2, 2, 3, 3]], ids=["own", "shared"])
def test_the_grouping_of_ranks_by_host_is_computed(tmp_path: Path, rank_hosts: list[int]) -> None:
    """SMPI's own messages before the first collective of this kind: whole traces send them."""
    start = [encode("comm_dup", comm=0), encode("compute", flops=1e4)]
    step = encode("compute", flops=1e4) + encode("allreduce", comm=2, count=100, size=8)
    whole = write_program(tmp_path / "p.ht", [[*start, *[step] * 50] for _ in range(8)])
    truncate(whole, tmp_path / "short.ht")
    request = on_a_line(*rank_hosts, options={"smpi/coll-selector": "mvapich2"})
    exact = answer_of(whole, request)
    computed, sent = (
        answer_of(tmp_path / "short.ht", {**request, "plain_simgrid": plain})
        for plain in (False, True)
    )
    assert computed["link_loads"] == sent["link_loads"]
    for other in (sent, exact):
        assert computed["simulated_time"] == pytest.approx(other["simulated_time"], rel=2e-3)
    assert exact == {**answer_of(whole, {**request, "plain_simgrid": True}), **own_costs(exact)}


def own_costs(answer: dict[str, Any]) -> dict[str, Any]:
    """What differs from run to run, or that only our engine counts."""
    costs = ("cpu_seconds", "wall_seconds", "peak_rss_bytes", "messages")
    return {key: answer[key] for key in costs}


def test_a_cutoff_stops_a_run_whose_estimate_must_exceed_it(tmp_path: Path) -> None:
    _, short = program(tmp_path, 200)
    time = answer_of(short, on_a_line(0, 1))["simulated_time"]
    for factor, status in ((1.01, "completed"), (0.99, "censored"), (0.05, "censored")):
        answer = answer_of(short, on_a_line(0, 1, cutoff=factor * time))
        assert answer["status"] == status
    assert answer["simulated_time"] == 0.05 * time


def test_marks_of_a_whole_trace_change_nothing(tmp_path: Path) -> None:
    mark = encode("pcontrol", level=1)
    marked = write_program(tmp_path / "m.ht", [[mark, exchange(rank), mark] for rank in range(2)])
    plain = write_program(tmp_path / "p.ht", [[exchange(rank)] for rank in range(2)])
    assert (
        answer_of(marked, on_a_line(0, 1))["simulated_time"]
        == answer_of(plain, on_a_line(0, 1))["simulated_time"]
    )


def two_applications(**fields: Any) -> dict[str, Any]:
    return {
        **on_a_line(0),
        "platform": line_of(4),
        "applications": [
            {"trace": 0, "hosts": [0, 1], "start": 0.0, "weight": 3.0},
            {"trace": 1, "hosts": [2, 3], "start": 0.5, "weight": 1.0},
        ],
        **fields,
    }


def test_the_objective_of_several_applications(tmp_path: Path) -> None:
    traces = [
        write_program(tmp_path / f"{name}.ht", [[encode("compute", flops=flops)]] * 2)
        for name, flops in (("long", 2e9), ("short", 1e9))
    ]
    last = answer_of(traces, two_applications())
    assert last["application_times"] == pytest.approx([2.0, 1.5])
    assert last["simulated_time"] == pytest.approx(2.0)
    mean = answer_of(traces, two_applications(objective="mean"))
    assert mean["simulated_time"] == pytest.approx((3 * 2.0 + 1.5) / 4)


def test_a_cutoff_is_a_cutoff_of_the_objective(tmp_path: Path) -> None:
    traces = [
        write_program(tmp_path / f"{name}.ht", [[encode("compute", flops=flops)]] * 2)
        for name, flops in (("long", 2e9), ("short", 1e9))
    ]
    for cutoff, status in ((1.88, "completed"), (1.87, "censored")):
        answer = answer_of(traces, two_applications(objective="mean", cutoff=cutoff))
        assert answer["status"] == status


def test_an_unknown_objective_is_refused(tmp_path: Path) -> None:
    trace = write_program(tmp_path / "p.ht", [[PLAIN_STEP]])
    answer = answer_of(trace, on_a_line(0, objective="least"))
    assert answer["reason"]["message"] == 'objective: must be "last" or "mean"'
