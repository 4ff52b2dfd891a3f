"""What every study offers and gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from studies.laboratory import Laboratory

__all__ = ["Cell", "Claim", "Findings", "Plot", "Points", "Study", "Table"]

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
        held: Of a line: each ordinate is kept up to the next abscissa (a convergence curve, a
            cumulative share), so that it climbs in steps.
        errors: Half the 95% confidence interval of each ordinate; empty where there is none.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    joined: bool = False
    held: bool = False
    errors: tuple[float, ...] = ()


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
        ticks: What the abscissas 0, 1, 2, ... stand for; empty where they are numbers.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    points: tuple[Points, ...]
    logarithmic: str = ""
    ticks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A direction that the paper reports, held against what was found here.

    Attributes:
        paper: What it says.
        here: What was found, in figures.
        holds: Whether that is the paper's direction.
        why: Where it is not: the reason, as far as it is known.
    """

    paper: str
    here: str
    holds: bool
    why: str = ""


@dataclass(frozen=True)
class Findings:
    """What a study found.

    Attributes:
        tables: In the order to be read.
        plots: In the order to be looked at.
        claims: The directions that the paper reports, and whether they are found here.
        remarks: What a reader must know: how the setting differs from the paper's.
        data: Files with everything that was found, by name.
    """

    tables: tuple[Table, ...]
    plots: tuple[Plot, ...] = ()
    claims: tuple[Claim, ...] = ()
    remarks: tuple[str, ...] = ()
    data: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Study:
    """A table or figure of a paper, made again.

    Attributes:
        name: On the command line.
        source: The paper and what of it.
        description: One line for people.
        run: Makes it. A laboratory that is `quick` gets smaller sizes and fewer repetitions.
        takes: What the whole study takes on one core, roughly, in words.
        measures: Whether it measures real programs, and can take what an earlier run measured.
        network_chosen: Whether it is made under the laboratory's model of messages.
    """

    name: str
    source: str
    description: str
    run: Callable[[Laboratory], Findings]
    takes: str = field(default="minutes")
    measures: bool = False
    network_chosen: bool = False
