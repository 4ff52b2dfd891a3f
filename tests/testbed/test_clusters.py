"""Clusters that are brought up for real: what is there, what crosses which cable, what is left."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from searchspace.errors import HamtuneError, InvalidInput
from searchspace.machine import Machine, NetworkDescription, parse_machine
from searchspace.topology import generate
from testbed.backlog import FRAMES
from testbed.clusters import (
    CannotBringUp,
    Testbed,
    bring_up,
    find,
    known_names,
    list_testbeds,
    take_down,
)
from testbed.files import taken_lock

ROOT = Path(__file__).resolve().parents[2]
BYTES = 200_000
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may change namespaces alone")
FAT_TREE: dict[str, Any] = {
    "edges": [[0, 4], [1, 4], [2, 5], [3, 5], [4, 6], [4, 7], [5, 6], [5, 7]],
    "switches": 4,
}
SENDER = f"import socket; socket.create_connection(('HOST', 5000)).sendall(bytes({BYTES}))"
RECEIVER = """
import socket
server = socket.create_server(('', 5000))
print('listens', flush=True)
connection, _ = server.accept()
while connection.recv(1 << 16):
    pass
"""


def ring(hosts: int = 4, **more: Any) -> Machine:
    topology = NetworkDescription.of(generate("ring", hosts))
    return machine(topology, hosts, **more)


def machine(topology: Any, hosts: int, **more: Any) -> Machine:
    base = {"nodes": hosts, "host_speed": "1Gf", "link_bandwidth": "1Gbps"}
    return parse_machine({**base, "topology": topology, **more})


def on(cluster: Testbed, host: str, script: str, output: Any) -> Any:
    return cluster.start(
        host,
        [sys.executable, "-S", "-c", script],
        environment=dict(os.environ),
        directory=ROOT,
        files=(0, output, 2),
    )


def said(cluster: Testbed, host: str, *command: str) -> str:
    reading, writing = os.pipe()
    with os.fdopen(reading) as output:
        with cluster.start(
            host,
            command,
            environment=dict(os.environ),
            directory=ROOT,
            files=(0, writing, 2),
        ) as running:
            os.close(writing)
            assert running.wait(300) == 0
        return output.read()


def transfer(cluster: Testbed, source: str, target: str) -> None:
    """Send bytes from one host to another."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as output, on(cluster, target, RECEIVER, writing) as receiver:
        os.close(writing)
        assert output.readline() == "listens\n"
        with on(cluster, source, SENDER.replace("HOST", target), 2) as sender:
            assert sender.wait(300) == 0
        assert receiver.wait(300) == 0


@pytest.mark.parametrize("tie_rule", ["lowest-id", "spread"])
def test_messages_cross_the_cables_of_the_model_and_no_others(
    own_testbeds: Path, tie_rule: str
) -> None:
    cluster, _ = bring_up(machine(FAT_TREE, 4, tie_rule=tie_rule), "tree", scale=10)
    for source, target in ((1, 3), (2, 1)):
        before = cluster.counts()
        transfer(cluster, cluster.hosts[source], cluster.hosts[target])
        counted = cluster.counts().since(before)
        assert not any(counted.sent_again.values())
        on_way = dict(cluster.plan.routes.path(source, target))
        for cable, (there, back) in enumerate(counted.cables):
            if cable in on_way:
                carried = there if on_way[cable] else back
                assert BYTES < carried < 1.06 * BYTES + 2000
            else:
                assert there == back == 0


def test_a_host_has_its_name_its_devices_and_knows_the_others(own_testbeds: Path) -> None:
    cluster, new = bring_up(ring(), "small", scale=10)
    assert new
    assert said(cluster, "node-2", "hostname") == "node-2\n"
    cables = {cable.device for cable in cluster.plan.cables_of[2]}
    assert len(cables) == 2
    assert {*said(cluster, "node-2", "ls", "/sys/class/net").split()} >= {*cables, "d0", "lo"}
    assert said(cluster, "node-0", "getent", "hosts", "node-3").split() == ["10.77.0.4", "node-3"]
    outside = subprocess.run(["hostname"], capture_output=True, text=True).stdout
    assert outside != "node-2\n"


def test_what_is_up_already_stays_and_another_machine_is_refused(own_testbeds: Path) -> None:
    first, _ = bring_up(ring(), "small", scale=10)
    again, new = bring_up(ring(), "small", scale=10)
    assert not new
    assert again.description == first.description
    with pytest.raises(InvalidInput, match="another machine or other settings"):
        bring_up(ring(3), "small", scale=10)
    assert [one.name for one in list_testbeds()] == ["small"]
    assert take_down("small")
    assert not take_down("small")
    with pytest.raises(InvalidInput, match="no testbed 'small' is up"):
        find("small")
    with pytest.raises(HamtuneError, match="not up any more"):
        first.counts()


def test_the_scale_is_found_so_that_this_host_carries_it(own_testbeds: Path) -> None:
    cluster, _ = bring_up(ring(3), "auto")
    assert cluster.description["scale"] > 1
    rates = [cable.rate for cable in cluster.plan.cables]
    assert 2 * sum(rates) <= 0.26 * cluster.description["capacity"]["bytes"]
    assert cluster.scaled_machine.link_bandwidth == pytest.approx(rates[0])


def test_all_processes_of_a_run_end_with_it(own_testbeds: Path) -> None:
    cluster, _ = bring_up(ring(), "small", scale=10)
    mark = f"{os.getpid()}.25"
    script = f"sleep 1{mark} & sleep 2{mark}"
    running = cluster.start(
        "node-0", ["sh", "-c", script], environment=dict(os.environ), directory=ROOT
    )
    wait_for(lambda: len(processes(mark)) >= 2)
    running.close()
    wait_for(lambda: not processes(mark))


def test_nothing_is_left_of_one_who_is_killed_while_it_comes_up(own_testbeds: Path) -> None:
    script = (
        "from tests.testbed.test_clusters import ring; from testbed.clusters import bring_up;"
        "bring_up(ring(16), 'killed')"
    )
    starter = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    wait_for(lambda: holders(own_testbeds))
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    wait_for(lambda: not holders(own_testbeds))
    assert known_names() == ["killed"]
    assert take_down("killed")
    assert known_names() == []


def test_a_holder_that_is_killed_takes_all_with_it(own_testbeds: Path) -> None:
    cluster, _ = bring_up(ring(), "small", scale=10)
    [holder, *_] = holders(own_testbeds)
    os.kill(holder, signal.SIGKILL)
    wait_for(lambda: not list_testbeds())
    with pytest.raises(HamtuneError, match="not up any more"):
        cluster.counts()
    again, new = bring_up(ring(), "small", scale=10)
    assert new
    assert again.counts().bytes == 0


def test_what_is_no_testbed_is_left_alone(own_testbeds: Path) -> None:
    for name in ("data", "My papers"):
        (own_testbeds / name).mkdir(parents=True)
        (own_testbeds / name / "results.csv").write_text("precious")
    (own_testbeds / "link").symlink_to("data")
    (own_testbeds / "notes").write_text("precious")
    assert known_names() == []
    assert list_testbeds() == []
    for name in ("data", "link", "notes"):
        with pytest.raises(InvalidInput, match=f"/{name} is there and is no testbed; choose"):
            bring_up(ring(), name, scale=10)
        assert not take_down(name)
    assert (own_testbeds / "link" / "results.csv").read_text() == "precious"
    assert (own_testbeds / "My papers" / "results.csv").read_text() == "precious"
    assert (own_testbeds / "notes").read_text() == "precious"


def test_an_empty_directory_of_one_who_was_killed_is_no_obstacle(own_testbeds: Path) -> None:
    (own_testbeds / "small").mkdir(parents=True)
    assert not take_down("small")
    _, new = bring_up(ring(), "small", scale=10)
    assert new
    assert known_names() == ["small"]


def test_a_lock_that_leads_elsewhere_is_refused(own_testbeds: Path) -> None:
    own_testbeds.mkdir()
    (own_testbeds / "precious").write_text("something")
    (own_testbeds / ".small.lock").symlink_to("precious")
    with pytest.raises(CannotBringUp, match="cannot be used"):
        bring_up(ring(), "small", scale=10)
    assert (own_testbeds / "precious").read_text() == "something"


@needs_root
def test_without_the_limit_of_frames_there_is_a_note(own_testbeds: Path) -> None:
    in_a_process(
        """
        from testbed.kernel import CLONE_NEWNET, unshare
        unshare(CLONE_NEWNET)  # as in a container: only the host's own namespace has that limit
        bring_up(ring(), "small", scale=10)
        """
    )
    [note] = [note for note in find("small").description["notes"] if "frames may wait" in note]
    assert "net.core.netdev_max_backlog" in note


@needs_root
def test_the_limit_of_frames_is_put_back_whatever_happens(
    own_testbeds: Path, tmp_path: Path
) -> None:
    limit, compiler = tmp_path / "limit", tmp_path / "bin" / "cc"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\nexit 1\n")
    compiler.chmod(0o755)
    said = in_a_process(
        f"""
        import os
        from pathlib import Path
        from testbed.clusters import CannotBringUp
        from testbed.kernel import CLONE_NEWNS, MS_BIND, MS_PRIVATE, MS_REC, mount, unshare
        limit = Path({str(limit)!r})  # this process takes it for the kernel's
        limit.write_text("1000")
        unshare(CLONE_NEWNS)
        mount("none", "/", None, MS_REC | MS_PRIVATE)
        mount(str(limit), "/proc/sys/net/core/netdev_max_backlog", None, MS_BIND)
        path = os.environ["PATH"]
        os.environ["PATH"] = {str(compiler.parent)!r} + ":" + path
        try:
            bring_up(ring(), "small", scale=10)
        except CannotBringUp as error:
            print(int(limit.read_text()), "compile" in str(error))
        os.environ["PATH"] = path
        bring_up(ring(), "small", scale=10)
        print(int(limit.read_text()))
        take_down("small")
        print(int(limit.read_text()))
        # Who was killed after the last cluster was gone has left the limit raised.
        limit.write_text("{FRAMES}")
        Path({str(own_testbeds / ".backlog")!r}).write_text("1000")
        print(take_down("small"), int(limit.read_text()))
        """
    )
    assert said.split() == ["1000", "True", f"{FRAMES}", "1000", "False", "1000"]
    assert known_names() == []


def test_a_cluster_is_there_before_it_raises_the_limit(own_testbeds: Path) -> None:
    own_testbeds.mkdir()
    with ThreadPoolExecutor(1) as pool:
        with taken_lock(own_testbeds / ".backlog.lock"):
            coming = pool.submit(bring_up, ring(), "small", scale=10)
            wait_for(lambda: known_names() == ["small"])
        assert coming.result()[1]


def in_a_process(script: str) -> str:
    """What a script says that has a process of its own."""
    imports = (
        "from testbed.clusters import bring_up, take_down\n"
        "from tests.testbed.test_clusters import ring\n"
    )
    return subprocess.run(
        [sys.executable, "-c", imports + textwrap.dedent(script)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def processes(mark: str) -> list[int]:
    """The processes whose command has a mark in it."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and mark in (entry / "cmdline").read_text():
                found.append(int(entry.name))
    return found


def holders(root: Path) -> list[int]:
    """The processes that hold clusters below a directory."""
    return [
        number
        for number in processes(str(root))
        if "testbed.holder" in Path(f"/proc/{number}/cmdline").read_text()
    ]


def wait_for(condition: Any) -> None:
    for _ in itertools.count():
        if condition():
            return
        time.sleep(0.02)
