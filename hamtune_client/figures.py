"""Data frames and figures of a job, with libraries that are only loaded here."""

from __future__ import annotations

import csv
import importlib.util
import io
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from hamtune_client.calls import HamtuneClientError

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["form_of_table", "frame", "plot", "rows"]


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
        axes: Of matplotlib; None for new ones.

    Returns:
        The axes.

    Raises:
        HamtuneClientError: matplotlib is not installed.
    """
    try:
        from matplotlib import pyplot
    except ImportError:
        raise HamtuneClientError(
            "matplotlib is needed for figures: pip install matplotlib"
        ) from None
    if axes is None:
        _, axes = pyplot.subplots(figsize=(8, 4.5))
    # Comparisons are told by another network model, which is another yardstick.
    own = [one for one in trials if one["kind"] != "comparison"]
    done = [one for one in own if one["state"] == "completed"]
    cut_at, cut = _points([one for one in own if one["state"] == "censored"])
    found_at, found = _points([one for one in done if one["kind"] != "baseline"])
    best = list(accumulate(found, min))
    axes.scatter(cut_at, cut, s=12, marker="^", color="0.7", label="censored")
    axes.scatter(found_at, found, s=14, label="completed")
    axes.step(found_at, best, where="post", color="C3", label="best so far")
    for one in done:
        if one["kind"] == "baseline":
            _baseline(axes, one["label"], float(one["value"]))
    axes.set(title=name, xlabel="trial", ylabel="simulated time [s]")
    axes.legend()
    return axes


def _points(trials: Sequence[Mapping[str, str]]) -> tuple[list[int], list[float]]:
    """Numbers of trials, and their simulated seconds."""
    return [int(one["number"]) for one in trials], [float(one["value"]) for one in trials]


def _baseline(axes: Any, label: str, value: float) -> None:
    axes.axhline(value, color="0.5", linewidth=0.8, linestyle="--")
    axes.annotate(
        label,
        (1.0, value),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
        fontsize="small",
    )
