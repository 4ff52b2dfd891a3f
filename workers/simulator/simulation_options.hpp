// What a request's options mean to SimGrid, to SMPI and to us.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workers/simulator/platform.hpp"
#include "workers/simulator/request.hpp"

namespace hamtune {

using Options = std::vector<std::pair<std::string, std::string>>;

/// What SMPI can be told again after it has started.
inline constexpr std::array<std::string_view, 12> kAlgorithmOptions = {
    "smpi/coll-selector", "smpi/allgather", "smpi/allgatherv",     "smpi/allreduce",
    "smpi/alltoall",      "smpi/alltoallv", "smpi/barrier",        "smpi/bcast",
    "smpi/gather",        "smpi/reduce",    "smpi/reduce_scatter", "smpi/scatter"};

/// Whether some algorithm may group ranks by host.
bool is_node_aware(const Request& request);

/// The factors stay with us: they are asked for once a message.
ModelFactors factors_of(const Request& request);

/// The options that SimGrid must know before hosts are made, or those that it may learn later.
Options simgrid_options(const Request& request, bool later);

/// Throws InvalidRequest where SimGrid refuses one.
void set_options(const Options& options);

/// Has SMPI choose collective algorithms anew. Throws InvalidRequest where a table is wrong.
void set_collectives(const Options& options);

}  // namespace hamtune
