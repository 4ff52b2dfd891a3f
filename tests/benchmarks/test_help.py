"""Every benchmark that people start says with `--help` how."""

import importlib
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
    monkeypatch.setattr("sys.argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(name).main()
    assert ended.value.code in (0, None)
    assert capsys.readouterr().out.startswith("usage: ")
