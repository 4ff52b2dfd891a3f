"""A hundred ways out of the sandbox, each tried in it: through the kernel, the files, the others.

A call that the filter stops says EPERM, ENOSYS or the like before the kernel looks at its
arguments. Arguments here are wrong on purpose, so EFAULT, EINVAL or EBADF would tell that the
kernel was reached.
"""

from __future__ import annotations

import json
import os
import platform
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from workers.capture_limits import Limits
from workers.capture_sandbox import Sandbox

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of x86-64")

LIMITS = Limits(wall_seconds=300, memory_bytes=4 << 30, disk_bytes=1 << 30)
SPECIAL = 0x7FFF_0000  # a process, a key or an address that does not exist

CALLS: dict[str, tuple[int, ...]] = {
    # Namespaces and mounts: number of the call, and its arguments.
    "unshare users": (272, 0x10000000),
    "unshare mounts": (272, 0x00020000),
    "unshare network": (272, 0x40000000),
    "unshare processes": (272, 0x20000000),
    "unshare ipc": (272, 0x08000000),
    "unshare names": (272, 0x04000000),
    "unshare cgroups": (272, 0x02000000),
    "unshare time": (272, 0x00000080),
    "unshare users and mounts": (272, 0x10020000),
    "setns": (308, 0, 0),
    "clone users": (56, 0x10000011, 0, 0, 0, 0),
    "clone mounts": (56, 0x00020011, 0, 0, 0, 0),
    "clone network": (56, 0x40000011, 0, 0, 0, 0),
    "clone processes": (56, 0x20000011, 0, 0, 0, 0),
    "clone ipc": (56, 0x08000011, 0, 0, 0, 0),
    "clone3": (435, 0, 0),
    "mount": (165, 0, 0, 0, 0, 0),
    "umount2": (166, 0, 0),
    "pivot_root": (155, 0, 0),
    "chroot": (161, 0),
    "open_tree": (428, -1, 0, 0),
    "move_mount": (429, -1, 0, -1, 0, 0),
    "fsopen": (430, 0, 0),
    "fsconfig": (431, -1, 0, 0, 0, 0),
    "fsmount": (432, -1, 0, 0),
    "fspick": (433, -1, 0, 0),
    "mount_setattr": (442, -1, 0, 0, 0, 0),
    # Parts of the kernel.
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0, 0, -1, -1, 0),
    "add_key": (248, 0, 0, 0, 0, 0),
    "request_key": (249, 0, 0, 0, 0),
    "keyctl": (250, 0, 0, 0, 0, 0),
    "userfaultfd": (323, 0),
    "io_uring_setup": (425, 1, 0),
    "io_uring_enter": (426, -1, 0, 0, 0, 0, 0),
    "io_uring_register": (427, -1, 0, 0, 0),
    "name_to_handle_at": (303, -1, 0, 0, 0, 0),
    "open_by_handle_at": (304, -1, 0, 0),
    "fanotify_init": (300, 0, 0),
    "fanotify_mark": (301, -1, 0, 0, -1, 0),
    "lookup_dcookie": (212, 0, 0, 0),
    "vmsplice": (278, -1, 0, 0, 0),
    "move_pages": (279, 0, 1, 0, 0, 0, 0),
    "migrate_pages": (256, 0, 1, 0, 0),
    "modify_ldt": (154, 1, 0, 0),
    "iopl": (172, 3),
    "ioperm": (173, 0, 1, 1),
    "quotactl": (179, 0, 0, 0, 0),
    "quotactl_fd": (443, -1, 0, 0, 0),
    "syslog": (103, 3, 0, 0),
    "acct": (163, 0),
    "sysfs": (139, 0, 0, 0),
    "ustat": (136, 0, 0),
    "uselib": (134, 0),
    "vhangup": (153,),
    "_sysctl": (156, 0),
    # Other processes.
    "ptrace attach": (101, 16, 1, 0, 0),
    "ptrace seize": (101, 0x4206, 1, 0, 0),
    "ptrace oneself": (101, 0, 0, 0, 0),
    "process_vm_readv": (310, 1, 0, 0, 0, 0, 0),
    "process_vm_writev": (311, 1, 0, 0, 0, 0, 0),
    "process_madvise": (440, -1, 0, 0, 0, 0),
    "process_mrelease": (448, -1, 0),
    "kcmp": (312, 1, 1, 0, 0, 0),
    "pidfd_getfd": (438, -1, 0, 0),
    # The machine.
    "reboot": (169, 0, 0, 0, 0),
    "kexec_load": (246, 0, 0, 0, 0),
    "kexec_file_load": (320, -1, -1, 0, 0, 0),
    "init_module": (175, 0, 0, 0),
    "finit_module": (313, -1, 0, 0),
    "delete_module": (176, 0, 0),
    "swapon": (167, 0, 0),
    "swapoff": (168, 0),
    "settimeofday": (164, 0, 0),
    "clock_settime": (227, 0, 0),
    "adjtimex": (159, 0),
    "clock_adjtime": (305, 0, 0),
    # Memory and files that no limit counts.
    "memfd_create": (319, 0, 0),
    "memfd_secret": (447, 0),
    "shmget": (29, 0, 4096, 0o1600),
    "semget": (64, 0, 1, 0o1600),
    "io_setup": (206, 1, 0),
    "msgget": (68, 0, 0o1600),
    "mq_open": (240, 0, 0, 0, 0),
    "sendmsg": (46, -1, 0, 0),
    "sendmmsg": (307, -1, 0, 0, 0),
    "fallocate": (285, -1, 0, 0, 4096),
    # Sockets of unusual families.
    "netlink": (41, 16, 3, 0),
    "packets": (41, 17, 3, 0),
    "ax25": (41, 3, 5, 0),
    "keys": (41, 15, 3, 2),
    "rds": (41, 21, 5, 0),
    "can": (41, 29, 3, 1),
    "tipc": (41, 30, 4, 0),
    "bluetooth": (41, 31, 3, 1),
    "cryptography": (41, 38, 5, 0),
    "virtual machines": (41, 40, 1, 0),
    "xdp": (41, 44, 3, 0),
    "pair of tipc": (53, 30, 4, 0, 0),
    # The terminal, and the layout of memory.
    "type into the terminal": (16, 0, 0x5412, 0),
    "paste into the console": (16, 0, 0x541C, 0),
    "terminal by a wide number": (16, 0, 0x1_0000_5412, 0),
    "make all memory executable": (135, 0x0400000),
    "map page zero": (135, 0x0100000),
}  # fmt: skip

DEEDS: dict[str, str] = {
    "read the users' passwords": "open('/etc/shadow').read()",
    "read the list of users": "open('/etc/passwd').read()",
    "look into root's home": "os.listdir('/root')",
    "look at the service's data": "os.listdir(OUTSIDE)",
    "go around by process one": "os.listdir('/proc/1/root' + OUTSIDE)",
    "go up from the workspace": "os.listdir('../../../../../../..' + OUTSIDE)",
    "write into the control files": "open('../control/x', 'w')",
    "write into the logs": "open('../logs/x', 'w')",
    "write into the system": "open('/usr/x', 'w')",
    "write to the root": "open('/x', 'w')",
    "remount the system": "os.execlp('mount', 'mount', '-o', 'remount,rw', '/usr')",
    "press a magic key": "open('/proc/sysrq-trigger', 'w')",
    "run something at each crash": "open('/proc/sys/kernel/core_pattern', 'w')",
    "look at the memory of the machine": "open('/dev/mem', 'rb')",
    "read what the kernel says": "open('/dev/kmsg', 'rb')",
    "make a device": "os.mknod('disk', 0o60600, os.makedev(254, 0))",
    "talk to a server of the host": "socket.create_connection(('127.0.0.1', PORT), 5)",
    "talk to a socket of the host": "socket.socket(socket.AF_UNIX).connect('\\0' + NAME)",
    "take a low port of all": "socket.socket().bind(('192.0.2.1', 80))",
    "signal a process of the host": "os.kill(HOST, 0)",
    "become root": "os.seteuid(0) if os.geteuid() else os.setgroups([0])",
    "give a file to another": "open('f', 'w'); os.chown('f', 12345, 12345)",
    "raise a limit": "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "raise the number of processes": "resource.setrlimit(resource.RLIMIT_NPROC, (-1, -1))",
    "go before all others": "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))",
    "be nicer to oneself": "os.nice(-5)",
    "rename the machine": "socket.sethostname('mine')",
    "send a file in a message": "socket.send_fds(socket.socketpair()[0], [b'x'], [0])",
    "call with the numbers of x32": "called(39 | 0x40000000)",
}

PROGRAM = """
import ctypes, errno, json, os, resource, signal, socket, sys
OUTSIDE, PORT, NAME, HOST = {outside!r}, {port}, {name!r}, {host}
libc = ctypes.CDLL(None, use_errno=True)

def called(number, *arguments):
    if libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

def tried(act):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            act()
            said = "escaped"
        except OSError as error:
            said = errno.errorcode.get(error.errno, str(error.errno))
        except ValueError:  # as Python says of limits that may not be raised
            said = "EPERM"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    said = os.read(reading, 100).decode()
    os.close(reading)
    _, status = os.waitpid(child, 0)
    return said or f"status {{status}}"

found = {{}}
for name, call in json.loads({calls!r}).items():
    found[name] = tried(lambda: called(*call))
for name, deed in json.loads({deeds!r}).items():
    found[name] = tried(lambda: exec(deed, globals()))
print("\\n" + json.dumps(found))
"""

STOPPED = {"EPERM", "ENOSYS", "EAFNOSUPPORT", "ENOTSUP"}
DENIED = STOPPED | {"EACCES", "EROFS", "ENOENT", "ESRCH", "ECONNREFUSED", "ENETUNREACH"}
OTHERWISE = {
    "remount the system": "status 8192",  # the program says so
    "call with the numbers of x32": "status 31",  # its signal
    "take a low port of all": "EADDRNOTAVAIL",
    "give a file to another": "EINVAL",  # in its namespace there is no such user
}


@contextmanager
def listening(name: str) -> Iterator[int]:
    """A server of the host, on a port and under an abstract name."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"\0{name}")
        local.listen()
        yield server.getsockname()[1]


@pytest.fixture(scope="module", params=[True, False], ids=["stranger", "same user"])
def outcomes(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """What came of each attempt, in one sandbox that is gone afterwards."""
    name = f"hamtune-{tempfile.mktemp(dir='')}"
    with (
        tempfile.TemporaryDirectory() as outside,
        listening(name) as port,
        Sandbox.temporary((), LIMITS, stranger=request.param) as box,
    ):
        (Path(outside) / "trials").touch()
        program = PROGRAM.format(
            outside=outside,
            port=port,
            name=name,
            host=os.getpid(),
            calls=json.dumps(CALLS),
            deeds=json.dumps(DEEDS),
        )
        (box.control / "attempts.py").write_text(program)
        assert box.run(["/usr/bin/python3", str(box.control / "attempts.py")]) == 0, box.log()
        yield json.loads(box.full_log().splitlines()[-1])


def test_there_are_a_hundred_ways_to_try() -> None:
    assert len(CALLS) + len(DEEDS) >= 100


@pytest.mark.parametrize("name", CALLS)
def test_a_system_call_is_stopped_before_the_kernel_looks_at_it(
    outcomes: dict[str, str], name: str
) -> None:
    assert outcomes[name] in STOPPED


@pytest.mark.parametrize("name", DEEDS)
def test_a_deed_fails(outcomes: dict[str, str], name: str) -> None:
    assert outcomes[name] in DENIED or outcomes[name] == OTHERWISE.get(name)
