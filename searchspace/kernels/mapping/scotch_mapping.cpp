#include "searchspace/kernels/mapping/scotch_mapping.hpp"

#include <cstdio>

#include <scotch.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace hamtune {

namespace {

void check(int status) {
  if (status != 0) throw std::runtime_error("Scotch cannot map this traffic onto this machine");
}

/// An object of Scotch that is initialised, and freed in the end.
template <typename T, int (*Init)(T*), void (*Exit)(T*)>
class Scoped {
 public:
  Scoped() { check(Init(&object_)); }
  ~Scoped() { Exit(&object_); }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

  T* get() { return &object_; }

 private:
  T object_;
};

using Graph = Scoped<SCOTCH_Graph, SCOTCH_graphInit, SCOTCH_graphExit>;
using Architecture = Scoped<SCOTCH_Arch, SCOTCH_archInit, SCOTCH_archExit>;
using Strategy = Scoped<SCOTCH_Strat, SCOTCH_stratInit, SCOTCH_stratExit>;
using Context = Scoped<SCOTCH_Context, SCOTCH_contextInit, SCOTCH_contextExit>;

/// The arrays of a graph of Scotch: 32 bits wide, so weights are scaled down where they must be.
struct Arrays {
  std::vector<SCOTCH_Num> first{0};
  std::vector<SCOTCH_Num> target;
  std::vector<SCOTCH_Num> weight;
  std::vector<SCOTCH_Num> load;

  void build(SCOTCH_Graph* graph) {
    check(SCOTCH_graphBuild(graph, 0, static_cast<SCOTCH_Num>(first.size() - 1), first.data(),
                            nullptr, load.empty() ? nullptr : load.data(), nullptr,
                            static_cast<SCOTCH_Num>(target.size()), target.data(), weight.data()));
  }
};

Arrays of_traffic(const TrafficView& traffic) {
  double total = 0;
  for (std::size_t i = 0; i < traffic.end(traffic.ranks - 1); ++i)
    total += static_cast<double>(traffic.size[i]);
  const double scale = std::min(1.0, 1e8 / std::max(1.0, total));
  Arrays arrays;
  for (std::size_t rank = 0; rank < traffic.ranks; ++rank) {
    for (std::size_t i = traffic.begin(rank); i < traffic.end(rank); ++i) {
      arrays.target.push_back(static_cast<SCOTCH_Num>(traffic.partner[i]));
      arrays.weight.push_back(std::max<SCOTCH_Num>(
          1, static_cast<SCOTCH_Num>(static_cast<double>(traffic.size[i]) * scale)));
    }
    arrays.first.push_back(static_cast<SCOTCH_Num>(arrays.target.size()));
  }
  return arrays;
}

Arrays of_network(const Adjacency& network, const std::vector<std::size_t>& holds) {
  Arrays arrays;
  for (Node node = 0; node < network.nodes(); ++node) {
    for (const Neighbor* n = network.begin(node); n != network.end(node); ++n) {
      arrays.target.push_back(static_cast<SCOTCH_Num>(n->node));
      arrays.weight.push_back(1);
    }
    arrays.first.push_back(static_cast<SCOTCH_Num>(arrays.target.size()));
    const std::size_t held = node < holds.size() ? holds[node] : 0;
    arrays.load.push_back(static_cast<SCOTCH_Num>(std::max<std::size_t>(held, 1)));
  }
  return arrays;
}

}  // namespace

std::vector<std::uint32_t> scotch_mapping(const TrafficView& traffic, const ScotchTarget& target,
                                          std::int32_t strategy, std::int32_t seed) {
  Arrays arrays = of_traffic(traffic);
  if (target.kind == ScotchTarget::Kind::kNetwork) {
    // Scotch may crash when a network has more places than ranks: silent ranks fill them.
    std::size_t places = 0;
    for (const std::size_t held : target.holds) places += held;
    arrays.first.resize(places + 1, arrays.first.back());
  }
  // Where a graph has no context, Scotch takes as many threads as there are cores, and a state of
  // random numbers that all graphs share: another mapping each time. So both graphs have this one.
  Context context;
  SCOTCH_contextRandomSeed(context.get(), seed);
  check(SCOTCH_contextThreadSpawn(context.get(), 1, nullptr));

  Graph graph;
  arrays.build(graph.get());

  // What each of the architecture's targets is: these themselves, or the hosts that take ranks.
  std::vector<std::uint32_t> name;
  Arrays cables;
  Graph network;
  Graph bound_network;
  Architecture architecture;
  const auto axes = static_cast<SCOTCH_Num>(target.extents.size());
  switch (target.kind) {
    case ScotchTarget::Kind::kTree: {
      // Scotch fails on levels with one child: their links lengthen those above.
      std::vector<SCOTCH_Num> arity;
      std::vector<SCOTCH_Num> links;
      for (const std::int32_t children : target.extents) {
        if (children > 1) {
          arity.push_back(children);
          links.push_back(1);
        } else if (!links.empty()) {
          ++links.back();
        }
      }
      check(SCOTCH_archTleaf(architecture.get(), static_cast<SCOTCH_Num>(arity.size()),
                             arity.data(), links.data()));
      break;
    }
    case ScotchTarget::Kind::kTorus:
      check(SCOTCH_archTorusX(architecture.get(), axes, target.extents.data()));
      break;
    case ScotchTarget::Kind::kMesh:
      check(SCOTCH_archMeshX(architecture.get(), axes, target.extents.data()));
      break;
    case ScotchTarget::Kind::kNetwork: {
      cables = of_network(*target.network, target.holds);
      cables.build(network.get());
      std::vector<SCOTCH_Num> hosts;
      for (std::uint32_t host = 0; host < target.holds.size(); ++host)
        if (target.holds[host] > 0) {
          name.push_back(host);
          hosts.push_back(static_cast<SCOTCH_Num>(host));
        }
      check(SCOTCH_contextBindGraph(context.get(), network.get(), bound_network.get()));
      check(SCOTCH_archBuild2(architecture.get(), bound_network.get(),
                              static_cast<SCOTCH_Num>(hosts.size()), hosts.data()));
      break;
    }
  }

  Graph bound;
  check(SCOTCH_contextBindGraph(context.get(), graph.get(), bound.get()));
  Strategy how;
  if (strategy != 0)
    check(SCOTCH_stratGraphMapBuild(how.get(), strategy, SCOTCH_archSize(architecture.get()), 0.0));
  std::vector<SCOTCH_Num> part(arrays.first.size() - 1);
  check(SCOTCH_graphMap(bound.get(), architecture.get(), how.get(), part.data()));

  std::vector<std::uint32_t> found;
  for (std::size_t rank = 0; rank < traffic.ranks; ++rank) {
    const auto at = static_cast<std::uint32_t>(part[rank]);
    found.push_back(name.empty() ? at : name[at]);
  }
  return found;
}

}  // namespace hamtune
