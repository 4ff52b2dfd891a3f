"""The examples in docstrings run as they are written."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["configuration", "graph", "jobspec.spec", "machine", "space"])
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"searchspace.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
