// Annealing of many splits at once.
#include "searchspace/kernels/network/cut_annealing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "searchspace/kernels/graph/instructions.hpp"

namespace hamtune {
namespace {

constexpr double kHottest = 1.0;  // times the temperature at which splits freeze
constexpr double kColdest = 0.2;
constexpr double kLeastDegree = 3.0;

// The bits of a random word decide the luck of a proposal and its two nodes.
constexpr unsigned kLuckBits = 10;
constexpr unsigned kNodeBits = 27;
constexpr std::size_t kLucks = std::size_t{1} << kLuckBits;

/// Quantiles of the exponential distribution, all as likely.
const std::array<double, kLucks>& lucks() {
  static const auto all = [] {
    std::array<double, kLucks> quantiles{};
    for (std::size_t k = 0; k < quantiles.size(); ++k)
      quantiles[k] = -std::log((static_cast<double>(k) + 0.5) / static_cast<double>(quantiles.size()));
    return quantiles;
  }();
  return all;
}

SplitFunctions functions_for(const SplitNetwork& network) {
#ifdef HAMTUNE_X86_LEVELS
  switch (usable_instructions()) {
    case Instructions::kAvx512: return avx512_splits(network);
    case Instructions::kAvx2: return avx2_splits(network);
    default: break;
  }
#endif
  return portable_splits(network);
}

/// The degree of all nodes, 0 if they differ or some nodes move alone.
std::uint32_t common_degree(const FlatGraph& graph, std::size_t counted) {
  const std::size_t degree = graph.largest_degree();
  for (Node node = 0; node < graph.nodes(); ++node)
    if (graph.degree(node) != degree) return 0;
  return counted == graph.nodes() ? static_cast<std::uint32_t>(degree) : 0;
}

/// In a network drawn at random among those of that degree.
double freezing_temperature(const FlatGraph& graph) {
  const double mean = static_cast<double>(graph.target.size()) /
                      std::max(1.0, static_cast<double>(graph.nodes()));
  return 0.5 / std::atanh(1.0 / std::sqrt(std::max(mean, kLeastDegree) - 1.0));
}

}  // namespace

CutAnnealing::CutAnnealing(const FlatGraph& graph, std::size_t counted)
    : graph_(graph),
      counted_(counted),
      degree_(common_degree(graph, counted)),
      freezing_(freezing_temperature(graph)),
      functions_(functions_for(network())),
      sides_(graph.nodes()),
      widths_(kSplits) {}

void CutAnnealing::run(unsigned sweeps, Random& random) {
  draw(random);
  double temperature = kHottest * freezing_;
  const double factor = std::pow(kColdest / kHottest, 1.0 / std::max(1.0, sweeps - 1.0));
  for (unsigned done = 0; done < sweeps; ++done, temperature *= factor) sweep(temperature, random);
  count();
}

unsigned CutAnnealing::narrowest() const {
  return static_cast<unsigned>(std::min_element(widths_.begin(), widths_.end()) - widths_.begin());
}

Sides CutAnnealing::sides(unsigned split) const {
  Sides sides(graph_.nodes());
  for (std::size_t node = 0; node < sides.size(); ++node)
    sides[node] = sides_[node].words[split / 64] >> (split % 64) & 1U;
  return sides;
}

/// Counted nodes in pairs that are on different sides, so that each split halves them.
void CutAnnealing::draw(Random& random) {
  std::vector<Node> order(graph_.nodes());
  std::iota(order.begin(), order.end(), Node{0});
  for (std::size_t left = counted_; left > 1; --left)
    std::swap(order[left - 1], order[random.below(static_cast<std::uint32_t>(left))]);
  for (std::size_t place = 0; place < order.size(); ++place)
    for (unsigned word = 0; word < kSplits / 64; ++word)
      sides_[order[place]].words[word] = place < counted_ && place % 2 == 1
                                             ? ~sides_[order[place - 1]].words[word]
                                             : random.next();
}

/// As many proposals as nodes.
void CutAnnealing::sweep(double temperature, Random& random) {
  constexpr std::uint64_t most = std::uint64_t{1} << kNodeBits;
  const std::array<double, kLucks>& luck = lucks();
  proposals_.resize(graph_.nodes());
  Exchange* last = proposals_.data();  // written in place: three words at once would wait for each other
  for (std::size_t proposal = 0; proposal < graph_.nodes(); ++proposal) {
    const std::uint64_t drawn = random.next();
    const auto u = static_cast<Node>((drawn >> (kLuckBits + kNodeBits)) * graph_.nodes() / most);
    auto ends = static_cast<std::int64_t>(graph_.degree(u));
    Node v = u;
    if (u < counted_) {
      v = static_cast<Node>((drawn >> kLuckBits) % most * counted_ / most);
      if (u == v) continue;
      ends += static_cast<std::int64_t>(graph_.degree(v));
      for (const Node* n = graph_.begin(u); n != graph_.end(u); ++n) ends += *n == v ? 2 : 0;
    }
    // While half of the ends are cut, nothing is lost; each one fewer costs two edges.
    const auto loss = static_cast<std::int64_t>(temperature * luck[drawn % kLucks]);
    const std::int64_t needed = std::max(std::int64_t{0}, (ends - loss + 1) / 2);
    last->u = u;
    last->v = v;
    last->needed = static_cast<std::uint32_t>(needed);
    ++last;
  }
  functions_.exchange(network(), sides_.data(), proposals_.data(), last);
}

void CutAnnealing::count() {
  std::array<SplitBits, kCountDigits> digits;
  functions_.count(network(), sides_.data(), digits.data());
  std::fill(widths_.begin(), widths_.end(), 0);
  for (unsigned digit = 0; digit < kCountDigits; ++digit)
    for (unsigned split = 0; split < kSplits; ++split)
      widths_[split] |= static_cast<std::uint32_t>(
          (digits[digit].words[split / 64] >> (split % 64) & 1U) << digit);
}

SplitNetwork CutAnnealing::network() const {
  return {graph_.first.data(), graph_.target.data(), static_cast<std::uint32_t>(graph_.nodes()),
          degree_};
}

}  // namespace hamtune
