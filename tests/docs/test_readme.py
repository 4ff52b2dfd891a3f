"""The README's example is what the demo prints."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_example_is_what_the_demos_job_prints(tmp_path: Path) -> None:
    command: list[str | Path] = [ROOT / "hamtune", "run", "examples/demo.yaml", "--data", tmp_path]
    ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    readme = (ROOT / "README.md").read_text()
    _, example = readme.split("$ ./hamtune run examples/demo.yaml --data demo/data\n")
    assert example.startswith(ran.stdout.rstrip() + "\n")
