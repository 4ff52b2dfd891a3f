"""Tables of trials as files: one row a trial, open ones included."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from searchspace.configuration import Configuration, canonical_json
from searchspace.errors import InvalidInput
from service.tables.columns import read_trials
from service.tables.study import optuna_study
from storage.records import Job, Trial, TrialState
from storage.view import StorageView

__all__ = ["FILES", "TableFile", "flat_row", "table_file"]


@dataclass(frozen=True)
class TableFile:
    """A format of the whole table.

    Attributes:
        description: One line for people.
        suffix: Of the file's name.
        media_type: Of the download.
        write: Makes the file of a job and its trials.
    """

    description: str
    suffix: str
    media_type: str
    write: Callable[[Job, Sequence[Trial]], bytes]


def table_file(
    storage: StorageView, job: Job, format_name: str, *, states: Collection[TrialState] = ()
) -> tuple[TableFile, bytes]:
    """All trials of a job as a file, or those of some states.

    Raises:
        InvalidInput: There is no such format.
    """
    kind = FILES.get(format_name)
    if kind is None:
        raise InvalidInput(
            f"unknown table format {format_name!r}; allowed: {', '.join(FILES)}", field="format"
        )
    return kind, kind.write(job, list(read_trials(storage, job.id, states=states)))


_FIELDS = (
    "number", "kind", "fidelity", "inside", "label", "state", "value", "cutoff", "cached",
    "technique", "cpu_seconds", "wall_seconds", "peak_rss_bytes", "worker",
    "created_at", "started_at", "finished_at", "configuration_sha256",
)  # fmt: skip


def flat_row(trial: Trial) -> dict[str, Any]:
    """One trial without nesting: its properties, why it has no value, and `configuration.NAME`."""
    row = {name: getattr(trial, name) for name in _FIELDS}
    row["reason"] = None if trial.reason is None else trial.reason.get("message")
    for name, value in Configuration.from_json(trial.configuration).items():
        row[f"configuration.{name}"] = (
            canonical_json(list(value)) if isinstance(value, tuple) else value
        )
    return row


def _names(rows: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys((*_FIELDS, "reason", *(name for row in rows for name in row))))


def _csv(job: Job, trials: Sequence[Trial]) -> bytes:
    rows = [flat_row(trial) for trial in trials]
    text = io.StringIO()
    writer = csv.DictWriter(text, _names(rows), restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


_NUMBERS = {
    "number": "int64", "inside": "bool_", "value": "float64", "cutoff": "float64",
    "cached": "bool_",
    "cpu_seconds": "float64", "wall_seconds": "float64", "peak_rss_bytes": "int64",
    "created_at": "float64", "started_at": "float64", "finished_at": "float64",
}  # fmt: skip


def _parquet(job: Job, trials: Sequence[Trial]) -> bytes:
    try:  # takes a while to load, which other requests should not pay for
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise InvalidInput(
            "this service has no pyarrow, which parquet needs; install it there, or ask for csv",
            field="format",
        ) from None

    rows = [flat_row(trial) for trial in trials]
    columns: dict[str, Any] = {}
    for name in _names(rows):
        cells = [row.get(name) for row in rows]
        kind = _NUMBERS.get(name)
        if kind is not None:
            columns[name] = arrow.array(cells, getattr(arrow, kind)())
        elif name.startswith("configuration.") and _all_of(int, cells):
            columns[name] = arrow.array(cells, arrow.int64())
        else:
            texts = [None if cell is None else str(cell) for cell in cells]
            columns[name] = arrow.array(texts, arrow.string())
    sink = io.BytesIO()
    metadata = {"hamtune.job": job.id, "hamtune.spec": canonical_json(job.spec)}
    parquet.write_table(arrow.table(columns).replace_schema_metadata(metadata), sink)
    return sink.getvalue()


def _all_of(kind: type, cells: Sequence[Any]) -> bool:
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(type(cell) is kind for cell in known)


FILES: dict[str, TableFile] = {
    "csv": TableFile("a row for each trial, for spreadsheets", "csv", "text/csv", _csv),
    "parquet": TableFile(
        "the same with types, for pandas, DuckDB and others",
        "parquet",
        "application/vnd.apache.parquet",
        _parquet,
    ),
    "optuna": TableFile(
        "an Optuna study as a journal, for optuna-dashboard and other tools of Optuna",
        "log",
        "application/octet-stream",
        optuna_study,
    ),
}
"""The formats by name. A new one is a function and an entry here."""
