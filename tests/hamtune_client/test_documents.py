"""What of a job file is sent: files of this machine in the place of their names."""

from __future__ import annotations

import datetime
import os
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hamtune_client import HamtuneClientError
from hamtune_client.documents import (
    job_file,
    local_programs,
    packed,
    plain,
    recipe,
    with_programs,
)

TRACE = {"trace": "cg.ht"}
SOURCE = {"source": "solver", "build": "make", "run": "./solver", "ranks": 4}


def test_programs_that_lie_here_are_found_in_order_and_replaced_by_ids(tmp_path: Path) -> None:
    for application, found, replaced in [
        ({"builtin": "cg"}, [], {"builtin": "cg"}),
        (TRACE, [TRACE], {"id": "1"}),
        (
            {"extrapolate": {"captures": [SOURCE, TRACE]}, "ranks": 64},
            [SOURCE, TRACE],
            {"extrapolate": {"captures": [{"id": "1"}, {"id": "2"}]}, "ranks": 64},
        ),
        (
            {"applications": [{"application": TRACE}, {"application": {"builtin": "is"}}]},
            [TRACE],
            {"applications": [{"application": {"id": "1"}}, {"application": {"builtin": "is"}}]},
        ),
    ]:
        document = {"name": "x", "application": application}
        assert local_programs(document) == found
        ids = [str(number + 1) for number in range(len(found))]
        assert with_programs(document, ids, tmp_path) == {"name": "x", "application": replaced}


def test_several_applications_may_stand_in_the_job_itself(tmp_path: Path) -> None:
    document = {"applications": [{"name": "a", "application": TRACE}]}
    assert local_programs(document) == [TRACE]
    placed = {"applications": [{"name": "a", "application": {"id": "t"}}]}
    assert with_programs(document, ["t"], tmp_path) == placed
    # Fields that are wrong there are for the service to refuse.
    misplaced = {"trace": "x.ht", "source": "solver", "seed": 1}
    assert local_programs({**misplaced, **document}) == [TRACE]
    assert with_programs({**misplaced, **document}, ["t"], tmp_path) == {**misplaced, **placed}


def test_a_matrix_is_read_and_a_network_is_not(tmp_path: Path) -> None:
    (tmp_path / "w.mtx").write_text("0 1\n1 0\n")
    played = {"application": {"builtin": "player", "matrix": "w.mtx"}}
    read = with_programs(played, [], tmp_path)
    assert read["application"]["matrix"] == "0 1\n1 0\n"
    assert with_programs(read, [], tmp_path) == read
    with pytest.raises(HamtuneClientError, match="'hamtune submit' can"):
        with_programs({"machine": {"topology": {"file": "net.edges"}}}, [], tmp_path)


@pytest.mark.parametrize("spec", ["nothere.yaml", Path("nothere.yaml")])
def test_a_missing_job_file_is_said_in_a_line(spec: str | Path) -> None:
    with pytest.raises(HamtuneClientError, match=r"there is no file nothere\.yaml"):
        job_file(spec)


@pytest.mark.parametrize("spec", [[SOURCE], 3, None, b"name: x"])
def test_what_is_no_job_at_all_is_said_in_a_line(spec: Any) -> None:
    with pytest.raises(HamtuneClientError, match=r"a job is a mapping, .* and no "):
        job_file(spec)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (None, "this one is empty"),
        ("job", "this one is 'job'. The path of a job file ends in"),
        (["name"], "has fields with values"),
        ({1: 2}, "the job file: 1 is a int; names of fields are texts"),
        ({"machine": {2: "x"}}, "machine: 2 is a int; names"),
        (
            {"budget": {"until": [datetime.date(2024, 1, 2)]}},
            r"budget\.until\[0\]: .* is a date; a",
        ),
        ({"tags": {"a"}}, "tags: .* is a set; a job file has texts"),
    ],
)
def test_what_a_job_file_cannot_hold_is_said_with_its_place(document: Any, said: str) -> None:
    with pytest.raises(HamtuneClientError, match=said):
        plain(document)


def test_numbers_of_numpy_paths_and_tuples_become_plain() -> None:
    given = {"seed": np.int64(3), "x": (np.float32(0.5), True, None), "source": Path("solver")}
    assert plain(given) == {"seed": 3, "x": [0.5, True, None], "source": "solver"}
    assert type(plain(given)["seed"]) is int


def test_a_program_says_how_it_is_built() -> None:
    assert recipe(SOURCE) == {"build": "make", "run": "./solver", "ranks": 4}
    with pytest.raises(
        HamtuneClientError, match="needs build, run, ranks; build, ranks is missing"
    ):
        recipe({"source": "solver", "run": "./solver"})


def test_a_folder_is_packed_without_version_control_and_an_archive_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "tree/.git").mkdir(parents=True)
    (tmp_path / "tree/.git/config").write_text("x")
    (tmp_path / "tree/src").mkdir()
    (tmp_path / "tree/src/main.c").write_text("int main;")
    with packed(tmp_path / "tree") as content:
        with tarfile.open(fileobj=content) as archive:
            names = archive.getnames()
        content.seek(0)
        (tmp_path / "tree.tar.gz").write_bytes(content.read())
    assert [name for name in names if name.endswith("main.c")] and ".git" not in str(names)
    with packed(tmp_path / "tree.tar.gz") as same:
        assert same.read() == (tmp_path / "tree.tar.gz").read_bytes()
    with (
        pytest.raises(HamtuneClientError, match="there is no folder or archive"),
        packed(tmp_path / "nothere"),
    ):
        pass


def test_a_folder_that_holds_too_much_is_not_packed(tmp_path: Path) -> None:
    (tmp_path / "core").touch()
    os.truncate(tmp_path / "core", (1 << 30) + 1)
    with pytest.raises(HamtuneClientError, match="more than 1 GiB"), packed(tmp_path):
        pass
