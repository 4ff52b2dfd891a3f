"""Finish times of thousands of ranks and loads of as many cables, in a few numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

__all__ = ["EXAMPLE", "MOST_LISTED", "WORST", "Summary", "listed", "summarize"]

MOST_LISTED = 4096
"""Of more ranks or cables an answer lists each one only where it is asked to."""
WORST = 50
_QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)

EXAMPLE: dict[str, Any] = {
    "rank_finish_times": {
        "ranks": 2,
        "quantiles": {"0": 0.0711, "0.5": 0.0711, "1": 0.0712},
        "worst": [
            {"application": 0, "rank": 1, "seconds": 0.0712},
            {"application": 0, "rank": 0, "seconds": 0.0711},
        ],
    },
    "link_loads": {
        "cables": 1,
        "bytes": 2097152,
        "quantiles": {"0": 1048576, "0.5": 1048576, "1": 1048576},
        "worst": [{"cable": 0, "bytes": [1048576, 1048576]}],
    },
}


class LateRank(BaseModel):
    """A rank that finishes among the last."""

    application: int = Field(description="0, 1, ... in the order of the job.")
    rank: int
    seconds: float


class RankTimes(BaseModel):
    """When the ranks of all applications finish."""

    ranks: int = Field(description="How many finish.")
    quantiles: dict[str, float] = Field(
        description="Simulated seconds by share of the ranks: `0` the first, `0.5` the median, `1` "
        "the last."
    )
    worst: list[LateRank] = Field(description=f"The last {WORST}, the last one first.")


class BusyCable(BaseModel):
    """A cable that carries among the most."""

    cable: int = Field(description="Its place among the cables of the network.")
    bytes: tuple[int, int] = Field(description="Each way.")


class CableLoads(BaseModel):
    """What the cables carry."""

    cables: int
    bytes: int = Field(description="Of all cables, both ways together.")
    quantiles: dict[str, float] = Field(
        description="Bytes of a cable's busier way, by share of the cables."
    )
    worst: list[BusyCable] = Field(description=f"The {WORST} busiest, the busiest first.")


class Summary(BaseModel):
    """What an evaluation measured, in a few numbers; null of what it did not."""

    rank_finish_times: RankTimes | None
    link_loads: CableLoads | None


def summarize(result: Mapping[str, Any] | None) -> Summary | None:
    """The summary of a trial's result; None where there is none.

    Args:
        result: `rank_finish_times` (seconds, by application and rank, None of a rank that does not
            finish) and `link_loads` (bytes both ways, by cable), as far as they are known.
    """
    if result is None:
        return None
    return Summary(
        rank_finish_times=_times(result.get("rank_finish_times") or []),
        link_loads=_loads(result.get("link_loads") or []),
    )


def listed(result: Mapping[str, Any] | None, *, whole: bool) -> dict[str, Any] | None:
    """The result without lists of more than `MOST_LISTED`, unless the whole is asked for."""
    if result is None:
        return None
    lengths = {
        "rank_finish_times": sum(map(len, result.get("rank_finish_times") or [])),
        "link_loads": len(result.get("link_loads") or []),
    }
    return {
        name: value
        for name, value in result.items()
        if whole or lengths.get(name, 0) <= MOST_LISTED
    }


def _times(by_application: Sequence[Sequence[float | None]]) -> RankTimes | None:
    found = [
        (application, rank, seconds)
        for application, times in enumerate(by_application)
        for rank, seconds in enumerate(times)
        if seconds is not None
    ]
    if not found:
        return None
    seconds = np.array([each[2] for each in found], dtype=np.float64)
    return RankTimes(
        ranks=len(found),
        quantiles=_quantiles(seconds),
        worst=[
            LateRank(application=found[at][0], rank=found[at][1], seconds=found[at][2])
            for at in _highest(seconds)
        ],
    )


def _loads(by_cable: Sequence[Sequence[int]]) -> CableLoads | None:
    if not by_cable:
        return None
    both = np.array(by_cable, dtype=np.int64)
    busier = both.max(axis=1)
    return CableLoads(
        cables=len(both),
        bytes=int(both.sum()),
        quantiles=_quantiles(busier),
        worst=[
            BusyCable(cable=at, bytes=(int(both[at, 0]), int(both[at, 1])))
            for at in _highest(busier)
        ],
    )


def _quantiles(values: NDArray[Any]) -> dict[str, float]:
    """Values that occur, none between two of them."""
    found = np.quantile(values, _QUANTILES, method="inverted_cdf")
    return {f"{share:g}": float(value) for share, value in zip(_QUANTILES, found, strict=True)}


def _highest(values: NDArray[Any]) -> list[int]:
    """Where the highest stand; of equal ones the first."""
    return [int(at) for at in np.argsort(-values, kind="stable")[:WORST]]
