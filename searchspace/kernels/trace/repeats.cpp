// One trace of several captures of the same program.
#include "searchspace/kernels/trace/repeats.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <list>
#include <memory>
#include <numeric>
#include <system_error>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/trace/trace_reader.hpp"

namespace hamtune {
namespace {

constexpr std::uint8_t kCompute = 1;
constexpr std::size_t kMostFlops = 1U << 20;  // computations between two calls

/// Walks over a rank's operations, call by call.
class Walk {
 public:
  Walk(const std::vector<std::string>& layouts, ByteView bytes)
      : layouts_(layouts), at_(bytes.begin), end_(bytes.end) {}

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
      if (flops.size() == kMostFlops)
        throw TraceError("a recording has more than a million computations between two calls");
      flops.push_back(amount);
      total += amount;
    }
    call_ = at_;
    return false;
  }

  bool same_call(const Walk& other) const {
    return std::equal(call_, at_, other.call_, other.at_);
  }

  ByteView call() const { return {call_, at_}; }

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

/// Returns whether there was something to put.
bool put_computation(const PutBytes& put, double flops) {
  if (!(flops > 0)) return false;
  std::array<std::uint8_t, 1 + sizeof flops> bytes{kCompute};
  std::memcpy(bytes.data() + 1, &flops, sizeof flops);
  put({bytes.data(), bytes.data() + bytes.size()});
  return true;
}

/// Returns how many operations were put.
std::uint64_t put_medians(const PutBytes& put, const std::vector<Walk>& walks) {
  std::uint64_t count = 0;
  const std::size_t many = walks.front().flops.size();
  const bool alike = std::all_of(walks.begin(), walks.end(),
                                 [many](const Walk& walk) { return walk.flops.size() == many; });
  std::vector<double> values(walks.size());
  for (std::size_t index = 0; index < (alike ? many : 1); ++index) {
    std::transform(walks.begin(), walks.end(), values.begin(), [alike, index](const Walk& walk) {
      return alike ? walk.flops[index]
                   : std::accumulate(walk.flops.begin(), walk.flops.end(), 0.0);
    });
    count += put_computation(put, median(values)) ? 1 : 0;
  }
  return count;
}

/// A file in memory as far as it is looked at: recordings may be larger than the memory.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw TraceError("a recording cannot be read");
    struct stat about {};
    if (::fstat(file, &about) == 0) size_ = static_cast<std::size_t>(about.st_size);
    if (size_ > 0) bytes_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (bytes_ == MAP_FAILED) throw TraceError("a recording cannot be read");
  }
  ~MappedFile() {
    if (bytes_ != nullptr) ::munmap(bytes_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  ByteView view() const {
    const auto* const begin = static_cast<const std::uint8_t*>(bytes_);
    return {begin, begin + size_};
  }

 private:
  void* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

MergedRank merge_rank(const std::vector<std::string>& layouts,
                      const std::vector<ByteView>& captures, const PutBytes& put) {
  MergedRank merged;
  std::vector<Walk> walks;
  walks.reserve(captures.size());
  for (const ByteView capture : captures) walks.emplace_back(layouts, capture);
  Walk& first = walks.front();
  bool more = true;
  while (more && !merged.differ) {
    more = first.next();
    for (std::size_t index = 1; index < walks.size(); ++index)
      merged.differ |= walks[index].next() != more || !walks[index].same_call(first);
    if (merged.differ) break;
    merged.count += put_medians(put, walks);
    put(first.call());
    merged.count += more ? 1 : 0;
  }
  for (Walk& walk : walks) {
    while (walk.next()) {
    }
    merged.flops.push_back(walk.total);
  }
  if (merged.differ) merged.count = 0;
  return merged;
}

}  // namespace hamtune

namespace nb = nanobind;

namespace {

/// Throws std::system_error when the merged rank cannot be written.
hamtune::MergedRank merge_files(const std::vector<std::string>& layouts,
                                const std::vector<std::string>& paths, const std::string& output) {
  std::list<hamtune::MappedFile> files;
  std::vector<hamtune::ByteView> captures;
  captures.reserve(paths.size());
  for (const std::string& path : paths) captures.push_back(files.emplace_back(path).view());
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(output.c_str(), "wb"), &std::fclose);
  const auto failed = [] { return std::system_error(errno, std::generic_category()); };
  if (!out) throw failed();
  hamtune::MergedRank merged = hamtune::merge_rank(layouts, captures, [&](hamtune::ByteView bytes) {
    const auto size = static_cast<std::size_t>(bytes.end - bytes.begin);
    if (std::fwrite(bytes.begin, 1, size, out.get()) != size) throw failed();
  });
  if (std::fclose(out.release()) != 0) throw failed();
  return merged;
}

nb::tuple merge_repeats(const std::vector<std::string>& layouts,
                        const std::vector<std::string>& paths, const std::string& output) {
  hamtune::MergedRank merged;
  try {
    const nb::gil_scoped_release released;
    merged = merge_files(layouts, paths, output);
  } catch (const std::system_error& error) {
    errno = error.code().value();
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, output.c_str());
    throw nb::python_error();
  }
  return nb::make_tuple(merged.count, merged.flops, merged.differ);
}

}  // namespace

void bind_repeats(nb::module_& module) {
  module.def("merge_repeats", &merge_repeats, nb::arg("layouts"), nb::arg("paths"),
             nb::arg("output"));
}
