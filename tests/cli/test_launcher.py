"""The launcher, from wherever it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.conftest import Hamtune

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
