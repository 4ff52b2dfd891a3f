// Regular covers of small multigraphs, Cayley networks among them, with wide bisections. C++17.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "searchspace/kernels/network/bisection.hpp"
#include "searchspace/kernels/network/cut_annealing.hpp"
#include "searchspace/kernels/graph/flat_graph.hpp"
#include "searchspace/kernels/network/lifting.hpp"
#include "searchspace/kernels/graph/random.hpp"
#include "searchspace/kernels/network/solvable_group.hpp"

namespace hamtune {

/// A cover that is being changed, all that tells it: its group comes from a seed.
struct Walker {
  std::uint32_t bases = 1;
  std::uint64_t group = 0;
  std::size_t hops = 0;
  double load = 0.0;  // of the cuts found
  std::vector<Lift> lifts;
};

/// A network: orbits of edges under a rotation of its group, and its narrowest known cut.
struct Cover {
  std::uint32_t symmetry = 1;
  std::vector<Orbit> orbits;
  std::size_t width = 0;
};

/// Looks for covers that no narrow cut divides.
///
/// They look the same from every element, so they have no weak spots, and many expand well. A cover
/// drawn anew begins with a random group; its base edges are changed while that shortens its
/// distances, since nearly all that have wide bisections have short distances, which cost far less
/// than a search for a narrow cut. The best few are walkers: one or two of their base edges are
/// changed at a time. What is best is told by the load, the sum of exp(-sharpness * width) over the
/// cuts that a fixed number of searches find and, with less weight each, over annealed ones: of two
/// covers with equally narrow cuts the one has less in which they are found seldom. A change is
/// refused as soon as the load is higher than before by more than a little: nearly always after a
/// few searches, and what these let pass by luck the annealing refuses. Both miss narrow cuts that few
/// halves lead to; the most of them are symmetric. So cuts that powers of an element leave as they are
/// are searched for, too, in the much smaller network of their classes. A new cover takes the place
/// of the worst walker when its load is not much higher.
class CoverSurvey {
 public:
  /// Only networks that a rotation of an order divisible by `unit` maps onto themselves.
  CoverSurvey(std::uint32_t nodes, std::uint32_t degree, std::uint32_t unit)
      : nodes_(nodes), degree_(degree), unit_(unit) {
    if (unit == 0 || nodes % unit != 0)
      throw std::invalid_argument("the symmetry must divide the number of nodes");
    for (std::uint32_t bases = 1; bases <= kMostBases; ++bases)
      if (nodes % bases == 0 && nodes / bases % unit == 0 &&
          nodes / bases <= SolvableGroup::kLargestOrder)
        bases_.push_back(bases);
    if (bases_.empty()) throw std::invalid_argument("the network is too large to be drawn");
  }

  /// Goes on for about that many searches for a cut; returns the last one of the covers that
  /// withstood a close look for a cut of `aim` edges or fewer (the aim rises with each), or one
  /// without orbits. A look takes `closeness` times as long as the shortest one, at most.
  Cover run(std::uint64_t searches, std::size_t aim, std::uint64_t seed, unsigned closeness) {
    Random random(seed);
    closeness_ = closeness;
    Cover best;
    best.width = aim;
    for (work_ = 0; work_ < searches * kEvaluationsASearch;) {
      if (places_.size() < kWalkers || random.below(kFreshEvery) == 0)
        begin(best, random);
      else
        change(best, random);
    }
    return best;
  }

  std::vector<Walker> walkers() const {
    std::vector<Walker> walkers;
    for (const Place& place : places_) walkers.push_back(place.walker);
    return walkers;
  }

  /// Puts walkers of an earlier survey of the same size in the place of those here.
  void restore(const std::vector<Walker>& walkers) {
    places_.clear();
    for (const Walker& walker : walkers) {
      if (std::find(bases_.begin(), bases_.end(), walker.bases) == bases_.end())
        throw std::invalid_argument("a walker has base nodes that do not divide the network");
      std::shared_ptr<Lifting> group = lifting(walker.bases, walker.group);
      if (!group->fits(walker.lifts))
        throw std::invalid_argument("a walker is no network of that size and degree");
      places_.push_back({walker, std::move(group)});
    }
  }

 private:
  static constexpr std::uint32_t kMostBases = 4;
  static constexpr std::size_t kWalkers = 16;
  static constexpr std::uint32_t kFreshEvery = 4;  // of that many covers one is drawn anew
  static constexpr unsigned kDraws = 8;             // of which the closest is changed
  static constexpr unsigned kChanges = 30;          // for shorter distances
  static constexpr unsigned kSearches = 60;         // for narrow cuts, of a walker
  static constexpr unsigned kSweeps = 200;          // of the annealing after them
  static constexpr unsigned kElements = 6;          // for symmetric cuts, of a walker
  static constexpr unsigned kCloseElements = 40;
  static constexpr unsigned kSearchesAnElement = 10;
  static constexpr unsigned kCloseSearchesAnElement = 40;
  static constexpr unsigned kCloseSweeps = 1000;
  static constexpr unsigned kCloseSearches = 100;
  static constexpr unsigned kMoreEffort = 6;  // times as close a look at what still holds
  static constexpr std::uint64_t kEvaluationsASearch = 6;  // of distances, in the same time
  static constexpr std::uint64_t kEvaluationsASweep = 1;
  static constexpr double kSharpness = 0.7;                // of the load, an edge
  static constexpr double kTemperature = 0.2;  // part by which a load may grow, on average
  static constexpr double kGrace = 2.7;        // times the worst load a cover drawn anew may have
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  struct Place {
    Walker walker;
    std::shared_ptr<Lifting> lifting;
  };

  /// What is known of the cuts of one network, and how to know more.
  class Look {
   public:
    Look(FlatGraph graph, std::uint64_t& work) : graph_(std::move(graph)), work_(work) {}

    std::size_t width() const { return width_; }
    double load() const { return load_; }

    /// Searches by Fiduccia-Mattheyses until a number is done or the load is above the limit.
    void search(unsigned searches, double limit, Random& random) {
      for (unsigned done = 0; done < searches && load_ <= limit; ++done)
        load_ += weight(improved_split(done, random));
    }

    /// Anneals splits, whose load counts as much as that of so many searches.
    void anneal(unsigned sweeps, unsigned searches, Random& random) {
      double load = 0.0;
      for (const std::uint32_t width : annealed(sweeps, random)) load += weight(width);
      load_ += load * searches / CutAnnealing::kSplits;
    }

    /// Searches for cuts that some elements of the group leave as they are; the narrowest counts.
    void search_symmetric(const std::vector<SolvableGroup::Element>& elements, unsigned searches,
                          const Lifting& lifting, Random& random) {
      std::size_t narrowest = graph_.target.size();
      for (const SolvableGroup::Element element : elements) {
        const std::uint32_t order = lifting.group().order_of(element);
        if (order == 1 || graph_.nodes() / order % 2 != 0) continue;
        const std::vector<Node> classes = lifting.classes(element);
        const FlatGraph smaller(graph_, classes);
        Bisector bisector(smaller);
        const Bisection found = bisect(bisector, smaller.nodes(), searches, random);
        work_ += kEvaluationsASearch * searches / order + 1;
        narrowest = std::min(narrowest, found.width * order);
        if (found.width * order >= width_) continue;
        width_ = found.width * order;
        best_.resize(graph_.nodes());
        for (Node node = 0; node < best_.size(); ++node) best_[node] = found.sides[classes[node]];
      }
      if (narrowest < graph_.target.size()) load_ += weight(narrowest);
    }

    /// Looks for a cut of `aim` edges or fewer. Cuts that are narrower than those before count.
    void close(std::size_t aim, unsigned closeness, Random& random) {
      const std::size_t before = width_;
      for (unsigned effort = 1; effort <= closeness && width_ > aim; effort *= kMoreEffort) {
        annealed(effort * kCloseSweeps, random);
        for (unsigned done = 0; done < effort * kCloseSearches && width_ > aim; ++done)
          improved_split(done, random);
      }
      if (width_ < before) load_ += weight(width_);
    }

   private:
    /// Widths are told from an eighth of the ends of edges, so that no sum is out of range.
    double weight(std::size_t width) const {
      const double usual = static_cast<double>(graph_.target.size()) / 8.0;
      return std::exp(kSharpness * (usual - static_cast<double>(width)));
    }

    std::size_t improved_split(unsigned number, Random& random) {
      work_ += kEvaluationsASearch;
      Sides sides = best_;
      if (number % 2 == 0 || sides.empty())
        sides = bisector_.random_split(random);
      else
        bisector_.disturb(sides, graph_.nodes() / 16 + 1, random);
      const std::size_t found = bisector_.improve(sides);
      if (found <= width_) {
        width_ = found;
        best_ = std::move(sides);
      }
      return found;
    }

    const std::vector<std::uint32_t>& annealed(unsigned sweeps, Random& random) {
      work_ += sweeps * kEvaluationsASweep;
      annealing_.run(sweeps, random);
      const unsigned narrowest = annealing_.narrowest();
      if (annealing_.widths()[narrowest] < width_) {
        width_ = annealing_.widths()[narrowest];
        best_ = annealing_.sides(narrowest);
      }
      return annealing_.widths();
    }

    FlatGraph graph_;
    std::uint64_t& work_;
    Bisector bisector_{graph_};
    CutAnnealing annealing_{graph_};
    Sides best_;
    std::size_t width_ = graph_.target.size();
    double load_ = 0.0;
  };

  std::shared_ptr<Lifting> lifting(std::uint32_t bases, std::uint64_t group) const {
    Random random(group);
    return std::make_shared<Lifting>(SolvableGroup(nodes_ / bases, random), bases, degree_);
  }

  /// Draws a cover, and makes it a walker if there is room or the worst one is no wider.
  void begin(Cover& best, Random& random) {
    Walker drawn;
    drawn.bases = bases_[random.below(static_cast<std::uint32_t>(bases_.size()))];
    drawn.group = random.next();
    drawn.hops = Lifting::kFar;
    const std::shared_ptr<Lifting> group = lifting(drawn.bases, drawn.group);
    work_ += nodes_ / drawn.bases / 4;
    if (unit_ > 1 && !group->turns(unit_)) return;
    for (unsigned tried = 0; tried < kDraws + kChanges; ++tried, ++work_) {
      const bool fresh = tried < kDraws || drawn.lifts.empty();
      std::vector<Lift> lifts = fresh ? group->draw(random) : group->change(drawn.lifts, random);
      if (lifts.empty()) continue;
      const std::size_t hops = group->hops(lifts, fresh ? drawn.hops : drawn.hops + 1);
      if (hops == Lifting::kFar) continue;
      drawn.hops = hops;
      drawn.lifts = std::move(lifts);
    }
    if (drawn.lifts.empty()) return;
    auto worst = places_.end();
    if (places_.size() >= kWalkers)
      worst = std::max_element(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
        return a.walker.load < b.walker.load;
      });
    const double limit = worst == places_.end() ? kNoLimit : kGrace * worst->walker.load;
    drawn.load = judge(*group, drawn.lifts, limit, best, random);
    if (drawn.load > limit) return;
    if (worst == places_.end())
      places_.push_back({std::move(drawn), group});
    else
      *worst = {std::move(drawn), group};
  }

  /// Changes the better one of two walkers.
  void change(Cover& best, Random& random) {
    const auto count = static_cast<std::uint32_t>(places_.size());
    Place* place = &places_[random.below(count)];
    Place* const other = &places_[random.below(count)];
    if (other->walker.load < place->walker.load) place = other;
    Walker& walker = place->walker;
    ++work_;
    std::vector<Lift> lifts = place->lifting->change(walker.lifts, random);
    if (lifts.empty()) return;
    const std::size_t hops = place->lifting->hops(lifts, walker.hops + walker.hops / kSlack + 1);
    if (hops == Lifting::kFar) return;
    const double limit = walker.load * std::exp(-kTemperature * std::log(1.0 - random.unit()));
    const double load = judge(*place->lifting, lifts, limit, best, random);
    if (load > limit) return;
    walker.load = load;
    walker.hops = hops;
    walker.lifts = std::move(lifts);
  }

  /// Random elements and, as those leave the most cuts as they are, powers of prime order.
  static std::vector<SolvableGroup::Element> some_elements(unsigned count,
                                                           const SolvableGroup& group,
                                                           Random& random) {
    std::vector<SolvableGroup::Element> drawn;
    while (drawn.size() < count) {
      const auto element = static_cast<SolvableGroup::Element>(random.below(group.order()));
      drawn.push_back(drawn.size() % 2 == 1 ? group.prime_power(element) : element);
    }
    return drawn;
  }

  /// The load of a cover, or something above `limit`. Looks closely at what may be the best cover.
  double judge(Lifting& lifting, const std::vector<Lift>& lifts, double limit, Cover& best,
               Random& random) {
    Look look(FlatGraph(degree_, lifting.targets(lifts)), work_);
    look.search(kSearches, limit, random);
    if (look.load() > limit) return look.load();
    const SolvableGroup& group = lifting.group();
    look.search_symmetric(some_elements(kElements, group, random), kSearchesAnElement, lifting,
                          random);
    if (look.load() > limit) return look.load();
    look.anneal(kSweeps, kSearches, random);
    if (look.load() > limit || look.width() <= best.width) return look.load();
    look.search_symmetric(some_elements(kCloseElements, group, random), kSearchesAnElement, lifting,
                          random);
    if (look.width() <= best.width) return look.load();
    look.close(best.width, closeness_, random);
    if (look.width() <= best.width) return look.load();
    // Of conjugate subgroups one is enough: automorphisms take their cuts to each other.
    look.search_symmetric(group.cyclic_subgroups(), kCloseSearchesAnElement, lifting, random);
    if (look.width() > best.width) {
      auto [symmetry, orbits] = lifting.orbits(lifts, unit_);
      best = {symmetry, std::move(orbits), look.width()};
    }
    return look.load();
  }

  static constexpr std::size_t kSlack = 100;  // part that a change may add to the hops

  std::uint32_t nodes_;
  std::uint32_t degree_;
  std::uint32_t unit_;
  std::vector<std::uint32_t> bases_;
  std::vector<Place> places_;
  unsigned closeness_ = 1;
  std::uint64_t work_ = 0;  // evaluations of distances, and searches in their place
};

}  // namespace hamtune
