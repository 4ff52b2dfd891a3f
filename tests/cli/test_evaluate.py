from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from searchspace.topology import generate
from tests.cli.conftest import Hamtune

MACHINE = "{nodes: 8, degree: 4, host_speed: 100Gf, link_bandwidth: 40Gbps, switch_latency: 60ns}"
MESH = "{topology: mesh-2d, mpi: mpich}"


@pytest.fixture(scope="module")
def hamtune(tmp_path_factory: pytest.TempPathFactory) -> Hamtune:
    """One data directory for all, so that the program is captured once."""
    return Hamtune(tmp_path_factory.mktemp("evaluate"))


def evaluate(*more: str, machine: str = MACHINE, configuration: str = MESH) -> list[str]:
    options = ["--application", "mg.S.4", "--machine", machine, "--configuration", configuration]
    return ["evaluate", *options, *more]


def test_the_same_evaluation_is_the_same_however_it_is_asked_for(
    hamtune: Hamtune, tmp_path: Path
) -> None:
    written_out = hamtune.json(*evaluate())
    (tmp_path / "a.yaml").write_text("{builtin: mg, class: S, ranks: 4}")
    (tmp_path / "m.yaml").write_text(MACHINE)
    (tmp_path / "best.json").write_text(
        json.dumps({"configuration": {"topology": "mesh-2d", "mpi": "mpich"}, "value": 1.0})
    )
    from_files = hamtune.json(
        "evaluate",
        "--application",
        tmp_path / "a.yaml",
        "--machine",
        tmp_path / "m.yaml",
        "--configuration",
        tmp_path / "best.json",
    )

    assert written_out["status"] == "completed"
    assert written_out["simulated_time"] == from_files["simulated_time"]
    assert written_out["model"] == "smpi-default"


def test_it_says_which_model_gave_the_time(hamtune: Hamtune) -> None:
    auto = MACHINE.replace("}", ", network: auto, model: plain}")
    fluid = hamtune.json(*evaluate("--network", "fluid", machine=auto))
    plain = hamtune.json(*evaluate(machine=MACHINE.replace("}", ", model: plain}")))

    assert (fluid["network"], fluid["model"], fluid["protocol"]) == ("fluid", "plain", None)
    assert fluid["simulated_time"] == plain["simulated_time"]
    first, *_ = hamtune(*evaluate()).stdout.splitlines()
    assert first.endswith(" simulated time (fluid, smpi-default)")


def test_loads_of_cables_come_with_their_ends(hamtune: Hamtune) -> None:
    loads = hamtune.json(*evaluate("--link-loads"))["link_loads"]

    assert [tuple(load["ends"]) for load in loads] == list(generate("mesh-2d", 8).edges)
    assert all(sum(load["bytes"]) > 0 for load in loads if max(load["ends"]) < 4)
    assert {tuple(load["bytes"]) for load in loads if min(load["ends"]) > 3} == {(0, 0)}
    lines = hamtune(*evaluate("--link-loads")).stdout.splitlines()
    there, back = loads[0]["bytes"]
    assert f"cable 0 to 1: {there} bytes, back: {back}" in lines


def test_a_cutoff_gives_a_lower_bound(hamtune: Hamtune) -> None:
    found = hamtune.json(*evaluate("--cutoff", "10us"))

    assert (found["status"], found["simulated_time"]) == ("censored", 1e-5)


@pytest.mark.parametrize("confinement", [[], ["--no-sandbox"]])
def test_a_trace_is_replayed_from_its_file(
    hamtune: Hamtune, tmp_path: Path, confinement: list[str]
) -> None:
    (tmp_path / "two.c").write_text(
        "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v);"
        " MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 0; }\n"
    )
    trace = tmp_path / "two.ht"
    hamtune.json("capture", "--ranks", "2", *confinement, "-o", trace, "--", tmp_path / "two.c")

    found = hamtune.json(
        "evaluate", "--application", trace, "--machine", MACHINE, "--configuration", MESH
    )

    assert found["status"] == "completed"
    info = hamtune.json("trace", "info", trace, "--traffic", tmp_path / "two.mtx")
    assert (info["ranks"], info["calls"]["barrier"]) == (2, 2)
    assert (tmp_path / "two.mtx").read_text().splitlines()[1] == "2 2 0"


@pytest.mark.parametrize(
    ("more", "changes", "status", "complaint"),
    [
        (["--memory", "4MiB"], {"machine": MACHINE.replace("8", "1600", 1)}, "failed", "memory"),
        (
            [],
            {"configuration": "{topology: mesh-2d, collectives: {bcast: SMP_linear}}"},
            "infeasible",
            "more than one rank",
        ),
        ([], {"configuration": "{topology: random}", "machine": MACHINE.replace("4", "9", 1)},
         "infeasible", "random"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_an_answer_and_a_line(
    hamtune: Hamtune, more: list[str], changes: dict[str, Any], status: str, complaint: str
) -> None:
    done = hamtune(*evaluate(*more, "--json", **changes))

    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert answer["status"] == status
    assert answer["simulated_time"] is None
    (line,) = done.stderr.splitlines()
    assert answer["reason"]["message"] in line
    assert complaint in line


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (evaluate(machine="{nodes: 8, speed: 1}"), "speed: unknown field"),
        (evaluate(machine=MACHINE.replace("60ns", "60nm")), "--machine: switch_latency"),
        (evaluate(machine="m.yaml"), "there is no file m.yaml"),
        (
            evaluate(
                machine=MACHINE.replace("8, degree: 4", "2, degree: 1"),
                configuration="{topology: random}",
            ),
            "4 ranks",
        ),
        (evaluate(configuration="{colour: red}"), "colour: unknown parameter"),
        (evaluate(configuration="{}"), "topology"),
        (evaluate(configuration="{topology: rung}"), "unknown topology 'rung'"),
        (
            evaluate(configuration="{topology: mesh-2d, collectives: {bcast: fast}}"),
            "unknown algorithm 'fast'",
        ),
        (evaluate("--cutoff", "-1"), "--cutoff"),
        (evaluate("--memory", "4GX"), "--memory"),
        (evaluate("--application", "mg.S"), "NAME.CLASS.RANKS".replace("NAME", "mg")),
        (evaluate("--application", "mg.S.6"), "power of two"),
        (
            evaluate("--application", "{}"),
            "must name one of: builtin, trace, source, pattern",
        ),
        (evaluate("--application", "{source: ., build: x, run: y, ranks: 4}"), "capture it first"),
        (
            evaluate("--application", "{builtin: player, matrix: w.mtx, ranks: 4}"),
            "there is no file w.mtx",
        ),
        (
            evaluate("--application", "{pattern: ring, ranks: 4, size: 1kB, count: 1, rate: 1}"),
            "unknown pattern 'ring'; allowed: all-to-all, bcast/scatter, gather/reduce, linear",
        ),
        (evaluate("--application", "{trace: t.ht}"), "there is no file t.ht"),
    ],
)
def test_wrong_use(hamtune: Hamtune, arguments: list[str], complaint: str) -> None:
    assert complaint in hamtune.refused(*arguments)


def test_a_pattern_is_evaluated_as_its_imported_trace(hamtune: Hamtune, tmp_path: Path) -> None:
    pattern = "{pattern: linear, ranks: 4, size: 64kB, count: 3, rate: 100}"
    named = hamtune.json(*evaluate(), "--application", pattern)
    (tmp_path / "linear.yaml").write_text(pattern)
    trace = tmp_path / "linear.ht"
    hamtune.json("trace", "import", "--pattern", tmp_path / "linear.yaml", "-o", trace)
    imported = hamtune.json(*evaluate(), "--application", trace)
    assert named["simulated_time"] == imported["simulated_time"] > 0.0


def test_a_matrix_is_played_from_its_file(hamtune: Hamtune, tmp_path: Path) -> None:
    (tmp_path / "w.mtx").write_text(
        "%%MatrixMarket matrix coordinate integer symmetric\n4 4 1\n4 1 1000000\n"
    )
    (tmp_path / "a.yaml").write_text("{builtin: player, matrix: w.mtx, rounds: 2, ranks: 4}")
    played = hamtune.json(*evaluate(), "--application", tmp_path / "a.yaml")
    # Half a megabyte each way, twice, at 40 Gbps at best.
    assert played["simulated_time"] > 2 * 500_000 / 5e9


def test_several_applications_are_evaluated_at_once(hamtune: Hamtune, tmp_path: Path) -> None:
    trace = tmp_path / "linear.ht"
    pattern = "{pattern: linear, ranks: 2, size: 64kB, count: 3, rate: 100}"
    (tmp_path / "linear.yaml").write_text(pattern)
    hamtune.json("trace", "import", "--pattern", tmp_path / "linear.yaml", "-o", trace)
    (tmp_path / "both.yaml").write_text(
        f"""
        applications:
        - {{name: solver, application: {{builtin: mg, class: S, ranks: 4}}, weight: 3}}
        - {{name: line, application: {{trace: linear.ht}}, start: 1ms}}
        - {{name: pattern, application: {pattern}}}
        objective: weighted
        """
    )
    both = hamtune.json(*evaluate(), "--application", tmp_path / "both.yaml")
    times = both["finish_times"]
    assert list(times) == ["solver", "line", "pattern"]
    mean = (3 * times["solver"] + times["line"] + times["pattern"]) / 5
    assert both["simulated_time"] == pytest.approx(mean, rel=1e-12)
    assert times["line"] == pytest.approx(times["pattern"] + 0.001, rel=1e-3)
