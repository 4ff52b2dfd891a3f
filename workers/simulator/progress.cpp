#include "workers/simulator/progress.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace hamtune::progress {

namespace {

Page own;
std::function<void()> at_limit_;

}  // namespace

Page* page = &own;
std::uint64_t most_messages = kNoLimit;

void share(int file) {
  void* const place =
      mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (place == MAP_FAILED)
    throw std::runtime_error(std::string("cannot map the page of progress: ") +
                             std::strerror(errno));
  page = static_cast<Page*>(place);
}

void begin(std::uint64_t operations, std::uint64_t messages, std::function<void()> at_limit) {
  page->time = 0;
  page->operations = 0;
  page->all = operations;
  page->messages = 0;
  most_messages = messages;
  at_limit_ = std::move(at_limit);
}

void stop_at_limit() {
  at_limit_();
  std::abort();
}

}  // namespace hamtune::progress
