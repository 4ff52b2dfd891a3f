#include "workers/system_calls/filter.hpp"

#include <cstring>
#include <stdexcept>
#include <string>

namespace hamtune {

namespace {

void check(int status, const char* what) {
  if (status < 0)
    throw std::runtime_error("libseccomp: " + std::string(what) + ": " + std::strerror(-status));
}

}  // namespace

Filter::Filter(std::uint32_t otherwise) : context_(seccomp_init(otherwise)) {
  if (context_ == nullptr) throw std::runtime_error("libseccomp makes no filter");
  // Kernels before 5.16 would slow down all that is filtered, for fear of speculation.
  seccomp_attr_set(context_, SCMP_FLTATR_CTL_SSB, 1);
  seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a tree instead of a list
}

Filter::~Filter() { seccomp_release(context_); }

void Filter::set(std::uint32_t action, const std::vector<const char*>& calls) {
  for (const char* const call : calls) set(action, call, {});
}

void Filter::set(std::uint32_t action, const char* call,
                 const std::vector<scmp_arg_cmp>& arguments) {
  const int number = seccomp_syscall_resolve_name(call);
  if (number == __NR_SCMP_ERROR) return;
  check(seccomp_rule_add_array(context_, action, number, static_cast<unsigned>(arguments.size()),
                               arguments.data()),
        call);
}

void Filter::write(int file) const { check(seccomp_export_bpf(context_, file), "export"); }

void Filter::load() const { check(seccomp_load(context_), "load"); }

}  // namespace hamtune
