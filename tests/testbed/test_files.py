"""What is a cluster's directory and what is not, and whose directories are used at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.files import WISHES, is_testbed, taken_lock

ROOT = Path(__file__).resolve().parents[2]
OTHER_USER = 2_000_000_000 + os.getpid()  # has no account, and no other test's files
AS_OTHER_USER = f"""
import os
from searchspace.errors import HamtuneError
from testbed.clusters import take_down
os.setgroups([])
os.setresgid(*3 * [{OTHER_USER}])
os.setresuid(*3 * [{OTHER_USER}])
try:
    print(take_down("small"))
except HamtuneError as error:
    print(error)
"""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user, too")


def cluster(directory: Path) -> Path:
    """What looks like a cluster that is not up any more."""
    directory.mkdir()
    (directory / WISHES).write_text("{}")
    return directory


def test_a_cluster_is_known_by_what_was_asked_for(tmp_path: Path) -> None:
    made = cluster(tmp_path / "small")
    assert is_testbed(made)
    assert not is_testbed(cluster(tmp_path / "My papers"))
    (tmp_path / "empty").mkdir()
    assert not is_testbed(tmp_path / "empty")
    (tmp_path / "link").symlink_to(made)
    assert not is_testbed(tmp_path / "link")
    assert not is_testbed(made / WISHES)
    assert not is_testbed(tmp_path / "none")


@needs_root
def test_a_cluster_is_its_users_own(tmp_path: Path) -> None:
    made = cluster(tmp_path / "small")
    os.chown(made, OTHER_USER, OTHER_USER)
    assert not is_testbed(made)


def test_a_lock_that_is_a_link_is_refused(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("something")
    link = tmp_path / ".small.lock"
    link.symlink_to(precious)
    with pytest.raises(OSError, match="symbolic links"):
        taken_lock(link)
    assert precious.read_text() == "something"


@pytest.fixture
def predictable() -> Iterator[Path]:
    """Where another user's clusters are, who has no directory for running programs."""
    directory = Path(f"/tmp/hamtune-testbeds-{OTHER_USER}")
    directory.mkdir(mode=0o700)
    cluster(directory / "small")
    for path in (directory, directory / "small", directory / "small" / WISHES):
        os.chown(path, OTHER_USER, OTHER_USER)
    yield directory
    if directory.is_symlink():
        directory.unlink()
    else:
        shutil.rmtree(directory)


def taken_down_by_other_user() -> str:
    variables = {"HAMTUNE_TESTBEDS", "XDG_RUNTIME_DIR"}
    return subprocess.run(
        [sys.executable, "-c", AS_OTHER_USER],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in variables},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


@needs_root
def test_a_directory_of_the_user_alone_is_used(predictable: Path) -> None:
    assert taken_down_by_other_user() == "True\n"
    assert not (predictable / "small").exists()


@needs_root
@pytest.mark.parametrize("flaw", ["of another user", "open to others", "a link"])
def test_a_directory_that_others_may_have_made_is_refused(predictable: Path, flaw: str) -> None:
    with tempfile.TemporaryDirectory() as elsewhere:
        if flaw == "of another user":
            predictable.chmod(0o777)
            os.chown(predictable, 0, 0)
        elif flaw == "open to others":
            predictable.chmod(0o750)
        else:
            os.chown(elsewhere, OTHER_USER, OTHER_USER)
            predictable.rename(Path(elsewhere, "moved"))
            predictable.symlink_to(Path(elsewhere, "moved"))
        said = taken_down_by_other_user()
        assert said.startswith(f"{predictable} cannot be used: it has to be a directory, no link")
        assert "set HAMTUNE_TESTBEDS" in said
        assert (predictable / "small" / WISHES).exists()
