"""Data frames and figures of a job, with libraries that are only loaded here."""

from __future__ import annotations

import csv
import importlib.util
import io
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from hamtune_client.calls import HamtuneClientError
from hamtune_client.wording import duration

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["form_of_table", "frame", "plot", "rows"]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_COLOURS = ("C1", "C2", "C4", "C5", "C6", "C7", "C8", "C9")
_DASHES = ("--", ":", "-.")
"""Of the baselines: each has a colour, and dashes that change where the colours begin again."""


def form_of_table() -> str:
    """The format of tables that can be read here: the one with types needs pyarrow."""
    return "csv" if importlib.util.find_spec("pyarrow") is None else "parquet"


def frame(table: bytes, form: str) -> DataFrame:
    """The table of trials as a data frame, indexed by the trials' numbers.

    Args:
        table: The file.
        form: `parquet`, or `csv`.

    Raises:
        HamtuneClientError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise HamtuneClientError("pandas is needed for data frames: pip install pandas") from None
    content = io.BytesIO(table)
    read = pandas.read_parquet(content) if form == "parquet" else pandas.read_csv(content)
    return read.set_index("number")


def rows(table: bytes) -> list[dict[str, str]]:
    """The rows of the table of trials in CSV, by the names of its columns."""
    return list(csv.DictReader(io.StringIO(table.decode())))


def plot(trials: Sequence[Mapping[str, str]], name: str, axes: Any) -> Any:
    """Draw the best so far, each trial and the baselines.

    Args:
        trials: From `rows`.
        name: Of the job.
        axes: Of matplotlib; None for new ones, with the legend beside them.

    Returns:
        The axes.

    Raises:
        HamtuneClientError: matplotlib is not installed, or `axes` are none.
    """
    try:
        from matplotlib import pyplot
        from matplotlib.axes import Axes
    except ImportError:
        raise HamtuneClientError(
            "matplotlib is needed for figures: pip install matplotlib"
        ) from None
    if axes is not None and not isinstance(axes, Axes):
        raise HamtuneClientError(
            f"plot draws into axes of matplotlib, not into {axes!r}; what it returns can be saved: "
            "job.plot().figure.savefig('job.png')"
        )
    place: dict[str, Any] = {}
    if axes is None:
        _, axes = pyplot.subplots(figsize=(9, 4.5), layout="constrained")
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    # Comparisons are told by another network model, which is another yardstick.
    own = [one for one in trials if one["kind"] != "comparison"]
    done = [one for one in own if one["state"] == "completed"]
    cut = [one for one in own if one["state"] == "censored"]
    scale, unit = _unit_of([float(one["value"]) for one in [*done, *cut]])
    axes.scatter(*_points(cut, scale), s=12, marker="^", color="0.7", label="censored")
    found_at, found = _points([one for one in done if one["kind"] != "baseline"], scale)
    axes.scatter(found_at, found, s=14, color="C0", label="completed")
    best = list(accumulate(found, min))
    axes.step(found_at, best, where="post", color="C3", label="best so far")
    _baselines(axes, [one for one in done if one["kind"] == "baseline"], scale)
    axes.set(title=_plain(name), xlabel="trial", ylabel=f"simulated time [{unit}]")
    axes.legend(fontsize="small", **place)
    return axes


def _plain(text: str) -> str:
    """What people called something, so that matplotlib shows it as it is.

    Otherwise it would read what is between two `$` as a formula, and leave out of legends what
    begins with `_`.
    """
    shown = text.replace("$", r"\$")
    return f"\u200b{shown}" if shown.startswith("_") else shown


def _unit_of(values: Sequence[float]) -> tuple[float, str]:
    """The unit that shows these seconds with digits before the point: (its seconds, name)."""
    largest = max(values, default=1.0)
    return next((one for one in _UNITS if largest >= one[0]), _UNITS[-1])


def _points(trials: Sequence[Mapping[str, str]], scale: float) -> tuple[list[int], list[float]]:
    """Numbers of trials, and their simulated time in units of so many seconds."""
    return [int(one["number"]) for one in trials], [float(one["value"]) / scale for one in trials]


def _baselines(axes: Any, baselines: Sequence[Mapping[str, str]], scale: float) -> None:
    """A line across for each, fastest first; the legend names them, for they may lie close."""
    ordered = sorted(baselines, key=lambda one: float(one["value"]))
    for number, one in enumerate(ordered):
        lap, place = divmod(number, len(_COLOURS))
        axes.axhline(
            float(one["value"]) / scale,
            color=_COLOURS[place],
            linewidth=0.9,
            linestyle=_DASHES[lap % len(_DASHES)],
            label=_plain(f"{one['label']}: {duration(float(one['value']))}"),
        )
