// One trace of several captures of the same program.
#include "searchspace/kernels/repeats.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "searchspace/kernels/bindings.hpp"
#include "searchspace/kernels/trace_reader.hpp"

namespace hamtune {
namespace {

constexpr std::uint8_t kCompute = 1;

using Bytes = std::vector<std::uint8_t>;

/// Walks over a rank's operations, call by call.
class Walk {
 public:
  Walk(const std::vector<std::string>& layouts, const Bytes& bytes)
      : layouts_(layouts), at_(bytes.data()), end_(at_ + bytes.size()) {}

  /// Goes on to the next call; false at the end. The computations before it are `flops`.
  bool next() {
    flops.clear();
    while (at_ != end_) {
      call_ = at_;
      const std::uint8_t code = *at_++;
      if (code != kCompute) {
        skip(layouts_.at(code));
        return true;
      }
      need(sizeof(double));
      double amount = 0;
      std::memcpy(&amount, at_, sizeof amount);
      at_ += sizeof amount;
      flops.push_back(amount);
      total += amount;
    }
    call_ = at_;
    return false;
  }

  bool same_call(const Walk& other) const {
    return std::equal(call_, at_, other.call_, other.at_);
  }

  const std::uint8_t* begin() const { return call_; }
  const std::uint8_t* end() const { return at_; }

  std::vector<double> flops;
  double total = 0;

 private:
  void need(std::ptrdiff_t size) const {
    if (end_ - at_ < size) throw TraceError("a recording ends inside an operation");
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      need(1);
      const std::uint64_t next = *at_++;
      value |= (next & 0x7F) << shift;
      if (next < 0x80) return value;
    }
    throw TraceError("a number in a recording does not fit 64 bits");
  }

  void numbers(std::uint64_t many) {
    if (many > static_cast<std::uint64_t>(end_ - at_))
      throw TraceError("a recording ends inside an operation");
    for (; many > 0; --many) number();
  }

  void skip(const std::string& layout) {
    std::uint64_t length = 0;
    for (const char kind : layout) {
      switch (kind) {
        case 'n':
        case 'z': number(); break;
        case 'f':
          need(sizeof(double));
          at_ += sizeof(double);
          break;
        case 'N': numbers(length = number()); break;
        case 'M': numbers(length); break;
        case 'P': {
          const std::uint64_t pairs = number();
          numbers(pairs);
          numbers(pairs);
          break;
        }
        default: throw TraceError("a recording holds an unknown operation");
      }
    }
  }

  const std::vector<std::string>& layouts_;
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  const std::uint8_t* call_ = nullptr;
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

void put_computation(MergedRank& merged, double flops) {
  if (!(flops > 0)) return;
  Bytes bytes(1 + sizeof flops, kCompute);
  std::memcpy(bytes.data() + 1, &flops, sizeof flops);
  merged.operations.insert(merged.operations.end(), bytes.begin(), bytes.end());
  ++merged.count;
}

void put_medians(MergedRank& merged, const std::vector<Walk>& walks) {
  const std::size_t many = walks.front().flops.size();
  const bool alike = std::all_of(walks.begin(), walks.end(),
                                 [many](const Walk& walk) { return walk.flops.size() == many; });
  std::vector<double> values(walks.size());
  for (std::size_t index = 0; index < (alike ? many : 1); ++index) {
    std::transform(walks.begin(), walks.end(), values.begin(), [alike, index](const Walk& walk) {
      return alike ? walk.flops[index]
                   : std::accumulate(walk.flops.begin(), walk.flops.end(), 0.0);
    });
    put_computation(merged, median(values));
  }
}

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw TraceError("a recording cannot be read");
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

MergedRank merge_rank(const std::vector<std::string>& layouts, const std::vector<Bytes>& captures) {
  MergedRank merged;
  std::vector<Walk> walks;
  for (const Bytes& capture : captures) walks.emplace_back(layouts, capture);
  Walk& first = walks.front();
  bool more = true;
  while (more && !merged.differ) {
    more = first.next();
    for (std::size_t index = 1; index < walks.size(); ++index)
      merged.differ |= walks[index].next() != more || !walks[index].same_call(first);
    if (merged.differ) break;
    put_medians(merged, walks);
    merged.operations.insert(merged.operations.end(), first.begin(), first.end());
    merged.count += more ? 1 : 0;
  }
  for (Walk& walk : walks) {
    while (walk.next()) {
    }
    merged.flops.push_back(walk.total);
  }
  if (merged.differ) {
    merged.operations.clear();
    merged.count = 0;
  }
  return merged;
}

}  // namespace hamtune

namespace nb = nanobind;

namespace {

nb::tuple merge_repeats(const std::vector<std::string>& layouts,
                        const std::vector<std::string>& paths) {
  hamtune::MergedRank merged;
  {
    const nb::gil_scoped_release released;
    std::vector<std::vector<std::uint8_t>> captures;
    for (const std::string& path : paths) captures.push_back(hamtune::read_file(path));
    merged = hamtune::merge_rank(layouts, captures);
  }
  return nb::make_tuple(
      nb::bytes(reinterpret_cast<const char*>(merged.operations.data()), merged.operations.size()),
      merged.count, merged.flops, merged.differ);
}

}  // namespace

void bind_repeats(nb::module_& module) {
  module.def("merge_repeats", &merge_repeats, nb::arg("layouts"), nb::arg("paths"));
}
