"""Our engine gives what SimGrid's own gives, to the last digit: times, finish times and loads."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from searchspace.collectives import COLLECTIVES, SELECTORS
from searchspace.collectives.equivalents.decisions import option, selected
from searchspace.formats.operations import encode
from searchspace.kernels import trace_summary
from tests.workers.simulator.runs import Server, answer_of, line_of, on_a_line, write_program
from tests.workers.simulator.test_exactness import configurations
from tests.workers.simulator.test_operations import RANKS as FEW_RANKS
from tests.workers.simulator.test_operations import blocking_forms, ring_forms
from tests.workers.simulator.test_selectors import RANKS, call, grid
from workers.capture import capture_builtin

COUNTS = (1, 2000, 150_000)
SAME = ("simulated_time", "application_times", "rank_finish_times", "link_loads")


def assert_same(server: Server, request: Mapping[str, Any], what: object) -> None:
    """Both engines answer the request alike; of a failure the reason may be told differently."""
    ours = server.ask(dict(request))
    simgrid = server.ask({**request, "plain_simgrid": True})
    assert ours["status"] == simgrid["status"], (what, ours["reason"], simgrid["reason"])
    if ours["status"] != "failed":
        assert {key: ours[key] for key in SAME} == {key: simgrid[key] for key in SAME}, what


@pytest.mark.parametrize("ranks_per_host", [1, 2])
def test_every_algorithm(ranks_per_host: int, tmp_path: Path, serve: Callable[..., Server]) -> None:
    rank_hosts = [rank // ranks_per_host for rank in range(RANKS)]
    traces = [
        write_program(
            tmp_path / f"{name}.ht",
            [[call(name, count, rank) for count in COUNTS] for rank in range(RANKS)],
        )
        for name in COLLECTIVES
    ]
    server = serve(*traces)
    for number, (name, collective) in enumerate(COLLECTIVES.items()):
        chosen = [{f"smpi/{name}": option(name, each)} for each in collective.algorithms]
        for options in [*chosen, *map(selected, SELECTORS)]:
            request = {
                "id": name,
                "platform": grid(rank_hosts),
                "applications": [{"trace": number, "hosts": rank_hosts}],
                "options": options,
            }
            assert_same(server, request, options)


@pytest.mark.parametrize("program", ["cg", "ft", "is", "mg"])
def test_programs_on_random_machines(
    program: str, tmp_path: Path, serve: Callable[..., Server]
) -> None:
    trace = tmp_path / "captured.ht"
    capture_builtin(program, "S", 8, {}, trace)
    server = serve(trace)
    for resolved in itertools.islice(configurations(program, 8, trace_summary(trace)), 4):
        request = {"id": program, **resolved.simulator_request()}
        assert_same(server, request, resolved.options)


@pytest.mark.parametrize("forms", [ring_forms, blocking_forms])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"smpi/os": "0:1e-6:1e-10;1000:2e-6:0", "smpi/ois": "0:3e-7:0", "smpi/or": "0:5e-7:1e-9"},
        {"smpi/send-is-detached-thresh": "0"},
        {"network/crosstraffic": "no", "network/weight-S": "0"},
        {"smpi/async-small-thresh": "1000"},  # left to SimGrid
    ],
    ids=["default", "overheads", "rendez-vous", "one-way", "mailboxes"],
)
def test_forms_of_messages(
    forms: Callable[[int], list[Any]],
    options: dict[str, str],
    tmp_path: Path,
    serve: Callable[..., Server],
) -> None:
    # SMPI's own probe polls; ours is held against it in test_blocking_probes.py.
    programs = [
        [encode(name, **fields) for name, fields in forms(rank) if name != "probe"]
        for rank in range(FEW_RANKS)
    ]
    trace = write_program(tmp_path / "forms.ht", programs)
    for rank_hosts in ([0, 1, 2, 3], [0, 0, 1, 1]):
        request = {
            "id": "forms",
            "platform": line_of(max(rank_hosts) + 1, cores=1),
            "applications": [{"trace": 0, "hosts": rank_hosts}],
            "options": options,
        }
        assert_same(serve(trace), request, rank_hosts)


def crowd(rng: random.Random, ranks: int, messages: int) -> list[list[bytes]]:
    """Every rank posts all its receives, some from anyone, and is sent to in another order.

    They are awaited in groups, some one by one, in yet another order, with work in between.
    """
    tags = [[rng.randrange(messages // 20) for _ in range(messages)] for _ in range(ranks)]
    comm = [[rng.randrange(2) for _ in range(messages)] for _ in range(ranks)]
    programs = []
    for rank in range(ranks):
        source, target = (rank - 1) % ranks, (rank + 1) % ranks
        program = [encode("comm_dup")]
        expected = list(range(messages))
        rng.shuffle(expected)
        for slot, each in enumerate(expected):
            envelope = {"tag": tags[source][each], "comm": 2 * comm[source][each]}
            # Whoever comes: the next receive of that tag gets what this one would have got.
            peer = rng.choice([source, source, source, -2])
            program.append(encode("irecv", slot=slot, peer=peer, count=9000, size=1, **envelope))
        for slot in range(messages):
            envelope = {"tag": tags[rank][slot], "comm": 2 * comm[rank][slot]}
            count = rng.choice([1, 3000, 9000])
            program.append(
                encode("isend", slot=messages + slot, peer=target, count=count, size=1, **envelope)
            )
            if rng.random() < 0.1:
                program.append(encode("compute", flops=1e4))
        slots = list(range(2 * messages))
        rng.shuffle(slots)
        while slots:
            several = rng.choice([1, 5, messages])
            group, slots = slots[:several], slots[several:]
            wait = encode("wait", slot=group[0]) if several == 1 else None
            program.append(wait or encode("waitall", slots=group))
            program.append(encode("compute", flops=1e3))
        programs.append(program)
    return programs


@pytest.mark.parametrize("options", [{}, {"smpi/send-is-detached-thresh": "0"}])
def test_messages_that_wait_in_crowds(
    options: dict[str, str], tmp_path: Path, serve: Callable[..., Server]
) -> None:
    trace = write_program(tmp_path / "crowd.ht", crowd(random.Random(5), ranks=4, messages=200))
    for rank_hosts in ([0, 1, 2, 3], [0, 0, 1, 1]):
        request = {
            "id": "crowd",
            "platform": line_of(max(rank_hosts) + 1),
            "applications": [{"trace": 0, "hosts": rank_hosts}],
            "options": options,
        }
        assert_same(serve(trace), request, rank_hosts)


def test_more_messages_at_once_than_simgrid_can_share_out(tmp_path: Path) -> None:
    # The claims of hundreds of messages do not come to nothing again when they are taken off one by
    # one, and SimGrid gives up ("Cannot saturate more a constraint that has no active element").
    def run(messages: int, **fields: object) -> dict[str, Any]:
        programs = []
        for rank in range(4):
            slots = list(range(messages))
            source, target = (rank + 1) % 4, (rank - 1) % 4
            receives = [
                encode("irecv", slot=slot, peer=source, tag=slot, count=1, size=1) for slot in slots
            ]
            sends = [
                encode("isend", slot=messages + slot, peer=target, tag=slot, count=1, size=1)
                for slot in slots
            ]
            wait = encode("waitall", slots=list(range(2 * messages)))
            programs.append([*receives, *sends, wait])
        trace = write_program(tmp_path / f"{messages}.ht", programs)
        fast = line_of(4, link_bandwidth=1e12, link_latency=1e-9)
        return answer_of(trace, on_a_line(0, 1, 2, 3, platform=fast, wall_seconds=60.0, **fields))

    given_up = run(400, plain_simgrid=True)["reason"]
    assert "Cannot saturate more a constraint" in given_up["message"]
    times = [run(messages)["simulated_time"] for messages in (200, 300, 400)]
    assert times[0] > 0
    assert times[2] - times[1] == pytest.approx(times[1] - times[0], rel=0.01)


def test_several_applications_and_a_cutoff(tmp_path: Path, serve: Callable[..., Server]) -> None:
    traces = [tmp_path / "mg.ht", tmp_path / "mm.ht"]
    capture_builtin("mg", "S", 8, {}, traces[0])
    capture_builtin("mm", None, 4, {"order": 96}, traces[1])
    server = serve(*traces)
    rng = random.Random(7)
    for cutoff in (None, None, 2e-3):
        request = {
            "id": "several",
            "platform": line_of(6, cores=rng.choice([1, 2])),
            "applications": [
                {"trace": 0, "hosts": [rng.randrange(6) for _ in range(8)]},
                {"trace": 1, "hosts": [rng.randrange(6) for _ in range(4)], "start": 1e-3},
            ],
            "cutoff": cutoff,
        }
        assert_same(server, request, request["applications"])
