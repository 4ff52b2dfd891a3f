from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.curves import Axis, Curve, unit_for
from cli.figures import _spread, convergence_figure, proximity_figure, render


def curve(name: str = "cg-64", **changes: object) -> Curve:
    fields: dict[str, object] = {
        "name": name,
        "axis": Axis(label="trial", values=(1.0, 2.0, 3.0, 4.0, 5.0)),
        "states": ("completed", "completed", "censored", "failed", "completed"),
        "values": (0.09, 0.08, 0.08, None, 0.05),
        "best": (0.09, 0.08, 0.08, 0.08, 0.05),
        "baselines": {"mesh-2d": 0.09, "torus-3d": 0.08},
        "proximity": (0.4, 0.4, 1.0),
    }
    return Curve(**(fields | changes))  # type: ignore[arg-type]


def test_the_reference_is_the_best_baseline_or_else_the_first_trial() -> None:
    assert curve().best_baseline == ("torus-3d", 0.08)
    assert curve().reference == 0.08
    assert curve(baselines={}).reference == 0.09


@pytest.mark.parametrize(
    ("seconds", "unit"), [(2.0, "s"), (0.25, "ms"), (3e-5, "us"), (4e-9, "ns"), (1e-12, "ns")]
)
def test_the_unit_puts_digits_before_the_point(seconds: float, unit: str) -> None:
    assert unit_for([seconds / 7, seconds])[1] == unit


def test_the_figure_of_one_job_shows_its_curve_trials_and_baselines() -> None:
    figure = convergence_figure([curve()])

    (axes,) = figure.axes
    lines = {line.get_label(): line for line in axes.lines}
    assert list(np.asarray(lines["best so far"].get_ydata())) == pytest.approx([90, 80, 80, 80, 50])
    assert {text.get_text() for text in axes.texts} == {"mesh-2d", "torus-3d"}
    assert [len(np.asarray(points.get_offsets())) for points in axes.collections] == [3, 1]
    assert axes.get_ylabel() == "simulated time (ms)"
    assert "1.6 × faster than the best baseline (torus-3d, 80 ms)" in axes.get_title("left")


def test_several_jobs_are_drawn_relative_to_their_best_baselines() -> None:
    figure = convergence_figure([curve(), curve("mg-64", baselines={"mesh-3d": 0.1})])

    (axes,) = figure.axes
    assert list(np.asarray(axes.lines[0].get_ydata()))[-1] == pytest.approx(0.05 / 0.08)
    assert list(np.asarray(axes.lines[1].get_ydata()))[-1] == pytest.approx(0.5)


def test_a_job_without_baselines_claims_no_gain_over_one() -> None:
    without = curve("new", baselines={})
    (axes,) = convergence_figure([curve("old"), without]).axes
    assert [line.get_label() for line in axes.lines][:2] == [
        "old: best baseline / best = 1.6",
        "new: first trial / best = 1.8",
    ]
    assert axes.get_ylabel() == "best simulated time / best baseline or first trial"

    (axes,) = convergence_figure([without, without]).axes
    assert axes.get_ylabel() == "best simulated time / first trial"


@pytest.mark.parametrize("name", ["_hidden", "$", r"a $\foo$ b", "_$x$", r"c:\$d\$e", "a_b^c"])
def test_names_are_drawn_as_they_are(name: str) -> None:
    one = curve(name, baselines={name: 0.08})
    for figure in (
        convergence_figure([one]),
        convergence_figure([one, one]),
        proximity_figure([one]),
    ):
        assert render(figure, "png").startswith(b"\x89PNG")
        drawn = render(figure, "svg").decode()
        assert f"<!-- {name}".replace("_", "\u200b_", name.startswith("_")) in drawn


def test_the_proximity_figure_tells_when_ninety_percent_is_reached() -> None:
    (axes,) = proximity_figure([curve()]).axes

    assert axes.lines[0].get_label() == "cg-64: 90% after 100% of trials"


def test_a_thinned_proximity_is_drawn_where_it_holds() -> None:
    thin = curve(proximity=(0.5, 0.95, 1.0), proximity_at=(1, 50, 100))
    (axes,) = proximity_figure([thin]).axes

    assert list(np.asarray(axes.lines[0].get_xdata())) == pytest.approx([1.0, 50.0, 100.0])
    assert axes.lines[0].get_label() == "cg-64: 90% after 50% of trials"


def test_a_job_without_a_completed_trial_can_be_drawn() -> None:
    nothing = curve(states=("failed",) * 5, values=(None,) * 5, best=(None,) * 5, baselines={})

    for figure in (convergence_figure([nothing]), proximity_figure([nothing])):
        assert render(figure, "png").startswith(b"\x89PNG")


def test_equal_figures_are_equal_files() -> None:
    first, second = (render(convergence_figure([curve()]), "svg") for _ in range(2))

    assert first == second
    assert ElementTree.fromstring(first).tag.endswith("svg")


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12).map(sorted), st.floats(0.1, 10))
def test_labels_are_moved_apart_in_order(heights: list[float], step: float) -> None:
    places = _spread(heights, step)

    assert len(places) == len(heights)
    assert all(b - a >= step - 1e-6 for a, b in pairwise(places))
    if all(b - a >= step for a, b in pairwise(heights)):
        assert places == pytest.approx(heights)
