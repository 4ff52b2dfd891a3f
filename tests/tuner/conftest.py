"""OpenTuner is imported here once, so that no test is left with the formatter it puts in place.

Beside it the storage of jobs, and what becomes of the standard job where nothing goes wrong.
"""

import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storage.storage import Storage
from tests.tuner.analytic import open_storage
from tests.tuner.driving import essence, run

_formatter = logging.Formatter
with warnings.catch_warnings(action="ignore"):
    import opentuner.search.technique  # noqa: F401

logging.Formatter = _formatter  # type: ignore[misc]


@pytest.fixture(scope="session", autouse=True)
def patched_opentuner() -> None:
    """OpenTuner as its process has it."""
    from tuner import opentuner_patches

    opentuner_patches.apply()


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    opened = open_storage(tmp_path)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """The trials of the standard job, run by one worker at a time."""
    storage = open_storage(tmp_path_factory.mktemp("undisturbed"))
    trials = essence(storage, run(storage, workers=1))
    storage.close()
    return trials
