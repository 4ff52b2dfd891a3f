"""Lists that notebooks show as tables."""

from __future__ import annotations

from typing import Any, TypeVar

from hamtune_client import html
from hamtune_client.known import KnownJob
from hamtune_client.models import Trial
from hamtune_client.wording import duration

__all__ = ["JobList", "RowList", "TrialList"]

J = TypeVar("J", bound=KnownJob)


class JobList(list[J]):
    """Jobs, a row each."""

    def _repr_html_(self) -> str:
        return html.jobs([job.record for job in self])


class TrialList(list[Trial]):
    """Trials, a row each."""

    def _repr_html_(self) -> str:
        return html.trials(self)


class RowList(list[dict[str, Any]]):
    """Rows of the table of trials, each a mapping of a column's name to a value."""

    _SHOWN = ("number", "kind", "state", "value", "label")

    def _repr_html_(self) -> str:
        parameters = [
            {name: value for name, value in row.items() if name.startswith("configuration.")}
            for row in self
        ]
        names = [*self._SHOWN, *html.differing(parameters)]
        rows = [
            [duration(row[name]) if name == "value" else row.get(name) for name in names]
            for row in self
        ]
        return html.table([name.removeprefix("configuration.") for name in names], rows)
