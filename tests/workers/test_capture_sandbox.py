"""What commands in the sandbox try in order to get out of it, or to get more than they may."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from workers import capture_sandbox
from workers.capture_limits import Limits
from workers.capture_progress import FILE, read_progress
from workers.capture_sandbox import CaptureFailed, DiskShort, Interrupted, Sandbox

ROOT = Path(__file__).parents[2]
SMALL = Limits(
    wall_seconds=60,
    memory_bytes=200 << 20,
    processes=40,
    disk_bytes=32 << 20,
    file_bytes=16 << 20,
    log_bytes=64 << 10,
)


def run(script: str, **options: object) -> tuple[int, str]:
    limits = options.pop("limits", SMALL)
    assert isinstance(limits, Limits)
    with Sandbox.temporary((), limits, **options) as box:  # type: ignore[arg-type]
        status = box.run(["bash", "-c", script])
        return status, box.full_log()


def processes(word: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parts[2]))
        except OSError:
            continue
    return found


@contextmanager
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture(params=[True, False], ids=["stranger", "same user"])
def stranger(request: pytest.FixtureRequest) -> bool:
    """Whether the commands run as another user, where the tests run as root."""
    return bool(request.param)


def test_files_of_the_system_and_of_the_service_cannot_be_read(
    tmp_path: Path, stranger: bool
) -> None:
    database = tmp_path / "hamtune.db"
    database.write_text("trials")
    for path in ("/etc/shadow", "/etc/passwd", "/root", "/home", "/var", database):
        status, log = run(f"cat {path} || ls {path}", stranger=stranger)
        assert status != 0, path
        assert "No such file" in log
    status, log = run(f"ls {tmp_path.parent} /proc/1/root/etc/shadow", stranger=stranger)
    assert status != 0


@pytest.mark.parametrize("place", ["/x", "/usr/x", "/etc/x", "/dev/x"])
def test_nothing_can_be_written_outside_the_workspace(place: str, stranger: bool) -> None:
    status, log = run(f"echo x > {place}", stranger=stranger)
    assert status != 0
    assert "Read-only" in log or "denied" in log
    assert not Path(place).exists()


def test_settings_of_the_kernel_cannot_be_opened_for_writing(stranger: bool) -> None:
    # Opened and not written: where this fails, the machine must not change.
    setting = "/proc/sys/kernel/core_pattern"
    status, log = run(f"exec 3<>{setting}", stranger=stranger)
    assert status != 0
    assert "Read-only" in log or "denied" in log
    status, log = run("find /proc/sys /proc/irq -type f -writable", stranger=stranger)
    assert (status, log) == (0, "")


def test_what_is_above_the_workspace_is_not_what_is_there_outside(stranger: bool) -> None:
    name = f"hamtune-escape-{os.getpid()}"
    with Sandbox.temporary((), SMALL, stranger=stranger) as box:
        box.run(["bash", "-c", f"echo x > ../{name}; echo x > ../../{name}"])
        assert not (box.directory / name).exists()
        assert not (box.directory.parent / name).exists()


def test_there_is_no_network(stranger: bool) -> None:
    with listener() as port:
        with socket.create_connection(("127.0.0.1", port), timeout=300.0):
            pass
        status, log = run(f"exec 3<>/dev/tcp/127.0.0.1/{port}", stranger=stranger)
    assert status != 0
    assert "/dev/tcp" in log


def test_other_processes_cannot_be_seen_or_signalled(stranger: bool) -> None:
    status, log = run(f"kill -0 {os.getpid()} || ls /proc/{os.getpid()}", stranger=stranger)
    assert status != 0
    _, log = run("ls -d /proc/[0-9]* | wc -l", stranger=stranger)
    assert int(log.split()[-1]) < 12


@pytest.mark.parametrize("confined", [True, False])
def test_processes_that_leave_their_session_do_not_outlive_the_command(confined: bool) -> None:
    seconds = f"47{os.getpid()}.5{int(confined)}"
    status, _ = run(f"(setsid setsid sleep {seconds} &) ; sleep 0.2", confined=confined)
    assert status == 0
    assert processes(seconds) == []


@pytest.mark.parametrize("confined", [True, False])
def test_too_many_processes_end_the_command(confined: bool) -> None:
    # Longer than the limit of wall time, which would say so; and a word of this test alone.
    seconds = f"48{os.getpid()}.5{int(confined)}"
    bomb = f"for i in $(seq 120); do sleep {seconds} & done; wait"
    try:
        status, log = run(bomb, confined=confined, stranger=True)
    except CaptureFailed as error:
        assert error.message == "the run ran more than 40 processes and threads at once"
    else:
        assert "fork" in log
        assert status != 0
    assert processes(seconds) == []


def test_memory_is_limited_for_one_process_and_for_all() -> None:
    with pytest.raises(CaptureFailed, match="the run used more than 200 MiB of memory"):
        run("tail /dev/zero")
    hold = "(head -c 80M /dev/zero; sleep 20) | tail > /dev/null & "
    with pytest.raises(CaptureFailed, match="the run used more than 200 MiB of memory"):
        run(hold * 4 + "wait")


def test_memory_that_is_refused_at_once_is_told_of_by_the_command() -> None:
    status, log = run("/usr/bin/python3 -c 'import mmap; mmap.mmap(-1, 300 << 20)'")
    assert status == 1
    assert "Cannot allocate memory" in log


@pytest.mark.parametrize(
    "script",
    [
        "i=0; while :; do i=$((i+1)); head -c 4M /dev/zero > part$i || exit; done",
        "for i in $(seq 3000); do : > file$i; done",
        "for i in 1 2 3 4 5; do head -c 2M /dev/zero > $TMPDIR/$i; done",
    ],
    ids=["large files", "many files", "scratch files"],
)
def test_a_full_workspace_ends_the_command(script: str) -> None:
    with pytest.raises(CaptureFailed, match="the run wrote more than 2 MiB to disk"):
        run(script, limits=replace(SMALL, disk_bytes=2 << 20))


HOLD = """
import mmap, os, sys, time
way = sys.argv[1]
held = []
for number in range(12):
    file = open(f"part{number}", "w+b", buffering=0)
    os.unlink(file.name)
    file.write(bytes(1 << 20))
    if way == "mapped":
        held.append(mmap.mmap(file.fileno(), 4096))
    if way == "open":
        held.append(file)
    else:
        file.close()
print("still here", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("way", ["open", "mapped"])
def test_files_without_a_name_count_as_disk(way: str, stranger: bool) -> None:
    """They take as much room as others, and lie in no directory."""
    with (
        Sandbox.temporary((), replace(SMALL, disk_bytes=2 << 20), stranger=stranger) as box,
        pytest.raises(CaptureFailed, match="the run wrote more than 2 MiB to disk"),
    ):
        box.run(["/usr/bin/python3", "-c", HOLD, way])


def test_what_is_written_over_and_over_counts_once() -> None:
    script = "for i in $(seq 30); do head -c 1M /dev/zero > part; sync part; done"
    status, _ = run(script, limits=replace(SMALL, disk_bytes=2 << 20))
    assert status == 0


def test_files_are_counted_however_little_is_in_them() -> None:
    script = "mkdir folder; for i in $(seq 700); do : > folder/$i; done; sleep 20"
    with pytest.raises(CaptureFailed, match="the run made more than 500 files and directories"):
        run(script, limits=replace(SMALL, entries=500))


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_files_in_memory_are_counted_however_little_is_in_them(place: str, stranger: bool) -> None:
    script = f"mkdir {place}/f; for i in $(seq 700); do : > {place}/f/$i; done; sleep 20"
    with pytest.raises(CaptureFailed, match="the run made more than 500 files and directories"):
        run(script, limits=replace(SMALL, entries=500), stranger=stranger)
    assert run(script.replace("20", "1").replace("700", "300"), stranger=stranger)[0] == 0


def test_a_host_short_of_disk_is_what_is_to_blame() -> None:
    """Before the command begins, and where the room ends while it runs."""
    with pytest.raises(DiskShort, match=r"has less than 1 EiB free in .*set TMPDIR") as caught:
        run("exit 3", limits=replace(SMALL, reserve_bytes=1 << 60))
    assert caught.value.before
    with Sandbox.temporary((), SMALL) as box:
        disk = os.statvfs(box.directory)
        reserve = disk.f_bavail * disk.f_frsize - (8 << 20)
        box = replace(box, limits=replace(SMALL, reserve_bytes=reserve))
        with pytest.raises(DiskShort, match="came to have less than") as caught:
            box.run(["bash", "-c", "head -c 15M /dev/zero > part; sync part; sleep 60"])
    assert not caught.value.before


def test_a_host_that_takes_few_further_files_is_what_is_to_blame() -> None:
    with pytest.raises(
        DiskShort, match=r"has room for less than \d+ files in .*set TMPDIR"
    ) as caught:
        run("exit 3", limits=replace(SMALL, reserve_entries=1 << 60))
    assert caught.value.before
    with Sandbox.temporary((), SMALL) as box:
        most = os.statvfs(box.directory).f_favail - 300
        box = replace(box, limits=replace(SMALL, reserve_entries=most))
        with pytest.raises(DiskShort, match="came to have room for less than") as caught:
            box.run(["bash", "-c", "for i in $(seq 900); do : > $i; done; sleep 60"])
    assert not caught.value.before


def test_a_file_cannot_grow_beyond_its_limit() -> None:
    _, log = run("head -c 40M /dev/zero > large; wc -c < large")
    assert log.split()[-1] == str(16 << 20)
    assert "File too large" in log or "File size limit" in log


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_directories_in_memory_are_limited(place: str) -> None:
    status, log = run(
        f"for i in 1 2 3 4 5; do head -c 12M /dev/zero > {place}/$i || exit 9; done",
        limits=SMALL,
    )
    assert status == 9
    assert "No space left" in log


def test_nested_directories_are_limited_and_cleared_away() -> None:
    with pytest.raises(CaptureFailed, match="the run nested directories too deeply"):
        run("mkdir -p $(printf 'd/%.0s' $(seq 1500))")


def test_what_cannot_be_entered_is_cleared_away() -> None:
    with Sandbox.temporary((), SMALL) as box:
        box.run(["bash", "-c", "mkdir -p a/b; : > a/b/c; chmod 0 a/b a"])
    assert not box.directory.exists()


def test_time_is_limited_by_the_clock_and_on_the_cpu() -> None:
    with pytest.raises(CaptureFailed, match=r"the run did not end within 0\.5 seconds"):
        run("sleep 30", limits=Limits(wall_seconds=0.5))
    with pytest.raises(CaptureFailed, match="the run used more than 1 seconds of CPU time"):
        run("(while :; do :; done) & (while :; do :; done)", limits=Limits(cpu_seconds=1))


def test_of_what_is_printed_beginning_and_end_are_kept() -> None:
    _, log = run("echo first; yes | head -c 3000000; echo last")
    assert log.startswith("first\ny\ny\n")
    assert log.endswith("y\nlast\n")
    assert "bytes left out]" in log
    assert len(log) < 70_000


def test_links_in_the_workspace_lead_the_service_nowhere(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    with Sandbox.temporary((), SMALL) as box:
        box.run(["bash", "-c", f"ln -s {victim} log; ln -s {victim} run.log; ln -s / root"])
        box.run(["bash", "-c", "echo more"])
    assert victim.read_text() == "untouched"
    assert Path("/etc").is_dir()


def test_a_command_can_be_stopped() -> None:
    stop = threading.Event()
    timer = threading.Timer(0.5, stop.set)
    timer.start()
    seconds = f"48{os.getpid()}"
    with pytest.raises(Interrupted):
        run(f"sleep {seconds}", stop=stop)
    timer.join()
    assert processes(seconds) == []


def test_where_no_program_may_be_run_none_is_built(tmp_path: Path) -> None:
    build = """if True:
        from workers.capture_sandbox import CaptureFailed, Sandbox
        for confined in (True, False):
            try:
                with Sandbox.temporary(confined=confined):
                    print("made")
            except CaptureFailed as failed:
                print(failed)
        """
    mount = 'mount -t tmpfs -o noexec tmpfs "$TMPDIR" && exec "$@"'
    done = subprocess.run(
        ["unshare", "-U", "-r", "-m", "sh", "-c", mount, "sh", sys.executable, "-c", build],
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.count(f"{tmp_path}, which is mounted with noexec; set TMPDIR") == 2, done


def test_without_bubblewrap_only_an_explicit_word_lets_commands_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(capture_sandbox, "confinement_problem", lambda: "no user namespaces")
    with pytest.raises(CaptureFailed, match="HAMTUNE_CAPTURE_SANDBOX=off"):
        run("true")
    assert run("true", confined=False)[0] == 0


SOCKETS = """
import socket, time
held = [socket.socketpair() for _ in range(700)]
time.sleep(60)
"""


UNREAD = """
import socket, time
held = []
for number in range(90):
    held.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    held[-1].bind(f"\\0{number}")
    for _ in range(10):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(bytes(50_000), held[-1].getsockname())
time.sleep(60)
"""


@pytest.mark.parametrize("script", [SOCKETS, UNREAD], ids=["held", "closed with messages unread"])
def test_memory_of_the_kernel_behind_sockets_counts(script: str, stranger: bool) -> None:
    with (
        Sandbox.temporary((), SMALL, stranger=stranger) as box,
        pytest.raises(CaptureFailed, match="the run used more than 200 MiB of memory"),
    ):
        box.run(["/usr/bin/python3", "-c", script])


def test_open_files_are_limited() -> None:
    status, log = run("ulimit -Hn")
    assert status == 0
    assert int(log) <= 4096


def test_everybody_can_use_shared_memory(stranger: bool) -> None:
    status, log = run("echo x > /dev/shm/x && cat /dev/shm/x", stranger=stranger)
    assert (status, log) == (0, "x\n")


def test_the_probe_tries_to_mount_proc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text(
        '#!/bin/sh\ncase "$*" in *--proc*) echo "cannot mount proc" >&2; exit 1;; esac\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    capture_sandbox.confinement_problem.cache_clear()
    try:
        assert capture_sandbox.confinement_problem() == "cannot mount proc"
    finally:
        capture_sandbox.confinement_problem.cache_clear()


def test_a_pipe_in_place_of_the_progress_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    os.mkfifo(tmp_path / FILE)
    about = plain.lstat()
    monkeypatch.setattr(Path, "lstat", lambda _: about)
    assert read_progress(tmp_path, 2) is None


@pytest.mark.parametrize("mask", [0o027, 0o077])
def test_a_stranger_reads_the_control_files_whatever_the_umask(mask: int) -> None:
    before = os.umask(mask)
    try:
        with Sandbox.temporary((), SMALL, stranger=True) as box:
            assert box.run(["ls", str(box.control)]) == 0, box.log()
    finally:
        os.umask(before)
