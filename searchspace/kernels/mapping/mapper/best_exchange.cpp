#include "searchspace/kernels/mapping/mapper/best_exchange.hpp"

#include <utility>

namespace hamtune::mapper {

std::shared_ptr<const BestExchange::Report> BestExchange::synchronise(std::size_t thread, Report mine) {
  std::unique_lock lock(mutex_);
  if (ended_) return nullptr;
  reports_[thread] = std::move(mine);
  const std::uint64_t before = generation_;
  if (++here_ == reports_.size()) close();
  closed_.wait(lock, [&] { return generation_ != before || ended_; });
  return generation_ != before && least_ != thread ? best_ : nullptr;
}

void BestExchange::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  closed_.notify_all();
}

void BestExchange::close() {
  least_ = 0;
  for (std::size_t thread = 1; thread < reports_.size(); ++thread)
    if (reports_[thread]->mean < reports_[least_]->mean) least_ = thread;
  best_ = std::make_shared<const Report>(std::move(*reports_[least_]));
  here_ = 0;
  ++generation_;
  closed_.notify_all();
}

}  // namespace hamtune::mapper
