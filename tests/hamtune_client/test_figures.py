"""The figure of a job: its unit, its legend, and axes of one's own."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from hamtune_client import HamtuneClientError
from hamtune_client.figures import plot


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    plt.close("all")


def trial(number: int, value: float, kind: str = "search", **fields: str) -> dict[str, str]:
    """A row of the table of trials."""
    row = {"number": str(number), "value": str(value), "kind": kind, "label": "", **fields}
    return {"state": "completed", **row}


def baselines(values: list[float]) -> list[dict[str, str]]:
    return [
        trial(number, value, "baseline", label=f"network-{number}")
        for number, value in enumerate(values, 1)
    ]


@pytest.mark.parametrize(
    ("values", "unit", "shown"),
    [
        ([0.002, 0.00125], "ms", [2.0, 1.25]),
        ([4.5e-05, 3e-05], "us", [45.0, 30.0]),
        ([80.0, 20.0], "s", [80.0, 20.0]),
    ],
)
def test_the_axis_has_the_unit_that_fits(
    values: list[float], unit: str, shown: list[float]
) -> None:
    axes = plot([trial(n, value) for n, value in enumerate(values, 1)], "job", None)

    assert axes.get_ylabel() == f"simulated time [{unit}]"
    (best,) = (line for line in axes.lines if line.get_label() == "best so far")
    assert best.get_ydata().tolist() == pytest.approx(shown)
    assert axes.collections[1].get_offsets()[:, 1].tolist() == pytest.approx(shown)


@pytest.mark.parametrize("name", ["_hidden", r"a $\foo$ b", "$1"])
def test_names_are_drawn_as_they_are(name: str) -> None:
    axes = plot([trial(1, 1.0, "baseline", label=name), trial(2, 0.5)], name, None)
    axes.figure.canvas.draw()
    drawn = io.StringIO()
    axes.figure.savefig(drawn, format="svg")
    shown = f"\u200b{name}" if name.startswith("_") else name
    assert f"<!-- {shown} -->" in drawn.getvalue()
    assert f"<!-- {shown}: 1 s -->" in drawn.getvalue()


def test_baselines_that_lie_close_are_told_apart_in_the_legend() -> None:
    rows = [*baselines([0.002 + n * 1e-8 for n in range(20)]), trial(21, 0.0015)]
    axes = plot(rows, "job", None)
    lines = [line for line in axes.lines if line.get_label().startswith("network-")]

    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 20
    assert lines[0].get_label() == "network-1: 2 ms"
    assert list(lines[0].get_ydata()) == pytest.approx([2.0, 2.0])
    axes.figure.canvas.draw()
    legend = axes.get_legend()
    boxes = [text.get_window_extent() for text in legend.get_texts()]
    assert not any(one.overlaps(other) for one, other in pairwise(boxes))
    assert not legend.get_window_extent().overlaps(axes.get_window_extent())
    assert not axes.texts


def test_axes_of_ones_own_are_drawn_into_and_can_be_saved(tmp_path: Path) -> None:
    _, mine = plt.subplots()

    assert plot([trial(1, 1.0)], "job", mine) is mine
    mine.figure.savefig(tmp_path / "job.png")
    assert (tmp_path / "job.png").read_bytes().startswith(b"\x89PNG")


def test_the_name_of_a_file_is_no_axes() -> None:
    with pytest.raises(HamtuneClientError, match=r"not into 'x.png'; .*savefig\('job.png'\)"):
        plot([trial(1, 1.0)], "job", "x.png")
