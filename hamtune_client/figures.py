"""Data frames and figures of a job, with libraries that are only loaded here."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from hamtune_client.calls import HamtuneClientError

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["frame", "plot"]


def frame(parquet: bytes) -> DataFrame:
    """The table of trials as a data frame, indexed by the trials' numbers.

    Raises:
        HamtuneClientError: pandas or pyarrow is not installed.
    """
    try:
        import pandas
        import pyarrow  # noqa: F401 - what pandas reads the table with
    except ImportError as error:
        raise HamtuneClientError(
            f"{error.name} is needed for data frames; install pandas and pyarrow"
        ) from None
    return pandas.read_parquet(io.BytesIO(parquet)).set_index("number")


def plot(trials: DataFrame, name: str, axes: Any) -> Any:
    """Draw the best so far, each trial and the baselines.

    Args:
        trials: From `frame`.
        name: Of the job.
        axes: Of matplotlib; None for new ones.

    Returns:
        The axes.
    """
    try:
        from matplotlib import pyplot
    except ImportError:
        raise HamtuneClientError("matplotlib is needed for figures; install it") from None
    if axes is None:
        _, axes = pyplot.subplots(figsize=(8, 4.5))
    # Comparisons are told by another network model, which is another yardstick.
    trials = trials[trials["kind"] != "comparison"]
    done = trials[trials["state"] == "completed"]
    search = done[done["kind"] != "baseline"]
    cut = trials[trials["state"] == "censored"]
    axes.scatter(cut.index, cut["value"], s=12, marker="^", color="0.7", label="censored")
    axes.scatter(search.index, search["value"], s=14, label="completed")
    axes.step(search.index, search["value"].cummin(), where="post", color="C3", label="best so far")
    for _, row in done[done["kind"] == "baseline"].iterrows():
        axes.axhline(row["value"], color="0.5", linewidth=0.8, linestyle="--")
        axes.annotate(
            row["label"],
            (1.0, row["value"]),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize="small",
        )
    axes.set(title=name, xlabel="trial", ylabel="simulated time [s]")
    axes.legend()
    return axes
