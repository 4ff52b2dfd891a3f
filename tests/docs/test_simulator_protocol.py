"""The page of the simulator's protocol tells the version and the fields that are in use."""

from __future__ import annotations

import re
from pathlib import Path

from searchspace.configuration import Configuration
from searchspace.machine import Machine
from searchspace.platform import resolve
from workers import loggp
from workers.back_ends import BACK_ENDS
from workers.simulator_client import simulator_version

PAGE = Path(__file__).resolve().parents[2] / "docs" / "simulator-protocol.md"
TOLD = set(re.findall(r"`([a-z_]+)`", PAGE.read_text()))


def machine(network: str) -> Machine:
    fabric = {"nodes": 8, "degree": 3, "host_speed": "1Gf", "link_bandwidth": "1GBps"}
    return Machine.model_validate({**fabric, "network": network})


def test_it_tells_the_version() -> None:
    version = simulator_version().partition("+")[0]
    assert f"This is version `{version}`" in PAGE.read_text()


def test_it_tells_what_a_request_has() -> None:
    for network in ("fluid", "packets"):
        chosen = Configuration({"topology": "random"})
        request = resolve(chosen, machine(network), 8).simulator_request()
        (application,) = request["applications"]
        assert request.keys() | request["platform"].keys() | application.keys() <= TOLD


def test_it_tells_what_loggp_leaves_out() -> None:
    code = Path(loggp.__file__).read_text()
    table = PAGE.read_text().partition("`loggp` leaves out:")[2]
    for network in ("fluid", "packets"):
        request = resolve(
            Configuration({"topology": "random"}), machine(network), 8
        ).simulator_request()
        fields = request["platform"].keys() | request["applications"][0].keys()
        unread = {name for name in fields if f'"{name}"' not in code}
        assert all(f"`{name}`" in table for name in unread), unread


def test_it_tells_every_back_end() -> None:
    assert BACK_ENDS.keys() <= TOLD
