// Traffic that is added up from pairs and from what is sent, against a dense matrix.
#include "searchspace/kernels/mapping/symmetric_traffic.hpp"

#include <numeric>
#include <stdexcept>
#include <vector>

#include "searchspace/kernels/trace/row_sum.hpp"
#include "tests/native.hpp"

namespace hamtune {
namespace {

using Matrix = std::vector<std::vector<std::int64_t>>;

SparseTraffic rows_of(const Matrix& matrix) {
  SparseTraffic rows{{0}, {}, {}};
  for (const auto& row : matrix) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (row[column] == 0) continue;
      rows.partner.push_back(static_cast<std::uint32_t>(column));
      rows.size.push_back(row[column]);
    }
    rows.first.push_back(static_cast<std::int64_t>(rows.partner.size()));
  }
  return rows;
}

bool same(const SparseTraffic& one, const SparseTraffic& other) {
  return one.first == other.first && one.partner == other.partner && one.size == other.size;
}

TEST_CASE("traffic is what the dense matrix says, few or many ranks") {
  Random random(7);
  for (std::uint32_t ranks = 1; ranks < 60; ++ranks) {
    std::vector<std::int64_t> one, other, size;
    Matrix sent(ranks, std::vector<std::int64_t>(ranks, 0)), both = sent;
    for (std::uint32_t each = random.below(4 * ranks); each > 0; --each) {
      one.push_back(random.below(ranks));
      other.push_back(random.below(ranks));
      size.push_back(random.below(5));
      sent[static_cast<std::size_t>(one.back())][static_cast<std::size_t>(other.back())] += size.back();
    }
    for (std::size_t from = 0; from < ranks; ++from)
      for (std::size_t to = 0; to < ranks; ++to)
        if (from != to) both[from][to] = sent[from][to] + sent[to][from];

    const SparseTraffic rows = rows_of(sent), expected = rows_of(both);
    CHECK(same(symmetric_traffic(ranks, {size.size(), one.data(), other.data(), size.data()}), expected));
    const SentView view{ranks, rows.first.data(), rows.partner.data(), rows.size.data()};
    CHECK(same(symmetric_traffic(view), expected));
  }
}

TEST_CASE("a ring of very many ranks takes memory by its pairs") {
  constexpr std::size_t kRanks = 65'536;
  std::vector<std::int64_t> first(kRanks + 1), size(kRanks, 3);
  std::vector<std::uint32_t> receiver(kRanks);
  std::iota(first.begin(), first.end(), 0);
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    receiver[rank] = static_cast<std::uint32_t>((rank + 1) % kRanks);

  const SparseTraffic traffic = symmetric_traffic({kRanks, first.data(), receiver.data(), size.data()});

  CHECK(traffic.first.size() == kRanks + 1);
  CHECK(traffic.partner.capacity() == 2 * kRanks);
  CHECK(traffic.size == std::vector<std::int64_t>(2 * kRanks, 3));
}

TEST_CASE("ranks that there are not may be named as long as they exchange nothing") {
  const std::int64_t one = -1, other = 2, nothing = 0, something = 1;
  CHECK(symmetric_traffic(3, {1, &one, &other, &nothing}).partner.empty());
  CHECK_THROWS_AS(symmetric_traffic(3, {1, &one, &other, &something}), std::out_of_range);
  CHECK_THROWS_AS(symmetric_traffic(2, {1, &other, &nothing, &something}), std::out_of_range);
}

TEST_CASE("sums of a row leave out what is 0, and the next row begins anew") {
  RowSum row(100);
  std::vector<std::pair<std::uint32_t, std::int64_t>> found;
  const auto keep = [&](std::uint32_t column, std::int64_t sum) { found.emplace_back(column, sum); };
  row.add(70, 2);
  row.add(3, 1);
  row.add(70, 5);
  row.add(9, 0);
  row.finish(keep);
  CHECK(found == std::vector<std::pair<std::uint32_t, std::int64_t>>{{3, 1}, {70, 7}});
  found.clear();
  for (std::uint32_t column = 100; column-- > 0;) row.add(column, column == 50 ? 0 : column + 1);
  row.finish(keep);
  CHECK(found.size() == 99);
  CHECK(found.front() == std::pair<std::uint32_t, std::int64_t>{0, 1});
  CHECK(found.back() == std::pair<std::uint32_t, std::int64_t>{99, 100});
}

}  // namespace
}  // namespace hamtune
