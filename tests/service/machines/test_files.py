"""Machines from files of a cluster: what is told, what is assumed, and files that mean harm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response
from starlette import formparsers

from searchspace.machine import parse_machine
from searchspace.protocol import PROTOCOLS
from service.machines import files
from tests.service.conftest import SPEC

URL = "/api/v1/machines/files"
IBNETDISCOVER = (
    Path(__file__).parents[2] / "fuzz/corpus/ibnetdiscover/two-leaves.txt"
).read_bytes()
HOST = b"""<?xml version="1.0"?>
<topology version="2.0"><object type="Machine">
  <object type="Package"><object type="Core"/><object type="Core"/><object type="Core"/></object>
  <object type="Package"><object type="Core"/><object type="Core"/><object type="Core"/></object>
</object></topology>
"""
RING = b"0 1\n1 2\n2 3\n3 0\n"


def send(client: TestClient, texts: dict[str, str] | None = None, **sent: bytes) -> Response:
    named = {field: (f"{field}.txt", content) for field, content in sent.items()}
    answer: Response = client.post(URL, files=named, data=texts or {})
    return answer


def problem(answer: Response) -> tuple[int, str, str]:
    [error] = answer.json()["errors"]
    assert "\n" not in answer.json()["detail"]
    return answer.status_code, error["field"], error["message"]


def test_a_fabric_and_a_host_become_a_machine_that_jobs_can_name(client: TestClient) -> None:
    answer = send(client, fabric=IBNETDISCOVER, host=HOST)
    assert answer.status_code == 201
    told = answer.json()
    assert told["network"] == {"format": "ibnetdiscover", "hosts": 3, "switches": 2, "cables": 5}
    assert told["host"] == {"cores": 6, "levels": [2, 3]}
    assert told["assumed"] == {
        "host_speed": "100Gf",
        "link_latency": "0s",
        "switch_latency": "60ns",
    }
    stored = client.get(answer.headers["location"]).json()
    assert stored == told["machine"]
    assert (stored["name"], stored["machine"]["cores_per_host"]) == ("fabric", 6)
    assert stored["machine"]["topology"]["host_names"] == ["n01", "n02", "n03"]
    assert parse_machine(stored["machine"]).protocol == PROTOCOLS["verbs"]
    assert stored["machine"]["network"] == "auto"
    assert stored["machine"]["link_bandwidth"] == pytest.approx(4 * 14.0625e9 * 64 / 66 / 8)
    job = {**SPEC, "machine": {"id": stored["id"]}, "search": {"mapping": ["by-order", "packed"]}}
    checked = client.post("/api/v1/jobs/check", json=job)
    assert checked.status_code == 200, checked.text


def test_the_same_files_are_stored_once(client: TestClient) -> None:
    first = send(client, fabric=RING).json()["machine"]
    assert send(client, fabric=RING).json()["machine"] == first
    assert client.get("/api/v1/machines").json()["items"] == [first]


def test_what_is_said_beside_the_files_counts(client: TestClient) -> None:
    said = {"name": "ring", "host_speed": "40Gf", "link_bandwidth": "10Gbps", "cores_per_host": "2"}
    told = send(client, said, fabric=RING, host=HOST).json()
    machine = told["machine"]["machine"]
    assert told["machine"]["name"] == "ring"
    assert (machine["host_speed"], machine["link_bandwidth"]) == (4e10, 1.25e9)
    assert machine["cores_per_host"] == 2
    assert set(told["assumed"]) == {"link_latency", "switch_latency"}


def test_a_host_alone_tells_its_cores_or_goes_into_a_stored_machine(client: TestClient) -> None:
    alone = send(client, host=HOST)
    assert (alone.status_code, alone.json()["machine"]) == (200, None)
    assert alone.json()["host"]["cores"] == 6
    assert client.get("/api/v1/machines").json()["items"] == []
    base = send(client, {"host_speed": "40Gf"}, fabric=IBNETDISCOVER).json()["machine"]
    told = send(client, {"base": base["id"]}, host=HOST).json()
    assert told["machine"]["name"] == base["name"]
    assert told["machine"]["machine"] == {**base["machine"], "cores_per_host": 6}
    assert told["assumed"] == {}
    assert send(client, {"base": "nothing"}, host=HOST).status_code == 404


@pytest.mark.parametrize(
    ("sent", "field", "message"),
    [
        ({"fabric": b""}, "fabric", "the file is empty"),
        ({"fabric": b'Switch 4 "S-1"\n[1] nonsense\n'}, "fabric", "line 2"),
        ({"fabric": b"\xff\xfe\x00"}, "fabric", "not a text file"),
        ({"fabric": HOST}, "fabric", "the inside of a host, not a network"),
        ({"host": RING}, "host", "not XML"),
        ({"host": b"<topology/>"}, "host", "not hwloc's XML"),
        ({"fabric": b"0 1\n2 3\n"}, "topology.edges", "not connected"),
    ],
)
def test_a_file_that_holds_none_is_refused_in_one_line(
    client: TestClient, sent: dict[str, bytes], field: str, message: str
) -> None:
    status, at, why = problem(send(client, None, **sent))
    assert (status, at.endswith(field)) == (422, True), at
    assert message in why
    assert client.get("/api/v1/machines").json()["items"] == []


BOMB = (
    b"""<!DOCTYPE t [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><topology>&b;</topology>"""
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BOMB, "entities"),
        (b"<topology>" + 2000 * b"<object type='Core'>", "not XML"),
        (b"<topology>" + 900 * b"<object>" + 900 * b"</object>" + b"</topology>", "100 elements"),
        (b"<?xml version='1.0' encoding='rot13'?><topology/>", "encoding"),
    ],
)
def test_xml_that_means_harm_is_refused(client: TestClient, content: bytes, message: str) -> None:
    status, field, why = problem(send(client, host=content))
    assert (status, field) == (422, "host")
    assert message in why


def test_a_network_of_too_many_hosts_is_refused(client: TestClient) -> None:
    status, field, why = problem(send(client, fabric=b"0 1\n1 99999999\n"))
    assert (status, field) == (422, "fabric")
    assert "the last one can be" in why


def graphml(edges: int) -> bytes:
    """A network whose every edge says that it is 4,096 cables."""
    nodes = "".join(f'<node id="n{n}"/>' for n in range(edges + 1))
    joined = "".join(
        f'<edge source="n{n}" target="n{n + 1}"><data key="cables">4096</data></edge>'
        for n in range(edges)
    )
    return f'<graphml><graph edgedefault="undirected">{nodes}{joined}</graph></graphml>'.encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"edges": [[0, 2000000000]], "switches": 1}', "2000000001 nodes"),
        (graphml(500), "more than the 2000000 cables"),
    ],
)
def test_a_small_file_of_a_vast_network_is_refused(
    client: TestClient, content: bytes, message: str
) -> None:
    status, field, why = problem(send(client, fabric=content))
    assert (status, field) == (422, "fabric")
    assert message in why


def test_a_name_that_is_no_plain_text_harms_nothing(client: TestClient) -> None:
    name = "../../etc/\u202e" + "x" * 300 + "\x07.txt"
    answer = client.post(URL, files={"fabric": (name, RING)})
    assert answer.status_code == 201
    assert answer.json()["machine"]["name"] == "x" * 100


def forms() -> Iterator[tuple[dict[str, Any], int]]:
    yield {"files": {"fabric": ("f", RING)}, "data": {"colour": "red"}}, 422
    yield {"files": {"host_speed": ("f", b"1Gf")}}, 422
    yield {"files": {"fabric": ("f", RING)}, "data": {"host_speed": "fast"}}, 422
    yield {"files": {"fabric": (None, "0 1")}}, 422
    yield {"files": [("fabric", ("f", RING)), ("fabric", ("f", RING))]}, 422
    yield {"files": [("fabric", ("f", RING))] * 3}, 400
    yield {"files": {"name": (None, "only a name")}}, 422
    yield {"content": RING, "headers": {"Content-Type": "text/plain"}}, 415
    yield {"content": b"x", "headers": {"Content-Type": "multipart/form-data"}}, 400


@pytest.mark.parametrize(("request_", "status"), list(forms()))
def test_a_form_that_is_wrong_is_refused(
    client: TestClient, request_: dict[str, Any], status: int
) -> None:
    answer = client.post(URL, **request_)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_files_beyond_the_limit_are_refused_while_they_arrive(client: TestClient) -> None:
    limit = client.get("/api/v1/catalogue").json()["limits"]["machine"]
    for size in (limit + 1, 3 * limit):
        answer = send(client, fabric=b"#" * size)
        assert answer.status_code == 413
        assert "accepted here" in answer.json()["detail"]


def test_files_that_the_disk_has_no_room_for_are_refused_as_that(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Path("/dev/full")
    with monkeypatch.context() as patch:
        patch.setattr(
            formparsers, "SpooledTemporaryFile", lambda max_size: full.open("r+b", buffering=0)
        )
        answer = send(client, fabric=RING)
    assert answer.status_code == 507
    assert answer.json()["detail"].startswith("the disk of this host came to be full while")


def test_of_xml_less_is_read(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_XML", len(HOST) - 1)
    assert problem(send(client, host=HOST))[2].endswith(f"of XML at most {len(HOST) - 1} are read")
    marked = b"\xef\xbb\xbf" + HOST
    assert "of XML at most" in problem(send(client, host=marked))[2]
    assert send(client, fabric=RING + b"#" * len(HOST)).status_code == 201
