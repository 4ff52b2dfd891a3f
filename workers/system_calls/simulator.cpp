// What the simulator may ask of the kernel. It reads what strangers wrote, so a mistake in it must
// not become a way into the worker: nothing is allowed but what simulating takes.
#include <asm/ioctls.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <iostream>

#include "workers/system_calls/filter.hpp"

namespace hamtune {

namespace {

constexpr std::uint32_t kAllowed = SCMP_ACT_ALLOW;

constexpr scmp_datum_t kChanging = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;

constexpr scmp_datum_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

void allow(Filter& filter) {
  // Memory.
  filter.set(kAllowed, {"brk", "mmap", "mmap2", "munmap", "mremap", "mprotect", "madvise", "mincore",
                        "memfd_create", "ftruncate", "ftruncate64", "membarrier"});
  // What is open already, and files to read.
  filter.set(kAllowed, {"read", "readv", "pread64", "write", "writev", "lseek", "_llseek", "close",
                        "dup", "dup2", "dup3", "fcntl", "fcntl64", "fstat", "fstat64", "stat",
                        "stat64", "lstat", "newfstatat", "fstatat64", "statx", "access",
                        "faccessat", "faccessat2", "readlink", "readlinkat", "getcwd"});
  filter.set(kAllowed, "open", {{1, SCMP_CMP_MASKED_EQ, kChanging, O_RDONLY}});
  filter.set(kAllowed, "openat", {{2, SCMP_CMP_MASKED_EQ, kChanging, O_RDONLY}});
  filter.set(kAllowed, "ioctl", {{1, SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, TCGETS}});
  // Pipes, and pairs of sockets.
  filter.set(kAllowed, {"pipe", "pipe2", "poll", "ppoll", "ppoll_time64", "select", "pselect6",
                        "sendto", "recvfrom", "sendmsg", "recvmsg", "shutdown"});
  filter.set(kAllowed, "socketpair", {{0, SCMP_CMP_EQ, AF_UNIX, 0}});
  // Children and threads.
  filter.set(kAllowed, "clone", {{0, SCMP_CMP_MASKED_EQ, kNamespaces, 0}});
  filter.set(SCMP_ACT_ERRNO(ENOSYS), {"clone3"});
  filter.set(kAllowed, {"fork", "vfork", "wait4", "waitid", "waitpid", "exit", "exit_group",
                        "getpid", "getppid", "gettid", "futex", "futex_time64", "set_robust_list",
                        "get_robust_list", "set_tid_address", "rseq", "arch_prctl",
                        "sched_yield", "sched_getaffinity", "sched_setaffinity", "getpriority",
                        "setpriority", "restart_syscall"});
  filter.set(kAllowed, {"kill", "tkill", "tgkill", "rt_sigaction", "rt_sigprocmask",
                        "rt_sigreturn", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait",
                        "sigaltstack", "sigreturn", "setitimer", "alarm"});
  // Limits of oneself, and the clock.
  filter.set(kAllowed, "prlimit64", {{0, SCMP_CMP_EQ, 0, 0}});
  for (const scmp_datum_t option :
       {PR_SET_PDEATHSIG, PR_SET_NAME, PR_GET_NAME, PR_SET_DUMPABLE, PR_GET_DUMPABLE,
        PR_SET_VMA, PR_SET_THP_DISABLE, PR_SET_TIMERSLACK, PR_SET_NO_NEW_PRIVS})
    filter.set(kAllowed, "prctl", {{0, SCMP_CMP_EQ, option, 0}});
  filter.set(kAllowed, {"getrlimit", "ugetrlimit", "setrlimit", "getrusage", "times", "uname",
                        "sysinfo", "getrandom", "clock_gettime", "clock_gettime64",
                        "clock_getres", "clock_getres_time64", "clock_nanosleep",
                        "clock_nanosleep_time64", "nanosleep", "gettimeofday", "time", "getuid",
                        "geteuid", "getgid", "getegid"});
}

}  // namespace

bool confine_simulator() {
  if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) return false;  // a kernel without filters
  Filter filter(SCMP_ACT_ERRNO(EPERM));
  allow(filter);
  filter.load();
  return true;
}

}  // namespace hamtune
