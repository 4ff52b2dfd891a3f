"""Whatever is wrong with the command line or its files: one plain line, status 2."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from typing import Any

import click
import pytest

from cli.commands import TABLE, LazyGroup
from tests.cli.conftest import ROOT, Hamtune


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["studdy"], "No such command 'studdy'. Did you mean 'study'?"),
        (["topology", "polish"], "No such command 'polish'. 'hamtune topology --help' lists them"),
        (["jobs", "--colour"], "No such option"),
        (["show"], "Missing argument 'J'"),
        (["jobs", "--state", "lost"], "'lost' is not one of"),
        (["run"], "give a job file, or --resume with a job"),
        (["run", "nowhere.yaml"], "nowhere.yaml"),
        (["export", "j", "--format", "pdf", "--output", "x"], "'pdf' is not one of"),
        (["plot", "j", "--output", "figure.pdf"], "figures are .png or .svg files"),
        (["topology", "generate", "rung", "--nodes", "4"], "for 'FAMILY': 'rung' is not one of"),
        (["topology", "generate", "random", "--nodes", "5", "--degree", "3"], "random"),
        (["worker", "--log-level", "loud"], "'loud' is not one of"),
        (["projects", "set", "p", "--weight", "nan"], "must be a finite number, not nan"),
        (["calibrate", "--minutes", "inf", "-o", "m"], "must be a finite number, not inf"),
        (["capture", "--ranks", "2", "-o", "no/t.ht", "--", "p.c"], "there is no directory no;"),
        (["up", "--port", "99999"], "99999"),
        (["jobs", "--server", "elsewhere"], "not a URL"),
        (
            ["capture", "--ranks", "2", "-o", "t.ht", "--run", "./solver 9"],
            "capture: No such option '--run'; the program comes after --: hamtune capture [--source"
            " DIR --build CMD] --ranks N -o T -- PROGRAM ARGUMENTS",
        ),
        (["capture", "--run=./solver"], "No such option '--run'; the program comes after --"),
        (["capture", "--ranks", "2", "-o", "t.ht", "-q", "--", "./p"], "No such option '-q'"),
        (
            ["verify", ".", "--hosts", "h", "--", "./solver"],
            "No such option '--hosts'; the program comes after --: hamtune verify EXPORT",
        ),
    ],
)
def test_a_wrong_command_line(hamtune: Hamtune, arguments: list[str], complaint: str) -> None:
    line = hamtune.refused(*arguments)

    assert line.startswith("hamtune")
    assert complaint in line


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"colour": "red"}, "colour: unknown field"),
        ({"application": {"builtin": "cg", "class": "X", "ranks": 8}}, "class"),
        ({"application": {"builtin": "cg", "class": "S", "ranks": 6}}, "power of two"),
        ({"application": {"builtin": "cg", "class": "S", "ranks": 16}}, "16 ranks"),
        ({"application": {"builtin": "nas", "class": "S", "ranks": 8}}, "unknown program 'nas'"),
        ({"machine.host_speed": "100Gx"}, "machine.host_speed"),
        ({"machine.degree": 3, "machine.nodes": 9}, "degree"),
        ({"machine.degree": 8}, "degree"),
        ({"search.collectives": {"allreduce": ["fast"]}}, "unknown algorithm 'fast'"),
        ({"search.topology": []}, "search.topology"),
        (
            {"search.topology": [{"family": "circulant", "jumps": [[1, 3]]}]},
            "search.topology.0.jumps: must be a text or number, or a list of such",
        ),
        ({"budget": {"trials": 0}}, "budget.trials"),
        ({"budget": {}}, "budget"),
        (
            {
                "search": {"topology": ["mesh-2d"]},
                "machine": {"nodes": 8, "host_speed": 1e9, "link_bandwidth": 1e9},
            },
            "search",
        ),
    ],
)
def test_a_wrong_job_file(
    hamtune: Hamtune, job: dict[str, Any], changes: dict[str, Any], complaint: str
) -> None:
    for path, value in changes.items():
        target = job
        *groups, last = path.split(".")
        for group in groups:
            target = target[group]
        target[last] = value

    line = hamtune.refused("run", hamtune.job_file(job))

    assert "job.yaml" in line
    assert complaint in line


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name: [", "line"),
        ("", "a job is a group of fields"),
        ("name: a\nname: b\n", "twice"),
        ("a: &a [1]\nb: *a\n", "alias"),
    ],
)
def test_a_file_that_is_no_job(hamtune: Hamtune, text: str, complaint: str) -> None:
    path = hamtune.directory / "job.yaml"
    path.write_text(text)

    assert complaint in hamtune.refused("run", path)


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 a zip archive", b"HAMTRACE\x01\x00\x00\x00\xff\xff\xff\x7f{}"]
)
def test_a_file_that_is_no_trace(hamtune: Hamtune, job: dict[str, Any], content: bytes) -> None:
    (hamtune.directory / "t.ht").write_bytes(content)

    assert "trace" in hamtune.refused("trace", "info", "t.ht")
    assert "trace" in hamtune.refused(
        "run", hamtune.job_file(job | {"application": {"trace": "t.ht"}})
    )


@pytest.mark.parametrize(
    ("command", "argument", "instead"),
    [
        (["rules"], "MACHINE", ", or --job with a job that has run"),
        (["testbed", "up"], "MACHINE", ""),
        (["evaluate", "--application", "is.S.4", "--configuration", "{}", "--machine"],
         "--machine", ""),
    ],
)  # fmt: skip
def test_a_job_file_in_place_of_a_machine(
    hamtune: Hamtune, job: dict[str, Any], command: list[str], argument: str, instead: str
) -> None:
    path = hamtune.job_file(job)

    assert hamtune.refused(*command, path) == (
        f"hamtune: {argument}: {path} is a job file; give what it has under 'machine'{instead}"
    )


def test_submit_without_a_service_tells_what_to_do(hamtune: Hamtune, job: dict[str, Any]) -> None:
    line = hamtune.refused("submit", hamtune.job_file(job), status=1)

    assert "hamtune up" in line
    assert "hamtune run" in line


def test_a_server_that_does_not_answer(hamtune: Hamtune) -> None:
    line = hamtune.refused("jobs", "--server", "http://127.0.0.1:9", status=1)

    assert "no service answers at http://127.0.0.1:9" in line


def test_a_trace_that_is_missing_or_is_none(hamtune: Hamtune, job: dict[str, Any]) -> None:
    path = hamtune.job_file(job | {"application": {"trace": "t.ht"}})

    assert "application.trace: there is no file" in hamtune.refused("run", path)
    (hamtune.directory / "t.ht").write_bytes(b"no trace")
    line = hamtune.refused("run", path)
    assert str(hamtune.directory / "t.ht") in line


def test_an_unknown_technique_is_told_with_its_file(hamtune: Hamtune, job: dict[str, Any]) -> None:
    path = hamtune.job_file(job | {"techniques": ["magic"]})

    assert f"{path}: techniques: unknown technique 'magic'" in hamtune.refused("run", path)


def test_all_mistakes_of_a_file_have_their_lines(hamtune: Hamtune, job: dict[str, Any]) -> None:
    path = hamtune.job_file(job | {"budget": {"trials": 0}, "batch": 0})

    done = hamtune("run", path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"hamtune: {path}: budget.trials: must be greater than 0, not 0",
        f"hamtune: {path}: batch: must be greater than or equal to 1, not 0",
    ]


def test_a_job_that_does_not_exist(hamtune: Hamtune) -> None:
    hamtune.data.mkdir()
    for command in ("show", "cancel", "best"):
        assert "no job nosuchjob" in hamtune.refused(command, "nosuchjob", status=1)


def test_help_lists_the_commands(hamtune: Hamtune) -> None:
    done = hamtune("--help")

    assert done.returncode == 0
    assert set(done.stdout.split()) >= set(TABLE)


def all_commands() -> dict[str, click.Command]:
    """The commands of all modules of the command line that the table names."""
    modules = [importlib.import_module(f"cli.{name}") for name in {m for m, _ in TABLE.values()}]
    return {c.name: c for module in modules for c in module.COMMANDS}


def test_the_table_of_commands_says_of_each_what_its_module_says() -> None:
    """So that `--help` need not import them all."""
    group, context = LazyGroup("hamtune"), click.Context(click.Command("hamtune"))
    commands = all_commands()

    assert set(commands) == set(TABLE)
    for name, (_, text) in TABLE.items():
        command = group.get_command(context, name)
        assert command is commands[name]
        summary = inspect.cleandoc(command.help or "").partition("\n\n")[0]
        assert text == summary.replace("\n", " "), name


def test_help_loads_no_library_that_it_does_not_need(hamtune: Hamtune) -> None:
    program = "import sys, cli.__main__ as m; m.main(['--help']); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )

    loaded = set(done.stdout.split())
    assert loaded & {"fastapi", "sqlalchemy", "numpy", "pydantic", "httpx", "celery"} == set()


def test_a_job_loads_no_library_that_it_does_not_need() -> None:
    program = "import sys, service.runtime, cli.run; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )

    loaded = set(done.stdout.split())
    assert loaded & {"alembic", "igraph", "matplotlib", "opentuner", "scipy"} == set()


def test_every_command_teaches_with_an_example() -> None:
    commands = all_commands()
    for group in ("keys", "notify", "projects", "testbed", "topology", "trace"):
        inside = commands.pop(group).commands  # type: ignore[attr-defined]
        commands |= {f"{group} {name}": command for name, command in inside.items()}

    contract = "up run submit jobs show watch pause resume cancel clone best plot export evaluate"
    assert set(commands) >= {*contract.split(), "capture", "order", "map", "api", "worker"}
    for name, command in commands.items():
        assert name in (command.epilog or ""), name
        assert "\\\\" not in (command.epilog or ""), f"{name}: the shell wants one backslash"
        assert command.help, name


def test_a_directory_that_cannot_be_written(hamtune: Hamtune, job: dict[str, Any]) -> None:
    (hamtune.directory / "data").write_text("a file, not a directory")

    line = hamtune.refused("run", hamtune.job_file(job), status=1)

    assert str(hamtune.data) in line


@pytest.mark.parametrize("command", [("jobs",), ("show", "j"), ("best", "j"), ("trials", "j")])
def test_a_data_directory_that_is_not_there_is_named_and_not_made(
    hamtune: Hamtune, command: tuple[str, ...]
) -> None:
    missing = hamtune.directory / "mistyped"
    said = hamtune.refused(*command, "--data", str(missing), status=1)
    assert f"there is no data at {missing}" in said
    assert not missing.exists()
