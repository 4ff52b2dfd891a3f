#include "flow.h"

#include <math.h>
#include <string.h>

const double flow_diffusion[AXES] = {0.75, 0.75, 1.0};

static const double TOLERANCE = 1e-8;

/* The solution is a sum of one quartic polynomial an axis: a constant, then for each power the
 * coefficients of the three axes. */
static const double solution[COMPONENTS][1 + 4 * AXES] = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
};

Flow flow_make(int points, double step)
{
  double cells = points - 1;
  Flow flow = {points, step, 0.5 * cells, cells * cells};
  return flow;
}

Motion flow_motion(const double state[COMPONENTS])
{
  Motion motion = {.volume = 1.0 / state[0]};
  double squares = 0.0;
  for (int axis = 0; axis < AXES; axis++) {
    motion.velocity[axis] = state[1 + axis] * motion.volume;
    squares += state[1 + axis] * state[1 + axis];
  }
  motion.kinetic = 0.5 * squares * motion.volume;
  motion.specific = motion.kinetic * motion.volume;
  return motion;
}

/* ---- solution and initial state ---- */

static void exact_at(const double place[AXES], double state[COMPONENTS])
{
  for (int m = 0; m < COMPONENTS; m++) {
    const double *c = solution[m];
    state[m] = c[0];
    for (int axis = 0; axis < AXES; axis++) {
      double x = place[axis];
      const double *power = c + 1 + axis;
      state[m] += x * (power[0] + x * (power[AXES] + x * (power[2 * AXES] + x * power[3 * AXES])));
    }
  }
}

static void place_of(const Flow *flow, const int grid[AXES], double place[AXES])
{
  for (int axis = 0; axis < AXES; axis++)
    place[axis] = grid[axis] / (flow->points - 1.0);
}

void flow_exact(const Flow *flow, const int grid[AXES], double state[COMPONENTS])
{
  double place[AXES];
  place_of(flow, grid, place);
  exact_at(place, state);
}

static bool on_face(const Flow *flow, const int grid[AXES])
{
  for (int axis = 0; axis < AXES; axis++) {
    if (grid[axis] == 0 || grid[axis] == flow->points - 1)
      return true;
  }
  return false;
}

void flow_initial(const Flow *flow, const int grid[AXES], double state[COMPONENTS])
{
  if (on_face(flow, grid)) {
    flow_exact(flow, grid, state);
    return;
  }
  double place[AXES], between[AXES][COMPONENTS];
  place_of(flow, grid, place);
  for (int axis = 0; axis < AXES; axis++) {
    double projection[AXES] = {place[0], place[1], place[2]};
    double low[COMPONENTS], high[COMPONENTS];
    projection[axis] = 0.0;
    exact_at(projection, low);
    projection[axis] = 1.0;
    exact_at(projection, high);
    for (int m = 0; m < COMPONENTS; m++)
      between[axis][m] = (1.0 - place[axis]) * low[m] + place[axis] * high[m];
  }
  for (int m = 0; m < COMPONENTS; m++) {
    double x = between[0][m], y = between[1][m], z = between[2][m];
    state[m] = x + y + z - x * y - x * z - y * z + x * y * z;
  }
}

/* ---- explicit side ---- */

static double second_difference(double low, double middle, double high)
{
  return high - 2.0 * middle + low;
}

void flow_add_fluxes(const Flow *flow, int axis, const double *low, const double *middle,
                     const double *high, const Motion motions[3], double change[COMPONENTS])
{
  const Motion *before = &motions[0], *here = &motions[1], *after = &motions[2];
  const int along = 1 + axis; /* the momentum of this axis */
  const double diffusion = flow_diffusion[axis] * flow->second;
  const double viscosity = FLOW_C3C4 * flow->second;
  const double speed_low = before->velocity[axis], speed_high = after->velocity[axis];
  const double speed = here->velocity[axis];

  for (int m = 0; m < COMPONENTS; m++)
    change[m] += diffusion * second_difference(low[m], middle[m], high[m]);

  change[0] -= flow->first * (high[along] - low[along]);
  for (int m = 1; m < ENERGY; m++) {
    double weight = m == along ? 4.0 / 3.0 : 1.0;
    change[m] += viscosity * weight *
                 second_difference(before->velocity[m - 1], here->velocity[m - 1],
                                   after->velocity[m - 1]);
    change[m] -= flow->first * (high[m] * speed_high - low[m] * speed_low);
  }
  change[along] -= flow->first * FLOW_C2 *
                   ((high[ENERGY] - after->kinetic) - (low[ENERGY] - before->kinetic));

  change[ENERGY] +=
      viscosity *
      ((1.0 - FLOW_C1C5) * second_difference(before->specific, here->specific, after->specific) +
       second_difference(speed_low * speed_low, speed * speed, speed_high * speed_high) / 6.0 +
       FLOW_C1C5 * second_difference(low[ENERGY] * before->volume, middle[ENERGY] * here->volume,
                                     high[ENERGY] * after->volume));
  change[ENERGY] -=
      flow->first * ((FLOW_C1 * high[ENERGY] - FLOW_C2 * after->kinetic) * speed_high -
                     (FLOW_C1 * low[ENERGY] - FLOW_C2 * before->kinetic) * speed_low);
}

void flow_damping_weights(const Flow *flow, int g, double weights[5])
{
  static const double inside[5] = {1.0, -4.0, 6.0, -4.0, 1.0};
  int last = flow->points - 1;
  for (int i = 0; i < 5; i++) {
    int place = g + i - 2;
    weights[i] = place > 0 && place < last ? inside[i] : 0.0;
  }
  if (g == 1 || g == last - 1)
    weights[2] = 5.0;
}

/* ---- implicit side ---- */

/* Derivative of the flux along an axis by the state. */
static void flux_jacobian(int axis, const double *state, const Motion *motion,
                          double jacobian[COMPONENTS][COMPONENTS])
{
  const int along = 1 + axis;
  const double *v = motion->velocity;
  const double speed = v[axis];
  const double heat = FLOW_C1 * state[ENERGY] * motion->volume;
  memset(jacobian, 0, sizeof(double[COMPONENTS][COMPONENTS]));
  jacobian[0][along] = 1.0;
  for (int m = 1; m < ENERGY; m++) {
    jacobian[m][0] = -v[m - 1] * speed;
    jacobian[m][m] = speed;
    jacobian[along][m] -= FLOW_C2 * v[m - 1];
    jacobian[ENERGY][m] = -FLOW_C2 * v[m - 1] * speed;
  }
  for (int m = 1; m < ENERGY; m++)
    jacobian[m][along] += v[m - 1];
  jacobian[along][0] += FLOW_C2 * motion->specific;
  jacobian[along][ENERGY] = FLOW_C2;
  jacobian[ENERGY][0] = (2.0 * FLOW_C2 * motion->specific - heat) * speed;
  jacobian[ENERGY][along] += heat - FLOW_C2 * motion->specific;
  jacobian[ENERGY][ENERGY] = FLOW_C1 * speed;
}

/* Adds factor x (derivative of the viscous terms along an axis by the state, and diffusion). */
static void add_viscous_jacobian(int axis, double factor, const double *state, const Motion *motion,
                                 double jacobian[COMPONENTS][COMPONENTS])
{
  const double conduction = FLOW_C1C5 * FLOW_C3C4;
  const double scale = factor * motion->volume;
  double energy = -conduction * state[ENERGY] * motion->volume;
  for (int m = 1; m < ENERGY; m++) {
    double v = motion->velocity[m - 1];
    double viscosity = (m == 1 + axis ? 4.0 / 3.0 : 1.0) * FLOW_C3C4;
    jacobian[m][0] -= scale * viscosity * v;
    jacobian[m][m] += scale * viscosity;
    jacobian[ENERGY][m] += scale * (viscosity - conduction) * v;
    energy -= (viscosity - conduction) * v * v;
  }
  jacobian[ENERGY][0] += scale * energy;
  jacobian[ENERGY][ENERGY] += scale * conduction;
  for (int m = 0; m < COMPONENTS; m++)
    jacobian[m][m] += factor * flow_diffusion[axis];
}

void flow_add_own_block(const Flow *flow, int axis, const double *state,
                        double block[COMPONENTS][COMPONENTS])
{
  Motion motion = flow_motion(state);
  add_viscous_jacobian(axis, 2.0 * flow->step * flow->second, state, &motion, block);
}

void flow_neighbour_block(const Flow *flow, int axis, int side, const double *state,
                          double block[COMPONENTS][COMPONENTS])
{
  Motion motion = flow_motion(state);
  flux_jacobian(axis, state, &motion, block);
  double factor = side * flow->step * flow->first;
  for (int row = 0; row < COMPONENTS; row++) {
    for (int column = 0; column < COMPONENTS; column++)
      block[row][column] *= factor;
  }
  add_viscous_jacobian(axis, -flow->step * flow->second, state, &motion, block);
}

bool flow_agrees(const double *results, const double *references, int count)
{
  for (int i = 0; i < count; i++) {
    /* Written so that a result that is no number does not agree. */
    if (!(fabs(results[i] - references[i]) <= TOLERANCE * fabs(references[i])))
      return false;
  }
  return true;
}
