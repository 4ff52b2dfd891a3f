"""`hamtune topology`: networks from the command line, in files of every format, as pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.__main__ import main
from searchspace.formats.network_files import read_network
from searchspace.topology import FAMILIES, generate
from searchspace.topology.drawing import LAYOUTS, edge_classes, rotation


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of the test's own to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Runs a command that has to succeed; returns what it printed."""
    assert main(["topology", *arguments]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(run(capsys, *arguments, "--json"))


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Runs a command that has to be refused; returns its one line."""
    assert main(["topology", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return str(line)


def test_generate_measure_and_convert(inside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(
        capsys,
        "generate",
        "random",
        "--nodes",
        "16",
        "--degree",
        "4",
        "--seed",
        "3",
        "-o",
        "G.edges",
    )
    graph = generate("random", 16, degree=4, seed=3)
    assert read_network((inside / "G.edges").read_text(), "G.edges").graph == graph
    found = document(capsys, "metrics", "G.edges")
    assert {
        "nodes", "degree", "diameter", "aspl", "aspl_lower_bound", "diameter_lower_bound",
        "bisection_width", "bisection_lower_bound", "girth", "edge_connectivity", "cable_length",
    } <= set(found)  # fmt: skip
    assert found["nodes"] == 16
    run(capsys, "convert", "G.edges", "-o", "G.graphml")
    run(capsys, "convert", "G.graphml", "-o", "G.graph")
    metis = run(capsys, "convert", "G.graph", "--to", "edges")
    assert metis == (inside / "G.edges").read_text()
    assert "aspl" in run(capsys, "metrics", "G.graph", "--quick")


@pytest.mark.parametrize(
    ("arguments", "nodes", "options"),
    [
        (["mesh-2d", "--dims", "8x2"], 16, {"dims": "8,2"}),
        (["fat-tree", "--ports", "4"], 16, {}),
        (
            ["xgft", "--children", "4,3", "--parents", "1,2"],
            12,
            {"children": "4,3", "parents": "1,2"},
        ),
        (["chvatal"], 12, {}),
        (["mesh-2d", "--dims", "2x2", "--hosts-per-switch", "3"], 12, {"hosts_per_switch": 3}),
        (["circulant", "--nodes", "12", "--jumps", "1,5"], 12, {"jumps": "1,5"}),
    ],
)
def test_parameters_of_families(
    arguments: list[str],
    nodes: int,
    options: dict[str, Any],
    inside: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(capsys, "generate", *arguments, "-o", "G.edges")
    graph = generate(arguments[0], nodes, **options)
    assert read_network((inside / "G.edges").read_text(), "G.edges").graph == graph


def test_families_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    listed = {entry["name"]: entry for entry in document(capsys, "families")}
    assert list(listed) == list(FAMILIES)
    assert listed["fat-tree"]["indirect"]
    assert [p["name"] for p in listed["circulant"]["parameters"]] == ["jumps", "hosts_per_switch"]
    assert "--jumps" in run(capsys, "families")


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize(
    ("family", "kind"), [("dragonfly --nodes 20 --degree 4", "png"), ("fat-tree --ports 4", "svg")]
)
def test_pictures(
    family: str, layout: str, kind: str, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "generate", *family.split(), "-o", "G.edges")
    run(capsys, "draw", "G.edges", "-o", f"G.{kind}", "--layout", layout, "--title", "a title")
    drawn = (inside / f"G.{kind}").read_bytes()
    assert drawn.startswith(b"\x89PNG" if kind == "png" else b"<?xml")
    run(capsys, "draw", "G.edges", "-o", f"H.{kind}", "--layout", layout, "--title", "a title")
    assert (inside / f"H.{kind}").read_bytes() == drawn


def test_pictures_of_distances_and_orderings(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "generate", "random", "--nodes", "20", "--degree", "3", "-o", "G.edges")
    for what in (["distances"], ["adjacency"], ["adjacency", "--order", "rcm"]):
        run(capsys, "draw", "G.edges", "-o", "G.svg", "--what", *what)
        assert (inside / "G.svg").stat().st_size > 1000


def test_networks_with_switches_of_their_own_are_not_ordered_by_hand(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "generate", "fat-tree", "--ports", "4", "-o", "G.edges")
    assert main(["order", "hamorder", "G.edges"]) == 2
    assert "G.edges: only networks whose hosts are their switches" in capsys.readouterr().err


def test_cables_that_a_rotation_maps_onto_each_other_look_alike() -> None:
    assert rotation(generate("circulant", 12, jumps="1,5")) == 12
    assert rotation(generate("chvatal", 12)) == 4
    assert rotation(generate("fat-tree", 16)) == 1
    classes = edge_classes(generate("circulant", 12, jumps="1,5"))
    assert sorted(map(classes.count, set(classes))) == [12, 12]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["generate", "hypercube", "--nodes", "100"],
            "power of two nodes, not 100 (64 or 128 nodes can",
        ),
        (["generate", "ring"], "Missing option '--nodes'"),
        (["generate", "ring", "--nodes", "8", "--k", "2"], "k: unknown parameter of ring"),
        (["metrics", "empty.edges"], "empty.edges: the file is empty"),
        (["metrics", "apart.edges"], "the network is not connected: 2 parts"),
        (["metrics", "lonely.edges"], "the network is not connected: node 1 has no cable"),
        (["metrics", "picture.edges"], "picture.edges: not a text file"),
        (["metrics", "apart.edges", "--prices", "gold=1"], "unknown price 'gold'"),
        (
            ["generate", "tailored", "--nodes", "8", "--degree", "3"],
            "made for traffic; give --traffic W.mtx",
        ),
        (
            ["generate", "ring", "--nodes", "8", "--traffic", "W.mtx"],
            "ring networks are not made for traffic",
        ),
        (["convert", "apart.edges"], "give --output FILE or --to FORMAT"),
        (["convert", "apart.edges", "-o", "x.pdf"], "must end in one of: .edges, .graphml"),
        (["draw", "apart.edges", "-o", "x.pdf"], "pictures are .svg or .png files"),
    ],
)
def test_refuses(
    arguments: list[str], message: str, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (inside / "empty.edges").write_text("")
    (inside / "W.mtx").write_text("0 1\n1 0\n")
    (inside / "apart.edges").write_text("0 1\n2 3\n")
    (inside / "lonely.edges").write_text("0 2\n")
    (inside / "picture.edges").write_bytes(b"\x89PNG\xff")
    assert message in complaint(capsys, *arguments)
