"""What every study offers and gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from studies.laboratory import Laboratory

__all__ = ["Cell", "Findings", "Plot", "Points", "Study", "Table"]

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """A table, ours beside the paper's.

    Attributes:
        title: What it shows.
        columns: Headings.
        rows: Cells in their order; None where there is nothing.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Points:
    """Points of a plot.

    Attributes:
        label: Of the legend.
        x: Abscissas.
        y: Ordinates.
        joined: Whether a line joins them.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    joined: bool = False


@dataclass(frozen=True)
class Plot:
    """A plot.

    Attributes:
        name: Of its file, without suffix.
        title: What it shows.
        x_label: What the abscissa is, with its unit.
        y_label: What the ordinate is, with its unit.
        points: What is drawn.
        logarithmic: Axes with a logarithmic scale, of "x" and "y".
    """

    name: str
    title: str
    x_label: str
    y_label: str
    points: tuple[Points, ...]
    logarithmic: str = ""


@dataclass(frozen=True)
class Findings:
    """What a study found.

    Attributes:
        tables: In the order to be read.
        plots: In the order to be looked at.
        remarks: What a reader must know: where we differ from the paper, and why.
    """

    tables: tuple[Table, ...]
    plots: tuple[Plot, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """A table or figure of a paper, made again.

    Attributes:
        name: On the command line.
        source: The paper and what of it.
        description: One line for people.
        run: Makes it. A laboratory that is `quick` gets smaller sizes and fewer repetitions.
        takes: What the whole study takes on one core, roughly, in words.
    """

    name: str
    source: str
    description: str
    run: Callable[[Laboratory], Findings]
    takes: str = field(default="minutes")
