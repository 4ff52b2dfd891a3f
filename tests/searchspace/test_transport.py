"""Settings of the transport: values, identity, the protocol that they make, the space of a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.job import BuiltSpace, build_space, load_job
from searchspace.machine import Machine, parse_machine
from searchspace.platform import Infeasible, complete, evaluation_key, resolve
from searchspace.transport import MOST_EAGER, SETTINGS, with_settings
from workers.simulator_client import Simulator

KIB = 1024
OWN_LIMIT = 65_480
TORUS = {"nodes": 16, "degree": 4, "host_speed": "2Gf", "link_bandwidth": "20Mbps"}


def machine(network: str = "packets", **protocol: Any) -> Machine:
    more = {"protocol": protocol} if protocol else {}
    return parse_machine({**TORUS, "network": network, **more})


def configuration(**protocol: Any) -> Configuration:
    return Configuration.from_json({"topology": "torus-2d", "protocol": protocol})


def space_of(protocol: Any, network: str = "auto", **search: Any) -> BuiltSpace:
    job = {
        "name": "transport",
        "application": {"pattern": "all-to-all", "ranks": 16, "size": 1000, "count": 1, "rate": 1},
        "machine": {**TORUS, "network": network},
        "search": {"topology": ["torus-2d", "random"], "protocol": protocol, **search},
        "budget": {"trials": 3},
    }
    spec = load_job(job)
    assert load_job(spec.canonical()) == spec
    return build_space(spec, 16)


def values_of(built: BuiltSpace) -> dict[str, list[Any]]:
    parameters = built.space.parameters
    return {p.name: list(p.every()) for p in parameters if p.name.startswith("protocol.")}


def test_settings_take_the_place_of_the_machines_own() -> None:
    chosen = configuration(exchange="full", eager_limit="256KiB")
    packets = resolve(chosen, machine(mtu=9000), 16).simulator_request()["platform"]["packets"]
    own = resolve(configuration(), machine(mtu=9000), 16).simulator_request()
    assert packets == own["platform"]["packets"] | {
        "exchange": "full",
        "eager_limit": 256 * KIB,
        "exchange_above": 256 * KIB,
    }


@pytest.mark.parametrize(
    ("own", "chosen", "above"),
    [
        ({}, 16 * KIB, 16 * KIB),
        ({"exchange_above": 100_000}, 16 * KIB, 100_000),
        ({"exchange_above": 100_000}, 256 * KIB, 256 * KIB),
        ({"eager_limit": None}, 16 * KIB, 16 * KIB),
    ],
)
def test_what_goes_in_turn_is_above_the_eager_limit(
    own: dict[str, Any], chosen: int, above: int
) -> None:
    protocol = with_settings(machine(**own), {"eager_limit": chosen}).protocol
    assert protocol is not None
    assert (protocol.eager_limit, protocol.exchange_above) == (chosen, above)


@pytest.mark.parametrize(
    "protocol",
    [
        {"exchange": "default"},
        {"exchange": "half"},
        {"eager_limit": OWN_LIMIT},
        {"exchange": "half", "eager_limit": "default"},
    ],
)
@pytest.mark.parametrize("network", ["packets", "auto"])
def test_the_machines_own_value_is_the_default(protocol: dict[str, Any], network: str) -> None:
    on = machine(network)
    assert complete(configuration(**protocol), on) == complete(configuration(), on)


def test_a_setting_is_part_of_the_identity_but_not_of_what_the_fluid_evaluates() -> None:
    on = machine("auto")
    full, plain = configuration(exchange="full"), configuration()
    assert complete(full, on)["protocol.exchange"] == "full"
    assert evaluation_key("0", on, full, "1") != evaluation_key("0", on, plain, "1")
    fluid = on.simulated_by("fluid")
    assert evaluation_key("0", fluid, full, "1") == evaluation_key("0", fluid, plain, "1")
    requests = [resolve(one, fluid, 16).simulator_request() for one in (full, plain)]
    assert requests[0] == requests[1]


def one_of_settings(name: str) -> st.SearchStrategy[Any]:
    limits = st.integers(0, MOST_EAGER)
    values = {"exchange": st.sampled_from(["half", "full"]), "eager_limit": limits}[name]
    return st.just("default") | values


@given(st.fixed_dictionaries({}, optional={name: one_of_settings(name) for name in SETTINGS}))
def test_the_complete_form_is_one_and_means_the_same(protocol: dict[str, Any]) -> None:
    on = machine()
    chosen = configuration(**protocol)
    once = complete(chosen, on)
    assert complete(once, on) == once
    assert evaluation_key("0", on, chosen, "1") == evaluation_key("0", on, once, "1")


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        ({"exchange": "both"}, r"protocol\.exchange: unknown value 'both'; allowed: default, half"),
        ({"eager_limit": "17MiB"}, r"protocol\.eager_limit: must be at most 16777216 bytes"),
        ({"eager_limit": True}, r"protocol\.eager_limit: True is not a size"),
        ({"links": 2}, r"protocol\.links: unknown setting .* allowed: exchange, eager_limit"),
    ],
)
@pytest.mark.parametrize("network", ["packets", "fluid"])
def test_refuses(protocol: dict[str, Any], message: str, network: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        resolve(configuration(**protocol), machine(network), 16)


def test_both_directions_at_once_need_an_announcement_with_much_in_it() -> None:
    small = configuration(exchange="full", eager_limit=16 * KIB)
    with pytest.raises(Infeasible, match="need an eager limit of at least 65480 bytes, not 16384"):
        resolve(small, machine(), 16)
    # Where the machine has it by itself, as InfiniBand has, small messages have no part in it.
    assert resolve(small, machine(name="verbs"), 16)

    built = space_of("all")
    bad = {**built.space.default(), "protocol.exchange": "full", "protocol.eager_limit": 16 * KIB}
    assert "need an eager limit" in (built.space.infeasible(bad) or "")
    assert built.space.infeasible({**bad, "protocol.exchange": "default"}) is None


def test_all_stands_for_the_machines_own_and_what_was_held_against_open_mpi() -> None:
    limits = ["default", 16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB]
    everything = {"protocol.exchange": ["default", "full"], "protocol.eager_limit": limits}
    assert values_of(space_of("all")) == everything
    assert values_of(space_of({"eager_limit": "all", "exchange": ["all"]})) == everything
    assert values_of(space_of({})) == {}


def test_values_may_be_listed_and_the_machines_own_is_the_default() -> None:
    listed = {"exchange": ["full", "half"], "eager_limit": ["64KiB", OWN_LIMIT, "default"]}
    assert values_of(space_of(listed)) == {
        "protocol.exchange": ["full", "default"],
        "protocol.eager_limit": [64 * KIB, "default"],
    }


def test_baselines_go_by_the_machines_own_and_are_points_of_the_space() -> None:
    built = space_of("all")
    label, first = next(one for one in built.baselines if one[0] == "torus-2d")
    assert first["protocol.exchange"] == "default", label
    assert built.space.canonicalise(first) == first


@pytest.mark.parametrize(
    ("protocol", "more", "message"),
    [
        ("all", {"network": "fluid"}, r"search\.protocol: means nothing to the fluid model; leave"),
        ("some", {}, r"search\.protocol: must be 'all', or a group of: exchange, eager_limit"),
        ({"mtu": 9000}, {}, r"search\.protocol\.mtu: unknown setting of the transport; allowed"),
        ({"exchange": []}, {}, r"search\.protocol\.exchange: must list at least 1"),
        ({"eager_limit": [64, "64B"]}, {}, r"search\.protocol\.eager_limit: 64 is listed twice"),
        (
            {"exchange": "full"},
            {"target": "mpich-4.0"},
            r"search\.protocol\.exchange: MPICH 4.0 has no setting for it",
        ),
    ],
)
def test_spaces_that_are_refused(protocol: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        space_of(protocol, **more)


def test_all_for_a_library_is_what_it_can_be_told() -> None:
    built = space_of("all", target="mpich-4.0")
    assert list(values_of(built)) == ["protocol.eager_limit"]
    reason = "MPICH 4.0 has no setting for it"
    assert {"parameter": "protocol.exchange", "value": None, "reason": reason} in built.excluded
    assert list(values_of(space_of("all", target="openmpi-4.1"))) == [
        "protocol.exchange",
        "protocol.eager_limit",
    ]


def test_a_simulator_that_goes_on_takes_each_setting_anew(tmp_path: Path) -> None:
    trace = tmp_path / "one.ht"
    calls = encode("allreduce", count=32 * KIB, size=8) + encode("finalize")
    write_trace(trace, TraceHeader(ranks=16, program="allreduce"), [calls] * 16)
    chosen: list[dict[str, Any]] = [
        {},
        {"exchange": "full"},
        {"eager_limit": 256 * KIB},
        {"eager_limit": 16 * KIB},
    ]

    def request(protocol: dict[str, Any]) -> dict[str, Any]:
        algorithm = {"collectives.allreduce": "rab"}
        both = Configuration({**configuration(**protocol), **algorithm})
        return resolve(both, machine(), 16).simulator_request()

    def time(simulator: Simulator, protocol: dict[str, Any]) -> float:
        return float(simulator.evaluate(request(protocol))["simulated_time"])

    alone = []
    for protocol in chosen:
        with Simulator([trace]) as fresh:
            alone.append(time(fresh, protocol))
    with Simulator([trace]) as simulator:
        again = [time(simulator, protocol) for protocol in (*chosen, *chosen)]
    assert again == alone * 2
    own, full, large, small = alone
    assert large < full < own < small
