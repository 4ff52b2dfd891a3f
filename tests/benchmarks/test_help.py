"""Every benchmark that people start says with `--help` how."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OF_OTHERS = {"benchmarks.evaluating"}
"""What other benchmarks start, and nobody else."""


def _started() -> list[str]:
    names = []
    for path in sorted((ROOT / "benchmarks").rglob("*.py")):
        if 'if __name__ == "__main__":' in path.read_text():
            names.append(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return [name for name in names if name not in OF_OTHERS]


@pytest.mark.parametrize("name", _started())
def test_help_says_how_it_is_started(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main = importlib.import_module(name).main

    def said(*words: str) -> str:
        monkeypatch.setattr("sys.argv", [name, *words, "--help"])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (0, None)
        return capsys.readouterr().out

    told = said()
    assert told.startswith("usage: ")
    for command in _commands(told):
        assert said(command).startswith("usage: ")


def _commands(told: str) -> list[str]:
    """What a benchmark of several parts takes as its first word."""
    found = re.search(r"^  \{(.+)\}", told, re.MULTILINE)
    return [] if found is None else re.findall(r"\w+", found[1])


def test_parts_have_a_help_of_their_own() -> None:
    assert _commands("usage: b\n\npositional arguments:\n  {play,report}\n") == ["play", "report"]
