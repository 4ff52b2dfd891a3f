"""What a decision table is worth: gains over the library's own choice, in words and pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from searchspace.collectives import DEFAULT
from searchspace.collectives.decision_table import Row, Times, chosen
from searchspace.units import format_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Gains", "gains_of", "picture"]


@dataclass(frozen=True)
class Gains:
    """How much faster the calls of a collective are than by the library's own choice.

    Attributes:
        cells: By ranks and bytes.
        single: The mean gain of the best algorithm that one would name for all of them, and which;
            no algorithm where none can be named for all.
    """

    cells: Mapping[tuple[int, int], float]
    single: tuple[float, str]

    @property
    def mean(self) -> float:
        """The geometric mean; 1 where nothing could be compared."""
        return _mean(list(self.cells.values()) or [1.0])

    @property
    def most(self) -> tuple[float, int, int]:
        """The greatest, and the ranks and bytes where it is; 1 where nothing could be compared."""
        if not self.cells:
            return 1.0, 0, 0
        (ranks, size), gain = max(self.cells.items(), key=lambda item: item[1])
        return gain, ranks, size


def gains_of(rows: Sequence[Row], times: Times) -> Gains:
    """What a table gains at the sizes that were simulated."""
    at = {(ranks, size): one for ranks, sizes in times.items() for size, one in sizes.items()}
    known = {cell: one for cell, one in at.items() if one.get(DEFAULT, 0.0) > 0}
    cells = {cell: one[DEFAULT] / one[chosen(rows, *cell)] for cell, one in known.items()}
    singles = [(1.0, DEFAULT)]
    for name in set.intersection(*(set(one) for one in known.values())) if known else ():
        if all(one[name] > 0 for one in known.values()):
            singles.append((_mean([one[DEFAULT] / one[name] for one in known.values()]), name))
    return Gains(cells, max(singles))


def picture(gains: Mapping[str, Gains]) -> Figure:
    """A map for each collective: gain by bytes and ranks."""
    from matplotlib.figure import Figure

    columns = min(4, len(gains))
    rows = math.ceil(len(gains) / columns)
    figure = Figure(figsize=(4.2 * columns, 3.1 * rows), layout="constrained")
    most = max(one.most[0] for one in gains.values())
    image = None
    for number, (name, one) in enumerate(gains.items(), 1):
        ranks = sorted({cell[0] for cell in one.cells})
        sizes = sorted({cell[1] for cell in one.cells})
        axes = figure.add_subplot(rows, columns, number)
        nan = float("nan")
        values = [[one.cells.get((rank, size), nan) for size in sizes] for rank in ranks]
        image = axes.imshow(
            values, origin="lower", aspect="auto", cmap="viridis", vmin=1, vmax=max(most, 1.01)
        )
        axes.set_title(name)
        axes.set_yticks(range(len(ranks)), [str(rank) for rank in ranks])
        shown = range(0, len(sizes), max(1, len(sizes) // 5))
        axes.set_xticks(shown, [format_size(sizes[at]) for at in shown], fontsize=8)
        axes.set_ylabel("ranks")
        axes.set_xlabel("bytes of a call")
    if image is not None:
        figure.colorbar(image, ax=figure.axes, label="times as fast as the library's own choice")
    return figure


def _mean(gains: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, gains)) / len(gains))
