"""Studies: what they need is there, and the cheap ones say what they should."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.__main__ import main
from searchspace.topology import generate
from searchspace.topology.metrics import measure
from studies import STUDIES
from studies.deng_networks import TABLES, Row, network
from studies.known_times import KnownTimes
from studies.laboratory import DENG, HU, Laboratory
from studies.report import figure, files, table_csv
from studies.statistics import geometric_mean, half_interval, line_fit
from studies.study import Claim, Findings, Plot, Points, Study, Table


def quick_laboratory(directory: Path) -> Laboratory:
    return Laboratory(directory, quick=True, seed=1, say=lambda _line: None)


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    with quick_laboratory(tmp_path_factory.mktemp("laboratory")) as shared:
        yield shared


@pytest.mark.parametrize(
    "row",
    [row for rows in TABLES.values() for row in rows if row.kind != "Optimal"],
    ids=lambda row: row.name,
)
def test_dengs_regular_networks_have_the_papers_diameter_and_path_length(
    laboratory: Laboratory, row: Row
) -> None:
    found = measure(network(row, laboratory))
    assert (found.diameter, round(found.aspl, 2)) == (row.diameter, row.aspl)


@pytest.mark.parametrize(
    "row",
    [row for number in (1, 2) for row in TABLES[number] if row.kind == "Optimal"],
    ids=lambda row: row.name,
)
def test_dengs_optimal_networks_of_few_nodes_are_found(laboratory: Laboratory, row: Row) -> None:
    found = measure(network(row, laboratory))
    assert round(found.aspl, 2) <= row.aspl


def test_a_study_from_outside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["study", "deng-table-1", "--quick", "--json", "-o", str(tmp_path / "out")]
    assert main([*arguments, "--data", str(tmp_path / "data")]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["source"] == "Deng et al. 2019, table 1"
    (table,) = document["tables"]
    ring = next(row for row in table["rows"] if row[0] == "(16,2)-Ring")
    assert ring[1:] == [8, 8, 4.2667, 4.27, 4.2667, 2, 2]
    written = (tmp_path / "out" / "deng-table-1-1.csv").read_text()
    assert len(written.splitlines()) == 1 + len(TABLES[1])


def test_a_study_is_made_under_either_model_of_messages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["study", "deng-figure-2", "--quick", "--json", "--data", str(tmp_path / "data")]
    assert main([*asked, "-o", str(tmp_path / "out")]) == 0
    fluid = json.loads(capsys.readouterr().out)
    assert main([*asked, "-o", str(tmp_path / "out"), "--network", "packets"]) == 0
    packets = json.loads(capsys.readouterr().out)

    assert (fluid["network"], packets["network"]) == ("fluid", "packets")
    slope = 2
    for one, other in zip(
        fluid["tables"][0]["rows"][:-1], packets["tables"][0]["rows"], strict=False
    ):
        assert one[0] == other[0]
        # A packet of 1,024 bytes waits at each of the 30 us cables, there and back.
        assert other[slope] > 60
        assert other[slope] != one[slope]
    page = (tmp_path / "out" / "deng-figure-2-packets.md").read_text()
    assert "`hamtune study deng-figure-2 --quick --network packets`" in page
    assert "(deng-figure-2-packets-latency.svg)" in page
    assert (tmp_path / "out" / "deng-figure-2-packets-latency.svg").exists()
    assert (tmp_path / "out" / "deng-figure-2.md").exists()


def test_a_study_without_messages_has_no_model_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "deng-table-1", "--network", "packets"]) == 2
    said = capsys.readouterr().err
    assert "deng-table-1 leaves no choice of it; --network is for" in said
    assert "hu-table-2" in said


def test_an_unknown_study_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "deng-table-9"]) == 2
    assert "deng-table-1" in capsys.readouterr().err


def test_a_program_takes_longer_over_more_hops(laboratory: Laboratory) -> None:
    bounce = laboratory.program("pingpong", 2, bytes=1024, repeats=1)
    ring = generate("ring", 8)
    near, far = (bounce.time(ring, DENG, hosts=(0, host)) for host in (1, 4))
    assert near < far
    assert bounce.time(ring, HU) < near
    assert bounce.partners.edges == ((0, 1),)


def test_what_was_simulated_is_known_to_the_next_study(laboratory: Laboratory) -> None:
    ring = generate("ring", 4)
    bounce = laboratory.program("pingpong", 2, bytes=1024, repeats=1)
    seconds = bounce.time(ring, DENG)
    written = (laboratory.directory / "times.jsonl").read_text()

    with quick_laboratory(laboratory.directory) as later:
        assert later.program("pingpong", 2, bytes=1024, repeats=1).time(ring, DENG) == seconds
    assert (laboratory.directory / "times.jsonl").read_text() == written
    assert json.loads(written.splitlines()[-1])[1] == seconds


def test_a_line_cut_short_is_simulated_again(tmp_path: Path) -> None:
    path = tmp_path / "times.jsonl"
    KnownTimes(path).add("one", 1.5)
    path.write_text(path.read_text() + '["tw')
    known = KnownTimes(path)
    assert (known.get("one"), known.get("two")) == (1.5, None)


def test_bytes_travel_the_hops_between_their_ranks(laboratory: Laboratory) -> None:
    bounce = laboratory.program("pingpong", 2, bytes=1024, repeats=1)
    ring = generate("ring", 8)
    assert bounce.hops_of_a_byte(ring) == 1.0
    assert bounce.hops_of_a_byte(ring.relabel((0, 3, 1, 2, 4, 5, 6, 7))) == 3.0


def test_every_study_has_a_name_that_tells_its_source() -> None:
    for name, study in STUDIES.items():
        author = study.source.split()[0].rstrip(",").lower()
        assert name.startswith(f"{author}-") or author == "hamtune"


FINDINGS = Findings(
    (Table("t", ("a", "b"), (("x, y", 1.5), ("z", None))),),
    (
        Plot("p", "t", "x", "y", (Points("one", (1.0, 2.0), (3.0, 4.0), joined=True),), "xy"),
        Plot(
            "q", "t", "", "y", (Points("a", (0.0, 1.0), (3.0, 4.0), errors=(0.1, 0.2)),),
            ticks=("CG", "MG"),
        ),
    ),
    (Claim("up", "down", holds=False, why="for a reason"),),
    ("A remark.",),
)  # fmt: skip


def test_tables_become_csv_and_plots_become_the_same_picture_each_time() -> None:
    assert list(csv.reader(io.StringIO(table_csv(FINDINGS.tables[0])))) == [
        ["a", "b"],
        ["x, y", "1.5"],
        ["z", ""],
    ]
    study = Study("s", "A paper, table 1", "what it is", lambda _: FINDINGS)
    made = "2026-11-28, by us"
    written = dict(files(study, FINDINGS, quick=True, made=made))
    assert sorted(written) == ["s-1.csv", "s-claims.csv", "s-p.svg", "s-q.svg", "s.md"]
    assert written["s-p.svg"].startswith(b"<?xml")
    assert written["s-claims.csv"].splitlines()[1] == b"up,down,NO,for a reason"
    page = written["s.md"].decode()
    told = f"What it is: `hamtune study s --quick`, {made}."
    assert page.startswith(f"# A paper, table 1\n\n{told}\n")
    assert "| x, y | 1.5 |\n| z |  |" in page
    assert "![t](s-q.svg)" in page
    assert page.endswith("A remark.\n")
    assert dict(files(study, FINDINGS, quick=True, made=made)) == written


def test_lines_are_straight_unless_each_value_is_held_up_to_the_next() -> None:
    ends = (1.0, 2.0)
    lines = (
        Points("equal", ends, ends, joined=True),
        Points("best so far", ends, (4.0, 3.0), joined=True, held=True),
    )
    drawn = figure(Plot("p", "t", "x", "y", lines)).axes[0].lines
    assert [line.get_drawstyle() for line in drawn] == ["default", "steps-post"]


def test_statistics() -> None:
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
    assert half_interval([1.0]) is None
    # t(0.975, 2) = 4.303 times 1 / sqrt(3)
    assert half_interval([1.0, 2.0, 3.0]) == pytest.approx(2.484, abs=1e-3)
    assert line_fit([1, 2, 3], [3, 5, 7]) == pytest.approx((1, 2, 1))
