from dataclasses import asdict

from searchspace.extrapolation import Check, Extrapolated
from service.applications.notes import notes_on

REPEATS = {"captures": 3, "spread": 0.02, "rank_spreads": [0.01, 0.05], "differing_ranks": []}


def test_a_whole_trace_with_declared_computation_needs_no_note() -> None:
    assert notes_on({"program": "ring", "calls": {"send": 4}}) == []


def test_truncation_and_the_clock_are_told() -> None:
    measured = {"stretches": 1000, "seconds": 0.002, "uncertainty": 0.056}

    truncated, computation = notes_on({"truncated": True, "measured": measured})

    assert truncated.startswith("truncated: ")
    assert "1,000 times between calls, 2 us on average: uncertain by 5.6%" in computation


def test_repeated_captures_are_told_with_the_rank_that_differs_most() -> None:
    (spread,) = notes_on({"repeats": REPEATS})
    assert spread.endswith("3 captures, which differ by 2.0% in all and by 5.0% in rank 1")
    _, differing = notes_on({"repeats": {**REPEATS, "differing_ranks": list(range(9))}})
    assert "of 9 ranks differ between captures (0, 1, 2, 3, 4, 5, 6, 7, ...)" in differing


def test_what_a_header_may_leave_empty_is_left_out() -> None:
    nothing = {"stretches": 0, "seconds": 0.0, "uncertainty": 0.0}
    assert notes_on({"measured": nothing}) == []
    (spread,) = notes_on({"repeats": {**REPEATS, "rank_spreads": []}})
    assert spread.endswith("differ by 2.0% in all")


def test_an_extrapolated_run_is_told_with_its_check() -> None:
    made = Extrapolated(
        ranks=4096,
        from_ranks=(64, 128, 256),
        left_aside=(32,),
        grid="a grid of 3 dimensions",
        classes="by the borders of the grid",
        class_count=27,
        operations=10,
        rounding=0.01,
        check=Check(256, (64, 128), calls=0.0, bytes=0.001, flops=-0.02),
        check_obstacle=None,
    )

    assert notes_on({"extrapolated": asdict(made)}) == [
        "from captures of 64, 128, 256 ranks; a grid of 3 dimensions",
        "by the borders of the grid: 27 classes",
        "left aside, of another pattern: 32 ranks",
        "the problem does not divide evenly: sizes are off by 1.00% at most",
        "check: 256 ranks predicted from 64, 128: calls +0.00%, bytes +0.10%, flops -2.00%",
    ]
    unchecked = asdict(made) | {"check": None, "check_obstacle": "too few captures", "rounding": 0}
    assert notes_on({"extrapolated": unchecked})[-1] == "not checked: too few captures"
