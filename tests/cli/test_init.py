"""`hamtune init`: job files that are right from the start."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from cli.jobfile import read_job
from searchspace.collectives.equivalents import TARGETS
from searchspace.topology import generate
from tests.cli.conftest import ROOT, Hamtune
from tests.service.conftest import write_pair

DEFAULTS = ("--application", "is.S.32", "--cluster", "32", "--degree", "4", "--target", "any")


def answers(**changed: str) -> list[str]:
    """The answers of one who takes what is offered, but for some."""
    given = dict(zip(DEFAULTS[::2], DEFAULTS[1::2], strict=True)) | {"--trials": "100"}
    given |= {f"--{name}": value for name, value in changed.items()}
    return [word for pair in given.items() for word in pair]


@pytest.mark.parametrize("target", ["any", *TARGETS])
def test_what_is_written_is_a_job(hamtune: Hamtune, target: str) -> None:
    done = hamtune("init", *answers(target=target))

    assert done.returncode == 0, done.stderr
    job = read_job(hamtune.directory / "job.yaml")
    assert job.known_ranks == 32
    assert job.search.target == (None if target == "any" else target)


def test_an_existing_network_is_named_and_kept(hamtune: Hamtune) -> None:
    graph = generate("fat-tree", 16, ports=4)
    edges = "\n".join(f"{u} {v}" for u, v in graph.edges)
    (hamtune.directory / "fabric.edges").write_text(f"{edges}\n")
    hamtune("init", *answers(cluster="fabric.edges", application="cg.S.16"))

    job = yaml.safe_load((hamtune.directory / "job.yaml").read_text())
    assert job["machine"]["topology"] == {"file": "fabric.edges"}
    assert "topology" not in job["search"]
    assert read_job(hamtune.directory / "job.yaml").known_ranks == 16


@pytest.mark.parametrize("hosts", ["1", "2", "3"])
def test_few_hosts_are_a_cluster_too(hamtune: Hamtune, hosts: str) -> None:
    done = hamtune("init", *answers(cluster=hosts, application="ep.S.1", degree="2"))

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("application", ["pair.ht", "cg.S.4"])
def test_more_links_than_there_are_other_hosts_are_refused(
    hamtune: Hamtune, application: str
) -> None:
    write_pair(hamtune.directory / "pair.ht")
    wrong = answers(cluster="4", application=application, degree="4")
    assert "--degree 4" in hamtune.refused("init", *wrong)
    assert not (hamtune.directory / "job.yaml").exists()


def test_files_are_named_as_the_job_file_finds_them(hamtune: Hamtune) -> None:
    """A trace in another folder, whose name would be a number if it were not quoted."""
    for folder in ("jobs", "traces"):
        (hamtune.directory / folder).mkdir()
    write_pair(hamtune.directory / "traces/123.ht")
    hamtune("init", *answers(application="traces/123.ht", cluster="8"), "-o", "jobs/job.yaml")

    job = read_job(hamtune.directory / "jobs/job.yaml")
    assert job.name == "123"
    assert hamtune.json("check", "jobs/job.yaml")["ranks"] == 2


def test_questions_are_asked_beside_the_file(hamtune: Hamtune) -> None:
    done = subprocess.run(
        [ROOT / "hamtune", "init", "-o", "-"],
        cwd=hamtune.directory,
        env=hamtune.whole_environment(),
        input="\n" * 5,
        capture_output=True,
        text=True,
        check=True,
    )

    assert yaml.safe_load(done.stdout)["budget"] == {"trials": 100}
    assert "How many trials [100]: " in done.stderr


def test_a_directory_of_sources_gets_a_recipe_to_fill_in(hamtune: Hamtune) -> None:
    (hamtune.directory / "solver").mkdir()
    done = hamtune("init", *answers(application="solver"), "-o", "-")

    job = yaml.safe_load(done.stdout)
    assert job["name"] == "solver"
    assert job["application"]["build"] == "make"


def test_a_file_that_is_there_is_left_alone(hamtune: Hamtune) -> None:
    path = hamtune.directory / "job.yaml"
    path.write_text("mine")

    assert "is there already" in hamtune.refused("init", *answers(), status=1)
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"application": "iss.S.32"}, "neither a file, nor a directory, nor one of: "),
        ({"application": "is.32x"}, "write a built-in program as is.CLASS.RANKS"),
        ({"application": "is.S.33"}, "33"),
        ({"cluster": "4", "degree": "3", "output": "-"}, "32 ranks"),
        ({"cluster": "no-such-file"}, "neither a number of hosts nor a file"),
    ],
)
def test_answers_that_make_no_job_leave_no_file(
    hamtune: Hamtune, changed: dict[str, str], said: str
) -> None:
    done = hamtune("init", *answers(**changed))

    assert done.returncode != 0
    assert said in done.stderr
    assert not list(Path(hamtune.directory).glob("job.yaml"))
