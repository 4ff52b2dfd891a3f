from hypothesis import given
from hypothesis import strategies as st

from service.trials.summary import MOST_LISTED, WORST, listed, summarize

RESULT = {
    "rank_finish_times": [[0.5, None, 2.0], [1.0]],
    "link_loads": [[8, 0], [3, 900], [0, 0]],
    "estimate": {"played": 0.1, "error": 0.0},
}


def test_the_last_ranks_and_the_busiest_cables_come_first() -> None:
    summary = summarize(RESULT)
    assert summary is not None
    times, loads = summary.rank_finish_times, summary.link_loads
    assert times is not None
    assert loads is not None
    assert times.ranks == 3
    assert [(late.application, late.rank, late.seconds) for late in times.worst] == [
        (0, 2, 2.0),
        (1, 0, 1.0),
        (0, 0, 0.5),
    ]
    assert (loads.cables, loads.bytes) == (3, 911)
    assert [(busy.cable, busy.bytes) for busy in loads.worst] == [
        (1, (3, 900)),
        (0, (8, 0)),
        (2, (0, 0)),
    ]


def test_what_was_not_measured_has_no_summary() -> None:
    assert summarize(None) is None
    empty = summarize({"rank_finish_times": [[None]]})
    assert empty is not None
    assert (empty.rank_finish_times, empty.link_loads) == (None, None)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=300))
def test_quantiles_are_times_of_ranks_in_order(times: list[float]) -> None:
    summary = summarize({"rank_finish_times": [times]})
    assert summary is not None
    assert summary.rank_finish_times is not None
    found = list(summary.rank_finish_times.quantiles.values())
    assert found == sorted(found)
    assert (found[0], found[-1]) == (min(times), max(times))
    assert set(found) <= set(times)
    worst = [late.seconds for late in summary.rank_finish_times.worst]
    assert worst == sorted(times, reverse=True)[:WORST]


def test_long_lists_are_left_out_unless_they_are_asked_for() -> None:
    long = {**RESULT, "link_loads": [[1, 1]] * (MOST_LISTED + 1)}
    assert listed(RESULT, whole=False) == RESULT
    assert listed(long, whole=True) == long
    shown = listed(long, whole=False)
    assert shown is not None
    assert set(shown) == {"rank_finish_times", "estimate"}
    assert listed(None, whole=True) is None
