/* BT: the flow problem solved by alternating directions, a block tridiagonal system for every line
 * of points.
 *
 * Specification: NAS Parallel Benchmarks, RNR-94-007, section 3 and application BT; distribution
 * over multi-partitions and message pattern as in the MPI version of NPB 3.3.1. See
 * docs/applications/bt.md. */
#include <string.h>

#include "../common/cfd/adi.h"
#include "../common/cfd/blocks.h"

enum {
  BLOCK_VALUES = COMPONENTS * COMPONENTS,
  FORWARD_VALUES = BLOCK_VALUES + COMPONENTS, /* a block and a right-hand side */
  BACKWARD_VALUES = COMPONENTS
};

static const AdiProblem problems[ADI_CLASSES] = {
    {"S", 12, 60, 1.0e-2,
     {1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02,
      2.6436421275166801e-02, 1.9211784131744430e-01},
     {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05,
      7.3821238632439731e-05, 8.9269630987491446e-04}},
    {"W", 24, 200, 0.8e-3,
     {0.1125590409344e+03, 0.1180007595731e+02, 0.2710329767846e+02, 0.2469174937669e+02,
      0.2638427874317e+03},
     {0.4419655736008e+01, 0.4638531260002e+00, 0.1011551749967e+01, 0.9235878729944e+00,
      0.1018045837718e+02}},
    {"A", 64, 200, 0.8e-3,
     {1.0806346714637264e+02, 1.1319730901220813e+01, 2.5974354511582465e+01,
      2.3665622544678910e+01, 2.5278963211748344e+02},
     {4.2348416040525025e+00, 4.4390282496995698e-01, 9.6692480136345650e-01,
      8.8302063039765474e-01, 9.7379901770829278e+00}},
    {"B", 102, 200, 3.0e-4,
     {1.4233597229287254e+03, 9.9330522590150238e+01, 3.5646025644535285e+02,
      3.2485447959084092e+02, 3.2707541254659363e+03},
     {5.2969847140936856e+01, 4.4632896115670668e+00, 1.3122573342210174e+01,
      1.2006925323559144e+01, 1.2459576151035986e+02}},
    {"C", 162, 200, 1.0e-4,
     {0.62398116551764615e+04, 0.50793239190423964e+03, 0.15423530093013596e+04,
      0.13302387929291190e+04, 0.11604087428436455e+05},
     {0.16462008369091265e+03, 0.11497107903824313e+02, 0.41207446207461508e+02,
      0.37087651059694167e+02, 0.36211053051841265e+03}},
};

/* Floating-point operations of one iteration by NPB's rule. */
static double official_operations(int points)
{
  double n = points;
  return 3478.8 * n * n * n - 17655.7 * n * n + 28023.7 * n;
}

/* Eliminates the equation of the point at `at`: subtracts the lower block times the point before
 * it, of which `upper` and `rates` are what its elimination left, and solves for its own block.
 * Without a point before (`upper` absent) the line begins at the boundary. */
static void eliminate_point(const Flow *flow, AdiCell *cell, int axis, ptrdiff_t at, ptrdiff_t step,
                            double (*upper)[COMPONENTS], const double *rates)
{
  double(*next)[COMPONENTS] = (double(*)[COMPONENTS])adi_factors(cell, at, BLOCK_VALUES);
  double *own_rates = cell->r + at;
  Block own, lower;
  block_identity(own);
  flow_add_own_block(flow, axis, cell->u + at, own);
  flow_neighbour_block(flow, axis, 1, cell->u + at + step, next);
  if (upper != NULL) {
    flow_neighbour_block(flow, axis, -1, cell->u + at - step, lower);
    block_subtract_product(1.0, lower, rates, own_rates);
    block_subtract_block_product(lower, upper, own);
  }
  block_solve(own, next, own_rates);
}

static void eliminate(const Flow *flow, AdiCell *cell, int axis, const double *in, double *out)
{
  for (int number = 0; number < adi_lines(&cell->box, axis); number++) {
    const AdiLine line = adi_line(&cell->box, axis, number);
    Block received;
    double(*upper)[COMPONENTS] = NULL;
    const double *rates = NULL;
    if (in != NULL) {
      memcpy(received, in + number * FORWARD_VALUES, sizeof received);
      upper = received;
      rates = in + number * FORWARD_VALUES + BLOCK_VALUES;
    }
    for (int s = line.from; s < line.to; s++) {
      ptrdiff_t at = line.start + s * line.step;
      eliminate_point(flow, cell, axis, at, line.step, upper, rates);
      upper = (double(*)[COMPONENTS])adi_factors(cell, at, BLOCK_VALUES);
      rates = cell->r + at;
    }
    if (out != NULL) {
      memcpy(out + number * FORWARD_VALUES, upper, sizeof(Block));
      memcpy(out + number * FORWARD_VALUES + BLOCK_VALUES, rates, COMPONENTS * sizeof(double));
    }
  }
}

static void substitute(const Flow *flow, AdiCell *cell, int axis, const double *in, double *out)
{
  (void)flow;
  for (int number = 0; number < adi_lines(&cell->box, axis); number++) {
    const AdiLine line = adi_line(&cell->box, axis, number);
    const double *after = in == NULL ? NULL : in + number * BACKWARD_VALUES;
    for (int s = line.to - 1; s >= line.from; s--) {
      ptrdiff_t at = line.start + s * line.step;
      if (after != NULL)
        block_subtract_product(1.0, (double(*)[COMPONENTS])adi_factors(cell, at, BLOCK_VALUES),
                               after, cell->r + at);
      after = cell->r + at;
    }
    if (out != NULL)
      memcpy(out + number * BACKWARD_VALUES, after, COMPONENTS * sizeof(double));
  }
}

static const AdiMethod method = {
    .name = "bt",
    .problems = problems,
    .official_operations = official_operations,
    .extra_parameters = 2, /* intervals of writing and reading in the variant with files */
    .padded_messages = true,
    .factor_values = BLOCK_VALUES,
    .forward_values = FORWARD_VALUES,
    .backward_values = BACKWARD_VALUES,
    .eliminate = eliminate,
    .substitute = substitute,
    /* Derivatives and blocks 290, product with a vector 50 and with a block 250, solution 365. */
    .elimination_cost = 955.0,
    .substitution_cost = 50.0,
};

int main(int argc, char **argv)
{
  return adi_main(&method, argc, argv);
}
