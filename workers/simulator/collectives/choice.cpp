#include "workers/simulator/collectives/choice.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "workers/simulator/collectives/algorithms.hpp"
#include "workers/simulator/collectives/messages.hpp"

namespace simgrid::smpi::colls {

extern int (*allgather)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
extern int (*allgatherv)(const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype,
                         MPI_Comm);
extern int (*allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
extern int (*alltoall)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
extern int (*alltoallv)(const void*, const int*, const int*, MPI_Datatype, void*, const int*,
                        const int*, MPI_Datatype, MPI_Comm);
extern int (*barrier)(MPI_Comm);
extern int (*bcast)(void*, int, MPI_Datatype, int, MPI_Comm);
extern int (*gather)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm);
extern int (*reduce)(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
extern int (*reduce_scatter)(const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm);
extern int (*scatter)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm);

}  // namespace simgrid::smpi::colls

namespace hamtune::collectives {

namespace {

namespace colls = simgrid::smpi::colls;

constexpr std::string_view kPrefix = "smpi/";
constexpr std::string_view kRules = "rules:";
constexpr std::string_view kRulesOfAll = "rules-of-all:";

enum Which { allgather, allgatherv, allreduce, alltoall, alltoallv, barrier, bcast, gather, reduce,
             reduce_scatter, scatter, kCollectives };

/// What a call runs by whose bytes are at least so many; by the second one where ranks are odd.
struct Line {
  std::size_t bytes;
  void* even;
  void* odd;
};

struct Row {
  int ranks;
  std::vector<Line> lines;
};

/// What a call does whose collective has a table.
struct Rules {
  std::vector<Row> rows;
  std::vector<Row> non_commutative;   // where the operation does not commute
  void* otherwise = nullptr;  // for fewer ranks than any row
  bool is_of_all = false;     // whether the blocks of all ranks count together
};

std::array<Rules, kCollectives> rules;

template <Which which, typename Function>
Function* chosen(Function*, MPI_Comm communicator, std::size_t bytes, bool commutes = true) {
  const Rules& table = rules[which];
  const int ranks = ranks_of(communicator);
  if (table.is_of_all) bytes *= static_cast<std::size_t>(ranks);
  void* found = table.otherwise;
  for (const Row& row : commutes || table.non_commutative.empty() ? table.rows : table.non_commutative) {
    if (row.ranks > ranks) break;
    for (const Line& line : row.lines)
      if (line.bytes <= bytes) found = ranks % 2 == 0 ? line.even : line.odd;
  }
  return reinterpret_cast<Function*>(found);
}

bool commutes(MPI_Op op) {
  int flag = 0;
  MPI_Op_commutative(op, &flag);
  return flag != 0;
}

std::size_t total(const int* counts, MPI_Datatype type, MPI_Comm communicator) {
  return bytes_of(std::accumulate(counts, counts + ranks_of(communicator), 0), type);
}

// What a library decides by: of collectives with a block for each rank the bytes of one, of others those
// of the whole vector.

int decide_allgather(const void* from, int count, MPI_Datatype type, void* into, int into_count,
                     MPI_Datatype into_type, MPI_Comm communicator) {
  return chosen<allgather>(colls::allgather, communicator, bytes_of(into_count, into_type))(
      from, count, type, into, into_count, into_type, communicator);
}

int decide_allgatherv(const void* from, int count, MPI_Datatype type, void* into, const int* counts,
                      const int* begins, MPI_Datatype into_type, MPI_Comm communicator) {
  const auto ranks = static_cast<std::size_t>(ranks_of(communicator));
  return chosen<allgatherv>(colls::allgatherv, communicator,
                            total(counts, into_type, communicator) / ranks)(
      from, count, type, into, counts, begins, into_type, communicator);
}

int decide_allreduce(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm communicator) {
  return chosen<allreduce>(colls::allreduce, communicator, bytes_of(count, type), commutes(op))(
      from, into, count, type, op, communicator);
}

int decide_alltoall(const void* from, int count, MPI_Datatype type, void* into, int into_count,
                    MPI_Datatype into_type, MPI_Comm communicator) {
  return chosen<alltoall>(colls::alltoall, communicator, bytes_of(into_count, into_type))(
      from, count, type, into, into_count, into_type, communicator);
}

int decide_alltoallv(const void* from, const int* counts, const int* begins, MPI_Datatype type,
                     void* into, const int* into_counts, const int* into_begins,
                     MPI_Datatype into_type, MPI_Comm communicator) {
  return chosen<alltoallv>(colls::alltoallv, communicator, 0)(
      from, counts, begins, type, into, into_counts, into_begins, into_type, communicator);
}

int decide_barrier(MPI_Comm communicator) {
  return chosen<barrier>(colls::barrier, communicator, 0)(communicator);
}

int decide_bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator) {
  return chosen<bcast>(colls::bcast, communicator, bytes_of(count, type))(buffer, count, type, root,
                                                                         communicator);
}

int decide_gather(const void* from, int count, MPI_Datatype type, void* into, int into_count,
                  MPI_Datatype into_type, int root, MPI_Comm communicator) {
  const bool is_root = rank_in(communicator) == root;
  const std::size_t bytes = is_root ? bytes_of(into_count, into_type) : bytes_of(count, type);
  return chosen<gather>(colls::gather, communicator, bytes)(from, count, type, into, into_count, into_type,
                                                           root, communicator);
}

int decide_reduce(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm communicator) {
  return chosen<reduce>(colls::reduce, communicator, bytes_of(count, type), commutes(op))(
      from, into, count, type, op, root, communicator);
}

int decide_reduce_scatter(const void* from, void* into, const int* counts, MPI_Datatype type, MPI_Op op,
                          MPI_Comm communicator) {
  const std::size_t bytes = total(counts, type, communicator);
  return chosen<reduce_scatter>(colls::reduce_scatter, communicator, bytes, commutes(op))(
      from, into, counts, type, op, communicator);
}

int decide_scatter(const void* from, int count, MPI_Datatype type, void* into, int into_count,
                   MPI_Datatype into_type, int root, MPI_Comm communicator) {
  const bool is_root = rank_in(communicator) == root;
  const std::size_t bytes = is_root ? bytes_of(count, type) : bytes_of(into_count, into_type);
  return chosen<scatter>(colls::scatter, communicator, bytes)(from, count, type, into, into_count,
                                                             into_type, root, communicator);
}

/// Where SMPI keeps the algorithm of a collective, and what stands there where a table decides.
struct Slot {
  std::string_view collective;
  void** algorithm;
  void* decides;
};

template <typename Function>
Slot slot(std::string_view collective, Function*& algorithm, Function* decides) {
  return {collective, reinterpret_cast<void**>(&algorithm), reinterpret_cast<void*>(decides)};
}

/// In the order of `Which`.
const std::array<Slot, kCollectives>& slots() {
  static const std::array<Slot, kCollectives> all = {
      slot("allgather", colls::allgather, decide_allgather),
      slot("allgatherv", colls::allgatherv, decide_allgatherv),
      slot("allreduce", colls::allreduce, decide_allreduce),
      slot("alltoall", colls::alltoall, decide_alltoall),
      slot("alltoallv", colls::alltoallv, decide_alltoallv),
      slot("barrier", colls::barrier, decide_barrier),
      slot("bcast", colls::bcast, decide_bcast),
      slot("gather", colls::gather, decide_gather),
      slot("reduce", colls::reduce, decide_reduce),
      slot("reduce_scatter", colls::reduce_scatter, decide_reduce_scatter),
      slot("scatter", colls::scatter, decide_scatter)};
  return all;
}

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

bool is_table(std::string_view value) {
  return begins_with(value, kRules) || begins_with(value, kRulesOfAll);
}

bool is_ours(std::string_view collective, std::string_view value) {
  return is_table(value) || own_algorithm(collective, value) != nullptr;
}

std::string_view collective_of(const std::string& option) {
  return begins_with(option, kPrefix) ? std::string_view(option).substr(kPrefix.size()) : "";
}

/// SMPI's function of this name. It tells of none, so it is told to use it, once.
void* algorithm_of_smpi(const Slot& slot, const std::string& name) {
  static std::map<std::pair<std::string_view, std::string>, void*> known;
  const auto [place, is_new] = known.try_emplace({slot.collective, name}, nullptr);
  if (!is_new) return place->second;
  const std::string option = std::string(kPrefix) + std::string(slot.collective);
  const auto before = simgrid::config::get_value<std::string>(option.c_str());
  const std::vector<void*> kept = [] {
    std::vector<void*> functions;
    for (const Slot& each : slots()) functions.push_back(*each.algorithm);
    return functions;
  }();
  simgrid::config::set_as_string(option.c_str(), name);
  compat::set_collectives();
  place->second = *slot.algorithm;
  simgrid::config::set_as_string(option.c_str(), before);
  for (std::size_t each = 0; each < kept.size(); ++each) *slots()[each].algorithm = kept[each];
  return place->second;
}

void* algorithm(const Slot& slot, const std::string& name) {
  void* const own = own_algorithm(slot.collective, name);
  return own != nullptr ? own : algorithm_of_smpi(slot, name);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char letter : text)
    if (letter == separator)
      parts.emplace_back();
    else
      parts.back() += letter;
  return parts;
}

/// The two sides of a text with a mark in it.
std::pair<std::string, std::string> halves(const std::string& text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) throw std::invalid_argument("no '" + std::string(1, mark) + "' in '" + text + "'");
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<Row> read_rows(const Slot& slot, const std::string& text) {
  std::vector<Row> rows;
  for (const std::string& written : split(text, ';')) {
    const auto [ranks, choices] = halves(written, ':');
    Row& row = rows.emplace_back(Row{std::stoi(ranks), {}});
    for (const std::string& choice : split(choices, ',')) {
      const auto [bytes, names] = halves(choice, '=');
      const std::vector<std::string> either = split(names, '/');
      row.lines.push_back({std::stoul(bytes), algorithm(slot, either.front()),
                           algorithm(slot, either.back())});
    }
  }
  return rows;
}

Rules read_rules(const Slot& slot, const std::string& text) {
  const std::vector<std::string> tables = split(halves(text, ':').second, '|');
  if (tables.size() > 2) throw std::invalid_argument("more than one '|' in '" + text + "'");
  Rules found;
  found.otherwise = *slot.algorithm;
  found.is_of_all = begins_with(text, kRulesOfAll);
  found.rows = read_rows(slot, tables.front());
  if (tables.size() == 2) found.non_commutative = read_rows(slot, tables.back());
  return found;
}

}  // namespace

Options for_smpi(const Options& options) {
  Options told = options;
  for (auto& [option, value] : told)
    if (is_ours(collective_of(option), value)) value.clear();
  return told;
}

void choose(const Options& options) {
  for (const auto& [option, value] : options)
    for (std::size_t which = 0; which < slots().size(); ++which) {
      const Slot& slot = slots()[which];
      if (slot.collective != collective_of(option) || !is_ours(slot.collective, value)) continue;
      if (is_table(value)) {
        rules[which] = read_rules(slot, value);
        *slot.algorithm = slot.decides;
      } else {
        *slot.algorithm = own_algorithm(slot.collective, value);
      }
    }
}

}  // namespace hamtune::collectives
