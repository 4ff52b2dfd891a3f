"""Our engine runs only where all that it takes for granted holds; elsewhere it says why not.

Each case breaks one assumption for real: a program that asks for a name the library lacks, a
library that is loaded before SimGrid, or a program that does not start.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from workers.engine import BUILT, PLAIN, RELEASE, Engine, examine, versions_of

SHIM = Path(__file__).parent / "broken_simgrid.cpp"
LACKING = {  # symbols that are looked up by name, a variable, and one that is linked
    "request": "_ZN7simgrid4smpi7Request5startEv",
    "actor": "_ZN7simgrid6kernel10EngineImpl16get_actor_by_pidEl",
    "sleep": "_ZN7simgrid3s4u10this_actor9sleep_forEd",
    "choice": "MV2_Allreducection",
    "context": "_ZN7simgrid6kernel7context14SwappedContext7suspendEv",
}
SHIMS = {
    "VERSION": "it was built for SimGrid 3.32, and this is 3.99",
    "LARGER_REQUEST": "a request of SMPI is laid out otherwise: it takes 22[0-9] bytes, not 216",
    "MOVED_MEMBER": "a request of SMPI is laid out otherwise: its tag is not where it was",
    "LARGER_COMMUNICATOR": "a communicator takes 30[0-9]{2} bytes, not at most 2048",
    "OTHER_SYMBOL": r".*\.so takes the place of _ZN7simgrid4smpi7Request4waitEPPS1_P10MPI_Status",
    "OTHER_TIMES": "[0-9]+ of 20 small evaluations come out otherwise than SimGrid's",
    "CRASH": "it ended by signal 6",
}

pytestmark = pytest.mark.skipif(
    versions_of(PLAIN)["simgrid"] != RELEASE,
    reason="this SimGrid is not the release that our engine is made for",
)


@pytest.fixture(autouse=True)
def _nothing_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def preload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Has what starts from now on load a library that breaks one assumption."""

    def build(case: str) -> None:
        shim = tmp_path / f"{case.lower()}.so"
        command = ["c++", "-shared", "-fPIC", "-O1", f"-D{case}"]
        subprocess.run([*command, SHIM, "-o", shim, "-ldl"], check=True)
        monkeypatch.setenv("LD_PRELOAD", str(shim))

    return build


def fallen_back(engine: Engine) -> str:
    """Why SimGrid's engine runs; the program that then runs must start."""
    assert engine.why_off is not None
    assert engine.program == PLAIN
    assert str(engine) == f"simgrid {engine.versions['simgrid']} (express off: {engine.why_off})"
    return engine.why_off


def test_all_holds_with_the_library_that_it_was_built_for() -> None:
    found = examine(BUILT, PLAIN)
    assert found.why_off is None
    assert (found.program, str(found)) == (BUILT, "express 1.2 on SimGrid 3.32")


def test_what_was_found_is_remembered_until_something_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examine(BUILT, PLAIN)
    (remembered,) = (tmp_path / "cache/hamtune").glob("engine-*.json")
    remembered.write_text('{"why_off": "so it was found"}')
    assert examine(BUILT, PLAIN).why_off == "so it was found"
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert examine(BUILT, PLAIN).why_off is None


@pytest.mark.parametrize("symbol", LACKING.values(), ids=LACKING)
def test_a_library_that_lacks_what_it_asks_for(symbol: str, tmp_path: Path) -> None:
    asks = tmp_path / BUILT.name
    shutil.copy(BUILT, asks)
    other = symbol[:-1] + chr(ord(symbol[-1]) ^ 1)
    content = asks.read_bytes()
    named = f"\0{symbol}\0".encode()
    assert named in content
    asks.write_bytes(content.replace(named, f"\0{other}\0".encode()))
    why = fallen_back(examine(asks, PLAIN))
    assert other in why or "keep their choices" in why


@pytest.mark.parametrize(("case", "expected"), SHIMS.items(), ids=SHIMS)
def test_a_library_that_is_not_what_it_was(
    case: str, expected: str, preload: Callable[[str], None]
) -> None:
    preload(case)
    assert re.fullmatch(expected + "(, and .*)?", fallen_back(examine(BUILT, PLAIN)))


def test_a_program_that_was_not_built(tmp_path: Path) -> None:
    missing = tmp_path / "hamtune-simulator"
    why = fallen_back(examine(missing, PLAIN))
    assert why == "not built; it needs SimGrid 3.32"


def test_a_program_that_is_cut_short(tmp_path: Path) -> None:
    cut = tmp_path / "hamtune-simulator"
    shutil.copy(BUILT, cut)
    os.truncate(cut, 20_000)
    assert fallen_back(examine(cut, PLAIN))


def test_both_programs_name_themselves() -> None:
    ours: Mapping[str, str] = versions_of(BUILT)
    plain: Mapping[str, str] = versions_of(PLAIN)
    assert (ours["engine"], plain["engine"]) == ("1.2", "")
    assert ours["program"] != plain["program"]
    assert ours["library"] == plain["library"]
