"""The launcher, from wherever it is called."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from tests.cli.conftest import Hamtune

ROOT = Path(__file__).parents[2]

# Names of our own rooms, of a library and of Python's own modules.
NAMES = ("cli", "tuner", "workers", "searchspace", "opentuner", "numpy", "random", "json")


def plant(folder: Path) -> None:
    """Packages that must not be imported."""
    for name in NAMES:
        package = folder / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(f"raise SystemExit('{name} of another folder')\n")


def test_nothing_is_imported_from_the_folder_it_is_called_in(
    hamtune: Hamtune, job: dict[str, Any], tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    plant(hamtune.directory)
    plant(temporary)
    hamtune.environment["TMPDIR"] = str(temporary)

    result = hamtune.json("run", hamtune.job_file(job))

    assert result["job"]["state"] == "completed"


def test_nothing_is_imported_of_what_environment_modules_set_for_another_python(
    hamtune: Hamtune, tmp_path: Path
) -> None:
    plant(tmp_path / "modules")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "modules"), "PYTHONHOME": "/nowhere"}
    done = subprocess.run(
        [ROOT / "hamtune", "topology", "generate", "ring", "--nodes", "4"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
