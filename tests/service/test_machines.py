import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

URL = "/api/v1/machines"
MACHINE: dict[str, Any] = {
    "nodes": 16,
    "degree": 4,
    "host_speed": "100Gf",
    "link_bandwidth": "40Gbps",
}


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"machine": MACHINE}, "name"),
        ({"name": "", "machine": MACHINE}, "name"),
        ({"name": "m"}, "machine"),
        ({"name": "m", "machine": MACHINE, "color": "red"}, "color"),
        ({"name": "m", "machine": {**MACHINE, "host_speed": "fast"}}, "machine.host_speed"),
        ({"name": "m", "machine": {**MACHINE, "nodes": 0}}, "machine.nodes"),
        ({"name": "m", "machine": {**MACHINE, "wires": 3}}, "machine.wires"),
    ],
)
def test_a_wrong_field_is_named(client: TestClient, document: dict[str, Any], field: str) -> None:
    response = client.post(URL, json=document)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["errors"][0]["field"] == field


def test_what_is_no_object_is_refused(client: TestClient) -> None:
    documents: tuple[Any, ...] = ([], "m", 3, False)
    for document in documents:
        assert client.post(URL, json=document).status_code == 422


def test_an_unknown_machine_is_not_found(client: TestClient) -> None:
    assert client.get(f"{URL}/nothing").status_code == 404


def test_a_machine_is_kept_in_base_units(client: TestClient) -> None:
    response = client.post(URL, json={"name": "hu", "machine": MACHINE})
    assert response.status_code == 201
    machine = response.json()
    assert machine["machine"]["host_speed"] == 1e11
    assert machine["machine"]["link_bandwidth"] == 5e9
    assert client.get(response.headers["location"]).json() == machine
    assert client.get(URL).json() == {"items": [machine], "cursor": None}


def test_a_list_leaves_out_what_grows_with_a_machine_where_sizes_are_enough(
    client: TestClient,
) -> None:
    network = {
        "edges": [[0, 2], [1, 3], [2, 3, 4]],
        "switches": 2,
        "host_names": ["n01", "n02"],
    }
    given = {**MACHINE, "nodes": 2, "host_speeds": ["1Gf", "2Gf"], "topology": network}
    del given["degree"]
    whole = client.post(URL, json={"name": "given", "machine": given}).json()
    assert whole["network"] == {"switches": 2, "cables": 6}
    assert client.get(f"{URL}/{whole['id']}").json() == whole
    assert client.get(URL).json()["items"] == [whole]
    [listed] = client.get(URL, params={"summary": True}).json()["items"]
    left_out = {"topology", "host_speeds"}
    assert left_out <= whole["machine"].keys() and not left_out & listed["machine"].keys()
    assert listed["machine"].items() <= whole["machine"].items()
    assert {"nodes", "cores_per_host", "host_speed", "link_bandwidth"} <= listed["machine"].keys()
    assert {**listed, "machine": None} == {**whole, "machine": None}


def test_a_machine_without_a_network_says_so(client: TestClient) -> None:
    client.post(URL, json={"name": "hu", "machine": MACHINE})
    [listed] = client.get(URL, params={"summary": True}).json()["items"]
    assert listed["network"] is None


def test_yaml_says_the_same_as_json(client: TestClient) -> None:
    first = client.post(URL, json={"name": "hu", "machine": MACHINE}).json()
    text = f"name: hu\nmachine: {json.dumps(MACHINE)}\n"
    again = client.post(URL, content=text, headers={"Content-Type": "application/yaml"})
    assert again.json() == first


@pytest.mark.parametrize(
    "text", ["a: &x [1]\nb: *x\n", "a: 1\na: 2\n", "a: [", "!!python/name:os.system"]
)
def test_yaml_that_json_could_not_say_is_refused(client: TestClient, text: str) -> None:
    response = client.post(URL, content=text, headers={"Content-Type": "application/yaml"})
    assert response.status_code == 400
    assert response.json()["detail"].startswith("not acceptable YAML: ")
