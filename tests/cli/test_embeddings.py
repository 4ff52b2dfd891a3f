"""`hamtune topology embed` from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.__main__ import main
from searchspace.formats.edge_list import write_edge_list
from searchspace.topology import generate


@pytest.fixture
def network(tmp_path: Path) -> str:
    path = tmp_path / "G.edges"
    path.write_text(write_edge_list(generate("random", 16, degree=4, seed=1)))
    return str(path)


def test_a_pattern_is_embedded(network: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", "embed", network, "--pattern", "torus-2d", "--json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert sorted(document["mapping"]) == list(range(16))
    assert document["stretched"] == 0
    assert document["pairs"] == 32


def test_traffic_is_embedded(
    network: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traffic = tmp_path / "W.mtx"
    header = "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n"
    traffic.write_text(header + "2 1 100\n3 2 50\n")
    assert main(["topology", "embed", network, "--traffic", str(traffic), "--dilation", "1"]) == 0

    assert len(capsys.readouterr().out.split()) == 3


def test_a_dilation_that_cannot_be_had_fails(
    network: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["topology", "embed", network, "--pattern", "hypercube", "--dilation", "1"]
    assert main([*arguments, "--effort", "100"]) == 1

    assert "no embedding of dilation 1 was found; the best has dilation" in capsys.readouterr().err


def test_either_a_pattern_or_traffic(network: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", "embed", network]) == 2

    assert "give either --pattern or --traffic" in capsys.readouterr().err
