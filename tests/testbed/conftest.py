"""Emulated clusters of the tests' own: in directories and namespaces that nobody else sees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed import clusters
from testbed.doctor import examine


@pytest.fixture(scope="session")
def able() -> None:
    """Skips where the kernel forbids emulated clusters."""
    failed = [finding.text for finding in examine() if finding.status == "failed"]
    if failed:
        pytest.skip(failed[0])


@pytest.fixture
def own_testbeds(able: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where this test's clusters are; taken down afterwards."""
    root = tmp_path / "testbeds"
    monkeypatch.setenv("HAMTUNE_TESTBEDS", str(root))
    yield root
    for name in clusters.known_names():
        clusters.take_down(name)
