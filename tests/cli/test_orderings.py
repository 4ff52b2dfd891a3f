"""`hamtune order` from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.__main__ import main
from searchspace.formats.edge_list import write_edge_list
from searchspace.topology import generate


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "G.edges"
    path.write_text(write_edge_list(generate("random", 32, degree=4, seed=1)))
    return path


def test_order_prints_a_permutation_and_measures_it(
    network: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["order", "hamiltonian", str(network), "--json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert sorted(document["order"]) == list(range(32))
    assert document["adjacency"] == 1.0
    assert document["aspl_of_blocks"]["2"] == 1.0
    assert document["task_dilation"]["neighbors_worst"] == 1


def test_a_method_takes_its_options(network: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["order", "gorder", str(network), "-O", "window=1"]) == 0
    narrow = capsys.readouterr().out
    assert main(["order", "gorder", str(network), "-O", "window=9"]) == 0

    assert capsys.readouterr().out != narrow


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("windo=3", "windo: the ordering 'gorder' has no such option; it has: window"),
        ("window=x", "window: must be a whole number, not 'x'"),
        ("window", "write NAME=VALUE, not 'window'"),
    ],
)
def test_a_wrong_option_is_one_plain_line(
    network: Path, option: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["order", "gorder", str(network), "-O", option]) == 2

    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.parametrize("json", [[], ["--json"]])
def test_a_network_in_parts_has_no_ordering(
    json: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "apart.edges").write_text("0 1\n2 3\n")

    assert main(["order", "bfs", str(tmp_path / "apart.edges"), *json]) == 2

    assert "the network is not connected: 2 parts" in capsys.readouterr().err
