// What SMPI's collectives after MVAPICH2 keep from one call to the next, in global variables: the
// algorithm that was chosen last for a part of the work, and the arity of its tree. Some calls use
// what another one has left there, so a simulation must find it as the first one did. Tables that
// are filled once, always alike, may stay. No other collective of 3.32 writes a global variable.
#include <array>
#include <cstddef>
#include <cstring>

#include <dlfcn.h>

#include "workers/simulator/express/express.hpp"

namespace hamtune::express {

namespace {

constexpr std::array<const char*, 14> kFunctions = {
    "MV2_Allgatherction",           "MV2_Allgatherv_function",
    "MV2_Allreduce_intra_function", "MV2_Allreducection",
    "MV2_Alltoall_function",        "MV2_Bcast_function",
    "MV2_Bcast_intra_node_function", "MV2_Gather_inter_leader_function",
    "MV2_Gather_intra_node_function", "MV2_Red_scat_function",
    "MV2_Reduce_function",          "MV2_Reduce_intra_function",
    "MV2_Scatter_function",         "MV2_Scatter_intra_function"};

constexpr std::array<const char*, 6> kArities = {
    "mv2_inter_node_knomial_factor",     "mv2_intra_node_knomial_factor",
    "mv2_pipelined_zcpy_knomial_factor", "mv2_reduce_inter_knomial_factor",
    "mv2_reduce_intra_knomial_factor",   "zcpy_knomial_factor"};

struct SavedGlobal {
  void* place = nullptr;
  std::size_t size = 0;
  std::array<unsigned char, sizeof(void*)> value{};
};

std::array<SavedGlobal, kFunctions.size() + kArities.size()> saved_globals;

}  // namespace

bool save_mvapich_state() {
  auto global = saved_globals.begin();
  const auto save = [&global](const char* name, std::size_t size) {
    global->place = dlsym(RTLD_DEFAULT, name);
    global->size = size;
    if (global->place == nullptr) return false;
    std::memcpy(global->value.data(), global->place, size);
    ++global;
    return true;
  };
  for (const char* const name : kFunctions)
    if (!save(name, sizeof(void*))) return false;
  for (const char* const name : kArities)
    if (!save(name, sizeof(int))) return false;
  return true;
}

void restore_mvapich_state() {
  for (const SavedGlobal& global : saved_globals) std::memcpy(global.place, global.value.data(), global.size);
}

}  // namespace hamtune::express
