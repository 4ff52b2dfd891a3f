"""Keys from the command line: made in the database, used and managed at a service that asks."""

from __future__ import annotations

import os
import stat
from typing import Any

from tests.cli.conftest import Hamtune


def test_keys_let_their_holders_in(hamtune: Hamtune, job: dict[str, Any]) -> None:
    job["search"]["topology"] = [{"family": "random", "instances": 10_000}]
    job["budget"] = {"trials": 1_000_000}  # it is to be cancelled, and not to be over before
    made = hamtune("keys", "create", "--project", "climate", "--role", "admin", "head")
    assert made.returncode == 0, made.stderr
    admin = made.stdout.strip()
    assert "it is not shown again" in made.stderr
    file = hamtune.directory / "key"
    file.write_text(admin + "\n")

    hamtune.environment = {"HAMTUNE_AUTH": "keys"}
    with hamtune.service() as service:
        asked = ("--server", service.url)
        assert "send a key" in hamtune.refused("jobs", *asked, status=1)
        hamtune.environment["HAMTUNE_API_KEY_FILE"] = str(file)
        viewer = hamtune.json(
            "keys", "create", *asked, "--role", "viewer", "--expires", "1d", "reader"
        )
        submitted = hamtune.json("submit", hamtune.job_file(job), *asked)
        assert (submitted["project"], submitted["owner"]) == ("climate", "key:head")
        assert len(hamtune.json("jobs")) == 1  # the service over the data directory, with the key
        hamtune.json("cancel", submitted["id"], *asked)

        del hamtune.environment["HAMTUNE_API_KEY_FILE"]
        hamtune.environment["HAMTUNE_API_KEY"] = viewer["key"]
        assert len(hamtune.json("jobs", *asked)) == 1
        refused = hamtune.refused("cancel", submitted["id"], *asked, status=1)
        assert "key:reader may not write jobs" in refused

        # The owner of the database needs no key to manage keys.
        hamtune.json("keys", "revoke", viewer["id"])
        assert "was revoked" in hamtune.refused("jobs", *asked, status=1)
        listed = {key["name"]: key for key in hamtune.json("keys", "list")}
        assert listed["reader"]["revoked_at"] is not None
        told = [entry["action"] for entry in hamtune.json("keys", "audit")]
        assert told[::-1] == ["create_key", "create_job", "cancel_job", "cancel_job"]


def test_wrong_use_of_keys_is_named(hamtune: Hamtune) -> None:
    assert "'soon' is no time" in hamtune.refused("keys", "create", "--expires", "soon", "x")
    assert "'root' is not one of" in hamtune.refused("keys", "create", "--role", "root", "x")
    for below in ("-90d", "-1e-9d", "-infd"):
        line = hamtune.refused("keys", "create", f"--expires={below}", "x")
        assert f"'{below}' is below 0; give a time such as 90d" in line
    for none in ("nand", "infd", "1e400d"):
        assert f"'{none}' is no time" in hamtune.refused("keys", "create", "--expires", none, "x")
    assert "there is no key nosuch" in hamtune.refused("keys", "revoke", "nosuch", status=1)
    hamtune.environment = {"HAMTUNE_API_KEY_FILE": "/nosuch/key", "HAMTUNE_API_KEY": ""}
    line = hamtune.refused("jobs", "--server", "http://127.0.0.1:9")
    assert "HAMTUNE_API_KEY_FILE" in line


def test_the_database_is_its_owners_alone(hamtune: Hamtune) -> None:
    hamtune.json("keys", "list")
    mode = stat.S_IMODE(os.stat(hamtune.data / "hamtune.db").st_mode)  # noqa: PTH116
    assert mode & 0o077 == 0
