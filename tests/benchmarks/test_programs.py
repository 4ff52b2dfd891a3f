"""Every feature of MPI-3.1 becomes in a capture what docs/programs.md says of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.programs.comparing import EXACT, compare, replayed
from benchmarks.programs.gallery import FEATURES, RANKS, SOURCE, build_features
from benchmarks.tables_in_docs import table_of
from searchspace.errors import InvalidInput
from workers.capture import CaptureFailed, capture


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build_features(tmp_path_factory.mktemp("features"))


def names(state: str) -> list[str]:
    return [feature.name for feature in FEATURES if feature.state == state]


def test_all_features_are_listed_once_and_documented() -> None:
    listed = [feature.name for feature in FEATURES]
    defined = re.findall(r"FEATURE\(([a-z_]+)\)", SOURCE.read_text())
    assert sorted(listed) == sorted(defined)
    assert len(listed) >= 60
    shown = {"exact": "works exactly", "works": "works", "refused": "refused by name"}
    rows = table_of("programs.md", "features")
    for feature in FEATURES:
        name = feature.name.replace("_", " ")
        assert f"| {feature.chapter} | {name} | {shown[feature.state]} |" in rows


def test_what_works_exactly_takes_the_time_of_plain_smpirun(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    recorded, plain = (str(program) for program in built)
    outcome = compare([recorded, *names("exact")], [plain, *names("exact")], RANKS, tmp_path)
    assert outcome.state == "exact", outcome
    assert outcome.difference is not None
    assert outcome.difference <= EXACT


def test_what_works_is_captured_and_replayed(built: tuple[Path, Path], tmp_path: Path) -> None:
    # In one program: each leaves the ranks at other times, so the next one is met by late ranks.
    trace = tmp_path / "t.ht"
    command = [str(built[0]), *names("works")]
    capture(command, RANKS, trace, declared_flops=True, sandbox=False)
    assert all(seconds is not None for seconds, _ in replayed(trace, RANKS))


@pytest.mark.parametrize("name", names("refused"))
def test_what_is_refused_is_named(name: str, built: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises((InvalidInput, CaptureFailed), match=r"MPI_\w+") as refused:
        capture([str(built[0]), name], 4, tmp_path / "t.ht", declared_flops=True, sandbox=False)
    assert "src/" not in str(refused.value)
    assert "Backtrace" not in str(refused.value)
