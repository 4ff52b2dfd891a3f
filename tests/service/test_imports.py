"""What the service does without until somebody asks for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("igraph", "matplotlib", "optuna", "pandas", "psycopg", "pyarrow", "scipy", "sklearn")


def test_a_service_starts_without_the_libraries_of_single_requests() -> None:
    """Each takes a tenth of a second or more, which every short job would pay."""
    program = (
        "import sys, service.app, service.runtime\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"
