"""OpenTuner is imported here once, so that no test is left with the formatter it puts in place."""

import logging
import warnings

import pytest

_formatter = logging.Formatter
with warnings.catch_warnings(action="ignore"):
    import opentuner.search.technique  # noqa: F401

logging.Formatter = _formatter  # type: ignore[misc]


@pytest.fixture(scope="session", autouse=True)
def patched_opentuner() -> None:
    """OpenTuner as its process has it."""
    from tuner import opentuner_patches

    opentuner_patches.apply()
