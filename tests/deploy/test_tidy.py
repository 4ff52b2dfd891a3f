"""What is checked of the C++, and how findings are told."""

from pathlib import Path

from deploy.tidy import checked, findings

IN_A_HEADER = """\
/src/workers/simulator/rank.hpp:7:3: warning: slicing object [cppcoreguidelines-slicing]
  rank = other;
  ^
"""
IN_A_SOURCE = """\
/src/workers/simulator/rank.cpp:12:9: error: Division by zero [clang-analyzer-core.DivideZero]
  return ranks / 0;
/src/workers/simulator/rank.cpp:3:1: note: Assuming there are none
"""


def test_kernels_and_simulator_are_checked_each_file_once() -> None:
    root = Path("/src")
    ours = [root / "searchspace/kernels/trace/periods.cpp", root / "workers/simulator/rank.cpp"]
    others = [root / "tests/native.cpp", root / ".venv/nanobind/src/error.cpp", Path("/a.cpp")]
    assert checked(root, [ours[1], *others, ours[0], ours[1]]) == ours


def test_a_finding_in_a_header_is_told_once_and_keeps_its_notes() -> None:
    assert findings(["", IN_A_HEADER + IN_A_SOURCE, IN_A_HEADER]) == [
        IN_A_HEADER.strip(),
        IN_A_SOURCE.strip(),
    ]


def test_why_a_file_cannot_be_looked_at_is_told_too() -> None:
    assert findings(["clang-tidy: error while loading shared libraries\n"]) == [
        "clang-tidy: error while loading shared libraries"
    ]
