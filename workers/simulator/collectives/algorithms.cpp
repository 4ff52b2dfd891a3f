#include "workers/simulator/collectives/algorithms.hpp"

#include <array>
#include <limits>
#include <stdexcept>

#include "workers/simulator/collectives/along_trees.hpp"

namespace simgrid::smpi {

int allreduce__rab(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm communicator);
int alltoall__basic_linear(const void* from, int count, MPI_Datatype type, void* into, int into_count,
                           MPI_Datatype into_type, MPI_Comm communicator);
int bcast__flattree(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator);
int reduce__ompi_basic_linear(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op,
                              int root, MPI_Comm communicator);
int reduce__rab(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm communicator);

}  // namespace simgrid::smpi

namespace hamtune::collectives {

namespace {

constexpr SegmentBytes kWhole = 0;
constexpr SegmentBytes k8Kibibytes = 8 << 10;
constexpr SegmentBytes k32Kibibytes = 32 << 10;

template <Tree& tree, SegmentBytes segment>
int bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator) {
  return broadcast({buffer, count, type}, root, communicator, tree, segment);
}

template <Tree& tree, SegmentBytes segment>
int reduce_up(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, int root,
              MPI_Comm communicator) {
  return reduce(from, {into, count, type}, op, root, communicator, tree, segment);
}

/// A reduction to rank 0, and its broadcast, each to or from all others in turn.
int linear_allreduce(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm communicator) {
  const bool in_place = from == MPI_IN_PLACE;
  const void* const own = in_place ? into : from;
  const bool is_root = rank_in(communicator) == 0;
  const int status = simgrid::smpi::reduce__ompi_basic_linear(in_place && is_root ? from : own, into, count, type,
                                                              op, 0, communicator);
  return status != MPI_SUCCESS ? status
                               : simgrid::smpi::bcast__flattree(into, count, type, 0, communicator);
}

/// As many bytes in elements that SMPI's algorithm of Rabenseifner takes: of single bytes it calls itself without an
/// end, and it throws at types that are none of C's numbers. An odd number of bytes becomes one more.
Block for_rabenseifner(void* begin, int count, MPI_Datatype type) {
  for (const MPI_Datatype known : {MPI_SHORT, MPI_INT, MPI_LONG, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
                                   MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_DOUBLE})
    if (type == known) return {begin, count, type};
  const std::size_t bytes = bytes_of(count, type);
  const bool are_doubles = bytes % sizeof(double) == 0;
  const std::size_t elements = are_doubles ? bytes / sizeof(double) : (bytes + 1) / sizeof(short);
  if (elements > std::numeric_limits<int>::max())
    throw std::runtime_error("more elements than SMPI's algorithm of Rabenseifner can count");
  return {begin, static_cast<int>(elements), are_doubles ? MPI_DOUBLE : MPI_SHORT};
}

int rabenseifner_allreduce(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm communicator) {
  const Block block = for_rabenseifner(into, count, type);
  return simgrid::smpi::allreduce__rab(from, block.begin, block.count, block.type, op, communicator);
}

int rabenseifner_reduce(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, int root,
                        MPI_Comm communicator) {
  const Block block = for_rabenseifner(into, count, type);
  return simgrid::smpi::reduce__rab(from, block.begin, block.count, block.type, op, root, communicator);
}

struct Algorithm {
  std::string_view collective;
  std::string_view name;
  void* function;
};

template <typename Function>
void* untyped(Function* function) {
  return reinterpret_cast<void*>(function);
}

const std::array kAlgorithms = {
    Algorithm{"bcast", "ompi_binomial", untyped(bcast<near_first_binomial, kWhole>)},
    Algorithm{"bcast", "ompi_knomial", untyped(bcast<knomial_of_four, kWhole>)},
    Algorithm{"bcast", "ompi_binary_tree", untyped(bcast<binary, kWhole>)},
    Algorithm{"bcast", "ompi_binary_tree_segmented", untyped(bcast<binary, k8Kibibytes>)},
    Algorithm{"bcast", "ompi_chain_whole", untyped(bcast<chain, kWhole>)},
    Algorithm{"bcast", "ompi_four_chains", untyped(bcast<four_chains, k8Kibibytes>)},
    Algorithm{"reduce", "ompi_chain_whole", untyped(reduce_up<chain, kWhole>)},
    Algorithm{"reduce", "ompi_chain_segmented", untyped(reduce_up<chain, k8Kibibytes>)},
    Algorithm{"reduce", "ompi_four_chains", untyped(reduce_up<four_chains, k32Kibibytes>)},
    Algorithm{"reduce", "ompi_binary_whole", untyped(reduce_up<binary, kWhole>)},
    Algorithm{"allreduce", "ompi_basic_linear", untyped(linear_allreduce)},
    Algorithm{"allreduce", "rab", untyped(rabenseifner_allreduce)},
    Algorithm{"reduce", "rab", untyped(rabenseifner_reduce)},
    // With its own setting the library has all messages under way at once, as the other one.
    Algorithm{"alltoall", "ompi_linear_sync", untyped(simgrid::smpi::alltoall__basic_linear)},
};

}  // namespace

void* own_algorithm(std::string_view collective, std::string_view name) {
  for (const Algorithm& each : kAlgorithms)
    if (each.collective == collective && each.name == name) return each.function;
  return nullptr;
}

}  // namespace hamtune::collectives
