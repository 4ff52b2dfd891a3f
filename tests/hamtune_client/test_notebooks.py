"""The notebooks of the documentation, run as a user runs them: against `hamtune up`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.cli.conftest import Hamtune

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/notebooks"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that runs jobs."""
    with Hamtune(tmp_path_factory.mktemp("service")).service() as running:
        yield running.url


def run(name: str, server: str, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Run a notebook from beginning to end; its cells of code, with their output."""
    monkeypatch.setenv("HAMTUNE_SERVER", server)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    place = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=place).execute()
    return [dict(cell) for cell in notebook.cells if cell.cell_type == "code"]


def shown(cells: list[dict[str, Any]], code: str) -> str:
    """What the last output of the cell with some code shows, as HTML where it has that."""
    (cell,) = [one for one in cells if code in one["source"]]
    output = cell["outputs"][-1]
    data = output.get("data", {})
    return str(output.get("text") or data.get("text/html") or data["text/plain"])


def test_first_job(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = run("first-job", server, monkeypatch)
    assert "59,136 configurations" in shown(cells, '    "seed": 1,\n}\nclient.check(spec)')
    assert "did you mean 'seed'?" in shown(cells, "sede")
    assert "completed, 40 of 40 trials, best" in shown(cells, ".wait()")
    assert "faster than the best baseline" in shown(cells, "job.best()")
    assert "Figure" in shown(cells, "job.plot()")
    assert "['result.json']" in shown(cells, "namelist")
    assert "tutorial" in shown(cells, "job.archive()")


def test_own_program(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = run("own-program", server, monkeypatch)
    assert "mpicc -O2 -o jacobi jacobi.c" in shown(cells, 'job.log("build")')
    assert "20 steps: 0.00160732" in shown(cells, 'residual.txt").decode')
    assert "sendrecv" in shown(cells, "program.refresh()")
    assert "No rule to make target" in shown(cells, "broken.wait")


def test_designing_a_network(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = run("designing-a-network", server, monkeypatch)
    assert "22080.0" in shown(cells, "def measure(")
    compared = shown(cells, 'worth.sort_values("fastest us")')
    assert all(f"<th>{name}</th>" in compared for name in ("torus-2d", "random", "fat-tree"))
    assert "NaN" not in compared
    assert "[" in shown(cells, "rank_hosts")
    assert "node-0" in shown(cells, "cabling.csv")


def test_trusting_the_result(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = run("trusting-the-result", server, monkeypatch)
    assert shown(cells, "values[0] == values[1]") == "True"
    assert "verdict='same'" in shown(cells, "job.replay")
    assert "undecided" in shown(cells, "end_measuring")
    assert "ended by a user" in shown(cells, "measured.wait(")
    assert "mca-params.conf" in shown(cells, "README.txt")
