from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

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
        (["--memory", "1MiB"], {}, "failed", "memory"),
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
        (evaluate("--application", "{}"), "must name one of: builtin, trace, id"),
        (evaluate("--application", "{trace: t.ht}"), "there is no file t.ht"),
    ],
)
def test_wrong_use(hamtune: Hamtune, arguments: list[str], complaint: str) -> None:
    assert complaint in hamtune.refused(*arguments)
