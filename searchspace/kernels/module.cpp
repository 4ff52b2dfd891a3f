// The Python module `searchspace.kernels._native`. Its typed face is `__init__.py` beside it.
#include <nanobind/nanobind.h>

void bind_annealing(nanobind::module_& module);
void bind_auto(nanobind::module_& module);
void bind_bisection(nanobind::module_& module);
void bind_congestion_assignment(nanobind::module_& module);
void bind_cubic_search(nanobind::module_& module);
void bind_distances(nanobind::module_& module);
void bind_forest(nanobind::module_& module);
void bind_hops(nanobind::module_& module);
void bind_mappers(nanobind::module_& module);
void bind_orderings(nanobind::module_& module);
void bind_repeats(nanobind::module_& module);
void bind_placement(nanobind::module_& module);
void bind_round_assignment(nanobind::module_& module);
void bind_routes(nanobind::module_& module);
void bind_symmetric_traffic(nanobind::module_& module);
void bind_trace(nanobind::module_& module);
void bind_tradeoff(nanobind::module_& module);
void bind_traffic_annealing(nanobind::module_& module);
void bind_widening(nanobind::module_& module);

NB_MODULE(_native, module) {
  // Machines keep their hops as long as Python keeps the machines, which may be until it ends.
  nanobind::set_leak_warnings(false);
  bind_annealing(module);
  bind_auto(module);
  bind_bisection(module);
  bind_congestion_assignment(module);
  bind_cubic_search(module);
  bind_distances(module);
  bind_forest(module);
  bind_hops(module);
  bind_mappers(module);
  bind_orderings(module);
  bind_repeats(module);
  bind_placement(module);
  bind_round_assignment(module);
  bind_routes(module);
  bind_symmetric_traffic(module);
  bind_trace(module);
  bind_tradeoff(module);
  bind_traffic_annealing(module);
  bind_widening(module);
}
