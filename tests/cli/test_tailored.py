"""A job that searches networks made for its application: found, exported, simulated again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cli.files import read_graph
from tests.cli.conftest import Hamtune


def test_a_network_made_for_the_application_is_searched_and_exported(
    hamtune: Hamtune, job: dict[str, Any], tmp_path: Path
) -> None:
    # LU sends to four neighbours in a grid: a cable each is all that it needs.
    job["application"] = {"builtin": "lu", "class": "S", "ranks": 16, "iterations": 2}
    job["machine"] |= {"nodes": 16, "degree": 4}
    job["search"] = {"topology": ["random", {"family": "tailored", "instances": 3}]}
    job["budget"] = {"trials": 4}
    job["refinement"] = 3
    hamtune.job_file(job)
    hamtune("run", "job.yaml")
    best = hamtune.json("best", "tiny")
    assert best["configuration"]["topology"] == "tailored"
    random = next(value for label, value in best["baselines"].items() if "random" in label)
    assert best["value"] < random
    assert hamtune.json("replay", "tiny", str(best["trial"]))["verdict"] == "same"
    hamtune("export", "tiny", "--format", "graphml", "--output", "exported")
    network = read_graph(tmp_path / "exported" / "network.graphml")
    assert set(network.degrees) == {4}
    assert network.connected
