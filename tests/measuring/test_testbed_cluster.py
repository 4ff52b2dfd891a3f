"""What a testbed cannot run, and says so."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from measuring.clusters import Launch, RunFailed
from measuring.testbed_cluster import TestbedCluster


def test_a_testbed_whose_own_library_cannot_be_preloaded_says_where_it_lies() -> None:
    testbed: Any = SimpleNamespace(waiting=lambda library: Path(f"/of mine/{library}.so"))
    with pytest.raises(RunFailed, match=r"preloaded .* /of mine/openmpi.so: .* HAMTUNE_TESTBEDS"):
        TestbedCluster(testbed).run(Launch(command=["true"], ranks=1))
