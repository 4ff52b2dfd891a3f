"""The C++ parts of the domain include each other in one direction."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

KERNELS = Path(__file__).resolve().parents[3] / "searchspace/kernels"
MAY_INCLUDE = {
    "graph": {"graph"},
    "trace": {"graph", "trace"},
    "network": {"graph", "network"},
    "ordering": {"graph", "ordering"},
    "regression": {"graph", "regression"},
    "mapping": {"graph", "trace", "mapping"},
}
_INCLUDE = re.compile(r'#include "searchspace/kernels/(\w+)/')


def test_each_folder_has_its_rule() -> None:
    folders = {path.parent for path in KERNELS.rglob("*.cpp")}
    assert {path.relative_to(KERNELS).parts[0] for path in folders - {KERNELS}} == set(MAY_INCLUDE)
    assert [path.name for path in KERNELS.glob("*.cpp")] == ["module.cpp"]


@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_a_folder_includes_what_lies_below_it(folder: str) -> None:
    files = [path for path in (KERNELS / folder).rglob("*") if path.suffix in (".cpp", ".hpp")]
    included = {name for path in files for name in _INCLUDE.findall(path.read_text())}
    assert included <= MAY_INCLUDE[folder]


def test_the_trace_library_of_the_simulator_needs_no_graphs() -> None:
    """Its sources are those of `hamtune_trace` in CMakeLists.txt, which Python's module links."""
    text = (KERNELS / "CMakeLists.txt").read_text()
    (sources,) = re.findall(r"add_library\(hamtune_trace STATIC\s+([^)]*)\)", text)
    for name in sources.split():
        assert set(_INCLUDE.findall((KERNELS / name).read_text())) <= {"trace"}
