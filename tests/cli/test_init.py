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


def infiniband(spines: int) -> str:
    """What `ibnetdiscover` prints of two leaves with two hosts each, and spines above them."""
    leaves = [f"S-{leaf:04x}" for leaf in range(2)]
    blocks = []
    for leaf, name in enumerate(leaves):
        hosts = [
            f'[{port}] "H-{leaf}{port}"[1](aa{leaf}{port}) # "n{leaf}{port} HCA-1" lid 5 4xEDR'
            for port in (1, 2)
        ]
        above = [
            f'[{33 + spine}] "S-f{spine}"[{leaf + 1}] # "spine" lid 4 4xHDR'
            for spine in range(spines)
        ]
        blocks.append([f"switchguid=0x{leaf + 1}({leaf + 1})", f'Switch 36 "{name}" # "{name}"'])
        blocks[-1] += [*hosts, *above]
    blocks += [[f"switchguid=0x9{n}(9{n})", f'Switch 36 "S-f{n}" # "f{n}"'] for n in range(spines)]
    blocks += [
        [f"caguid=0xbb{leaf}{port}", f'Ca 1 "H-{leaf}{port}" # "n{leaf}{port} HCA-1"']
        for leaf in range(2)
        for port in (1, 2)
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


@pytest.mark.parametrize(("spines", "tie_rule"), [(1, "lowest-id"), (2, "spread")])
def test_an_infiniband_fabric_gets_its_own_rates_protocol_and_routes(
    hamtune: Hamtune, spines: int, tie_rule: str
) -> None:
    (hamtune.directory / "fabric.txt").write_text(infiniband(spines))
    hamtune("init", *answers(cluster="fabric.txt", application="cg.S.4"))

    job = read_job(hamtune.directory / "job.yaml")
    machine = job.described_machine
    assert machine.tie_rule == tie_rule
    left_out = {"  tie_rule: spread", "  protocol: verbs", "  link_bandwidth", "  host_link_band"}
    lines = (hamtune.directory / "job.yaml").read_text().splitlines()
    short = [line for line in lines if not line.startswith(tuple(left_out))]
    (hamtune.directory / "short.yaml").write_text("\n".join(short))
    assert read_job(hamtune.directory / "short.yaml").described_machine == machine
    assert machine.link_bandwidth * 8 == 200e9
    assert machine.host_link_bandwidth == pytest.approx(100e9 / 8)
    assert machine.model_text == "packets, verbs"


def test_who_has_one_route_of_a_fat_tree_taken_by_all_messages_is_warned(hamtune: Hamtune) -> None:
    (hamtune.directory / "fabric.txt").write_text(infiniband(2))
    hamtune("init", *answers(cluster="fabric.txt", application="cg.S.4"))
    path = hamtune.directory / "job.yaml"
    told = hamtune("check", "--no-evaluation", path)
    assert "warning" not in told.stderr
    assert "links of 200 Gbps, routes over all shortest paths, simulated by" in told.stdout

    path.write_text(path.read_text().replace("tie_rule: spread", "tie_rule: lowest-id"))
    said = hamtune("check", "--no-evaluation", path).stderr
    assert f"{path}: warning: machine.tie_rule: " in said
    assert "tie_rule: spread" in said
    assert "all shortest paths" not in hamtune("check", "--no-evaluation", path).stdout


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
    assert "mpicc is the C compiler for MPI" in done.stdout


def test_a_program_of_ones_own_is_told_of_in_options(hamtune: Hamtune) -> None:
    (hamtune.directory / "solver").mkdir()
    own = ("--build", "make CC=mpicc", "--run", "./solve 'a b'", "--ranks", "8", "--name", "mine")
    done = hamtune("init", *answers(application="solver"), *own, "-o", "-")

    job = yaml.safe_load(done.stdout)
    assert job["name"] == "mine"
    assert job["application"] == {
        "source": "solver",
        "build": "make CC=mpicc",
        "run": "./solve 'a b'",
        "ranks": 8,
    }
    refused = hamtune.refused("init", *answers(), "--ranks", "8")
    assert "--ranks goes with a directory of sources, not with is.S.32" in refused


def test_the_main_collectives_of_a_program_are_searched(hamtune: Hamtune) -> None:
    job = yaml.safe_load(hamtune("init", *answers(), "-o", "-").stdout)
    assert {"alltoallv", "alltoall", "allreduce", "bcast"} <= set(job["search"]["collectives"])


def ask(hamtune: Hamtune, *arguments: str, told: str) -> subprocess.CompletedProcess[str]:
    """`hamtune init` with answers on stdin."""
    return subprocess.run(
        [ROOT / "hamtune", "init", *arguments, "-o", "-"],
        cwd=hamtune.directory,
        env=hamtune.whole_environment(),
        input=told,
        capture_output=True,
        text=True,
        check=False,
    )


def test_of_a_network_that_there_is_no_degree_is_asked(hamtune: Hamtune) -> None:
    (hamtune.directory / "fabric.txt").write_text(infiniband(2))
    done = ask(hamtune, "--application", "cg.S.4", "--cluster", "fabric.txt", told="\n\n")

    assert done.returncode == 0, done.stderr
    assert "Links per host" not in done.stderr


def test_where_stdin_ends_defaults_are_taken_and_told(hamtune: Hamtune) -> None:
    done = ask(hamtune, "--application", "is.S.32", told="16\n")

    assert done.returncode == 1  # 32 ranks on 16 hosts
    assert "these answers make no job" in done.stderr
    done = ask(hamtune, "--application", "is.S.32", told="40\n")
    assert done.returncode == 0, done.stderr
    job = yaml.safe_load(done.stdout)
    assert (job["machine"]["nodes"], job["machine"]["degree"]) == (40, 4)
    assert job["budget"] == {"trials": 100}
    taken = [line for line in done.stderr.splitlines() if "stdin has ended" in line]
    assert len(taken) == 3
    assert taken[0].endswith(
        "[4]: 4  (stdin has ended: this is the default; --degree gives another)"
    )


def test_without_any_answer_there_is_a_job_all_the_same(hamtune: Hamtune) -> None:
    done = ask(hamtune, told="")

    assert done.returncode == 0, done.stderr
    (hamtune.directory / "job.yaml").write_text(done.stdout)
    assert read_job(hamtune.directory / "job.yaml").known_ranks == 32
    for option in ("--application", "--cluster", "--degree", "--target", "--trials"):
        assert f"{option} gives another" in done.stderr


@pytest.mark.parametrize(("application", "hosts"), [("cg.S.64", 64), ("cg.S.4", 32), ("2.ht", 32)])
def test_the_hosts_offered_are_enough_for_the_ranks(
    hamtune: Hamtune, application: str, hosts: int
) -> None:
    write_pair(hamtune.directory / "2.ht")
    done = ask(hamtune, "--application", application, told="")

    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(done.stdout)["machine"]["nodes"] == hosts


@pytest.mark.parametrize(
    ("told", "unasked", "said"),
    [
        ("iss.S.32\n", "On which hosts", "neither a file, nor a directory"),
        ("is.S.32\n3.5\n", "Links per host", "neither a number of hosts nor a file"),
        ("is.S.32\n0\n", "Links per host", "0 hosts run nothing"),
        ("unreadable\n", "On which hosts", "trace"),
        ("is.S.32\nunreadable\n", "Which MPI library", "unreadable"),
    ],
)
def test_an_answer_that_cannot_be_is_refused_before_the_next_question(
    hamtune: Hamtune, told: str, unasked: str, said: str
) -> None:
    (hamtune.directory / "unreadable").write_text("neither a trace nor a network")
    done = ask(hamtune, told=told)

    assert done.returncode == 2
    assert said in done.stderr
    assert unasked not in done.stderr
    assert not done.stdout


def test_options_that_cannot_be_are_refused_without_a_question(hamtune: Hamtune) -> None:
    for option in (("--application", "nothing"), ("--cluster", "no-such-file")):
        done = ask(hamtune, *option, told="")
        assert done.returncode == 2
        assert "How many trials" not in done.stderr


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
