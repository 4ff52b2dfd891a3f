"""Tables of trials as REST shows them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from service.jobs.schemas import BestSoFar
from storage.records import TrialState

__all__ = [
    "EXAMPLE",
    "ROWS_EXAMPLE",
    "Coded",
    "Columns",
    "OpenTrial",
    "Parameter",
    "RowsView",
    "TableView",
]

EXAMPLE: dict[str, Any] = {
    "job_id": "0k3v9m2x7q1zt8ab",
    "total": 2,
    "cursor": 812,
    "columns": {
        "number": [1, 2],
        "value": [0.084, 0.0712],
        "best": [0.084, 0.0712],
        "wall_seconds": [1.4, 2.7],
        "cpu_seconds": [1.2, 2.4],
        "proximity": [None, 1.0],
        "started_at": [1790000001.2, 1790000002.5],
        "finished_at": [1790000002.4, 1790000003.7],
        "took_seconds": [1.3, 1.1],
        "cached": [False, False],
        "inside": [True, True],
        "state": {"values": ["completed"], "codes": [0, 0]},
        "kind": {"values": ["baseline", "search"], "codes": [0, 1]},
        "technique": {"values": ["UniformGreedyMutation"], "codes": [-1, 0]},
        "label": {"values": ["torus-3d"], "codes": [0, -1]},
        "worker": {"values": ["node7-4121"], "codes": [0, 0]},
        "fidelity": {"values": ["full"], "codes": [0, 0]},
    },
    "parameters": [{"name": "topology", "values": ["torus-3d", "random"], "codes": [0, 1]}],
    "open": [{"number": 3, "state": "running", "worker": "node7-4121", "started_at": 1790000003.8}],
    "best": {"trial": 2, "value": 0.0712},
    "initial": {"trial": 2, "value": 0.0712},
    "baselines": {"torus-3d": 0.084},
    "gains": {"torus-3d": 1.18},
    "error": 0.05,
    "speedup": 1.0,
    "close": 0.9,
    "trials_to_reach": 1,
    "share": 1.0,
}


class Coded(BaseModel):
    """A column with few different values."""

    values: list[Any] = Field(description="The different values.")
    codes: list[int] = Field(description="For each row the index of its value; -1 for none.")


class Parameter(Coded):
    """A column of the configurations."""

    name: str = Field(description="Dotted name of the parameter.")


class Columns(BaseModel):
    """What is known of each trial that has an outcome; the lists are equally long."""

    number: list[int]
    value: list[float | None] = Field(description="Simulated seconds; a bound when censored.")
    best: list[float | None] = Field(description="Lowest value up to here, of the search space.")
    wall_seconds: list[float] = Field(description="From the job's start to here.")
    cpu_seconds: list[float] = Field(description="Of the simulator, up to here.")
    proximity: list[float | None] = Field(description="C(n), of trials of the search.")
    started_at: list[float]
    finished_at: list[float | None]
    took_seconds: list[float | None] = Field(
        description="Of its own evaluation. A worker may take several trials at once and evaluate "
        "them one after another; these start and finish together."
    )
    cached: list[bool]
    inside: list[bool] = Field(
        description="Whether it may be the best: a point of the search space, on the whole trace."
    )
    state: Coded
    kind: Coded
    technique: Coded
    label: Coded
    worker: Coded
    fidelity: Coded


class OpenTrial(BaseModel):
    """A trial without an outcome."""

    number: int
    state: TrialState
    worker: str | None
    started_at: float | None


class TableView(BaseModel):
    """The trials of a job in columns, with the baselines and what the convergence came to."""

    job_id: str
    total: int = Field(description="Trials of the job that have an outcome, shown or not.")
    cursor: int = Field(description="Watch the job's events after this one to miss nothing.")
    columns: Columns
    parameters: list[Parameter] = Field(description="What the configurations chose.")
    open: list[OpenTrial] = Field(description="Trials after `after` that have no outcome.")
    best: BestSoFar | None
    initial: BestSoFar | None
    baselines: dict[str, float]
    gains: dict[str, float | None]
    error: float = Field(description="Of the model, relative: smaller gains are none.")
    speedup: float | None
    close: float
    trials_to_reach: int | None
    share: float | None


class RowsView(BaseModel):
    """Some trials of a job in columns."""

    matching: int = Field(description="Trials of what was asked for, shown or not.")
    columns: Columns
    parameters: list[Parameter] = Field(description="What the configurations chose.")


ROWS_EXAMPLE: dict[str, Any] = {
    "matching": 2,
    "columns": EXAMPLE["columns"],
    "parameters": EXAMPLE["parameters"],
}
