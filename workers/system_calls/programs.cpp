// What programs of strangers may not ask of the kernel, on top of what bubblewrap takes from them.
//
// Compilers, build systems and MPI programs make hundreds of calls, so all are allowed but those
// that none of them needs: those that make namespaces, where a process is root and all of the kernel
// is within its reach; those in which holes were found again and again; and those that hold memory
// or files where no limit counts them.
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>

#include <cerrno>

#include "workers/system_calls/filter.hpp"

namespace hamtune {

namespace {

constexpr std::uint32_t kRefused = SCMP_ACT_ERRNO(EPERM);
constexpr std::uint32_t kMissing = SCMP_ACT_ERRNO(ENOSYS);  // callers know another way

constexpr scmp_datum_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

/// Masked comparison with zero or not zero takes a rule for each bit.
void refuse_bits(Filter& filter, const char* call, unsigned argument, scmp_datum_t bits) {
  for (scmp_datum_t bit = 1; bit != 0; bit <<= 1U)
    if ((bits & bit) != 0)
      filter.set(kRefused, call, {{argument, SCMP_CMP_MASKED_EQ, bit, bit}});
}

}  // namespace

std::uint32_t otherwise_for_programs() { return SCMP_ACT_ALLOW; }

void filter_programs(Filter& filter) {
  // Namespaces and mounts.
  refuse_bits(filter, "clone", 0, kNamespaces);
  filter.set(kMissing, {"clone3"});  // its flags lie in memory, where no filter sees them
  filter.set(kRefused, {"unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot",
                        "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick",
                        "mount_setattr", "open_tree_attr", "statmount", "listmount"});

  // Parts of the kernel that programs have no use for.
  filter.set(kRefused, {"bpf", "perf_event_open", "add_key", "request_key", "keyctl",
                        "userfaultfd", "name_to_handle_at", "open_by_handle_at", "fanotify_init",
                        "fanotify_mark", "lookup_dcookie", "vmsplice", "move_pages",
                        "migrate_pages", "modify_ldt", "vm86", "vm86old", "iopl", "ioperm",
                        "quotactl", "quotactl_fd", "syslog", "acct", "nfsservctl", "uselib",
                        "ustat", "sysfs", "vhangup", "vserver", "afs_syscall", "getpmsg",
                        "putpmsg", "security", "tuxcall", "get_kernel_syms", "query_module"});
  filter.set(kMissing, {"io_uring_setup", "io_uring_enter", "io_uring_register", "_sysctl"});

  // Asynchronous reads and writes: the contexts are of one number for all of the host.
  filter.set(kMissing, {"io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents",
                        "io_pgetevents"});

  // Other processes.
  filter.set(kRefused, {"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
                        "process_mrelease", "kcmp", "pidfd_getfd"});

  // The machine.
  filter.set(kRefused, {"reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module",
                        "create_module", "delete_module", "swapon", "swapoff", "settimeofday",
                        "clock_settime", "clock_settime64", "adjtimex", "clock_adjtime",
                        "clock_adjtime64", "stime"});

  // Memory and files that no limit counts: segments without a process, files in messages on their
  // way, and blocks of the disk that nobody wrote.
  filter.set(kMissing, {"memfd_create", "memfd_secret", "shmget", "msgget", "semget",
                        "mq_open"});
  filter.set(kRefused, {"sendmsg", "sendmmsg"});
  filter.set(SCMP_ACT_ERRNO(EOPNOTSUPP), {"fallocate"});

  // Sockets of the usual kinds alone: the rest of the network is code that few have looked at.
  const std::uint32_t unknown = SCMP_ACT_ERRNO(EAFNOSUPPORT);
  for (const char* const call : {"socket", "socketpair"}) {
    for (scmp_datum_t family = 0; family < AF_INET6; ++family)
      if (family != AF_UNIX && family != AF_INET)
        filter.set(unknown, call, {{0, SCMP_CMP_EQ, family, 0}});
    filter.set(unknown, call, {{0, SCMP_CMP_GT, AF_INET6, 0}});
  }

  // Typing into the terminal of who started it, and layouts of memory that help an attack.
  for (const scmp_datum_t request : {TIOCSTI, TIOCLINUX})
    filter.set(kRefused, "ioctl", {{1, SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, request}});
  refuse_bits(filter, "personality", 0,
              ADDR_COMPAT_LAYOUT | READ_IMPLIES_EXEC | MMAP_PAGE_ZERO | 0xFF);
}

}  // namespace hamtune
