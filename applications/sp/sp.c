/* SP: the flow problem solved by alternating directions, with the blocks diagonalised: five scalar
 * pentadiagonal systems for every line of points.
 *
 * Specification: NAS Parallel Benchmarks, RNR-94-007, section 3 and application SP; distribution
 * over multi-partitions and message pattern as in the MPI version of NPB 3.3.1. See
 * docs/applications/sp.md. */
#include <math.h>
#include <string.h>

#include "../common/cfd/adi.h"

/* The five systems of a line have three matrices: one for the three waves that travel with the
 * flow, one each for those that travel faster and slower by the speed of sound. */
enum {
  MATRICES = 3,
  BAND = 5,
  ROW_VALUES = 2 * MATRICES,          /* of a row that is eliminated: the two entries that remain */
  FORWARD_VALUES = 2 * (ROW_VALUES + COMPONENTS), /* the last two rows of a cell */
  BACKWARD_VALUES = 2 * COMPONENTS    /* the first two unknowns */
};

static const int matrix_of[COMPONENTS] = {0, 0, 0, 1, 2};

static const AdiProblem problems[ADI_CLASSES] = {
    {"S", 12, 100, 1.5e-2,
     {2.7470315451339479e-02, 1.0360746705285417e-02, 1.6235745065095532e-02,
      1.5840557224455615e-02, 3.4849040609362460e-02},
     {2.7289258557377227e-05, 1.0364446640837285e-05, 1.6154798287166471e-05,
      1.5750704994480102e-05, 3.4177666183390531e-05}},
    {"W", 36, 400, 1.5e-3,
     {0.1893253733584e-02, 0.1717075447775e-03, 0.2778153350936e-03, 0.2887475409984e-03,
      0.3143611161242e-02},
     {0.7542088599534e-04, 0.6512852253086e-05, 0.1049092285688e-04, 0.1128838671535e-04,
      0.1212845639773e-03}},
    {"A", 64, 400, 1.5e-3,
     {2.4799822399300195, 1.1276337964368832, 1.5028977888770491, 1.4217816211695179,
      2.1292113035138280},
     {1.0900140297820550e-04, 3.7343951769282091e-05, 5.0092785406541633e-05,
      4.7671093939528255e-05, 1.3621613399213001e-04}},
    {"B", 102, 400, 1.0e-3,
     {0.6903293579998e+02, 0.3095134488084e+02, 0.4103336647017e+02, 0.3864769009604e+02,
      0.5643482272596e+02},
     {0.9810006190188e-02, 0.1022827905670e-02, 0.1720597911692e-02, 0.1694479428231e-02,
      0.1847456263981e-01}},
    {"C", 162, 400, 0.67e-3,
     {0.5881691581829e+03, 0.2454417603569e+03, 0.3293829191851e+03, 0.3081924971891e+03,
      0.4597223799176e+03},
     {0.2598120500183e+00, 0.2590888922315e-01, 0.5132886416320e-01, 0.4806073419454e-01,
      0.5483377491301e+00}},
};

/* Floating-point operations of one iteration by NPB's rule. */
static double official_operations(int points)
{
  double n = points;
  return 881.174 * n * n * n - 4683.91 * n * n + 11484.5 * n - 19272.4;
}

static double speed_of_sound(const double *state, const Motion *motion)
{
  return sqrt(FLOW_C1 * FLOW_C2 * motion->volume * (state[ENERGY] - motion->kinetic));
}

/* ---- changes of basis ---- */

/* Turns rates of change of the state into those of the waves along the first axis. */
static void to_waves(const double *state, double *r)
{
  const Motion motion = flow_motion(state);
  const double sound = speed_of_sound(state, &motion), *v = motion.velocity;
  const double half = sqrt(0.5) * motion.volume;
  double work = motion.specific * r[0] - v[0] * r[1] - v[1] * r[2] - v[2] * r[3] + r[4];
  double pressure = FLOW_C2 / (sound * sound) * work;
  double along = half * (v[0] * r[0] - r[1]);
  double across = motion.volume * (v[1] * r[0] - r[2]);
  double up = -motion.volume * (v[2] * r[0] - r[3]);
  double both = half * sound * pressure;
  r[0] -= pressure;
  r[1] = up;
  r[2] = across;
  r[3] = both - along;
  r[4] = both + along;
}

/* Turns waves along the first axis into waves along the second, or along the second into the
 * third: a rotation of the momenta, seen from the basis of the waves. */
static void turn_waves(int axis, double *r)
{
  const double root = sqrt(0.5);
  const double mean = 0.5 * (r[3] + r[4]), difference = root * (r[3] - r[4]);
  const double first = r[0], second = r[1], third = r[2];
  const double turned = root * (axis == 0 ? third : first);
  if (axis == 0) {
    r[0] = -second;
    r[1] = first;
    r[2] = difference;
  } else {
    r[0] = difference;
    r[1] = -third;
    r[2] = second;
  }
  r[3] = mean - turned;
  r[4] = mean + turned;
}

/* Turns waves along the third axis back into changes of the state. */
static void to_state(const double *state, double *r)
{
  const Motion motion = flow_motion(state);
  const double sound = speed_of_sound(state, &motion), *v = motion.velocity;
  const double density = state[0], half = sqrt(0.5) * density;
  double both = half / sound * (r[3] + r[4]);
  double mass = r[2] + both;
  double along = half * (r[3] - r[4]);
  double first = r[0], second = r[1];
  r[0] = mass;
  r[1] = v[0] * mass - density * second;
  r[2] = v[1] * mass + density * first;
  r[3] = v[2] * mass + along;
  r[4] = density * (v[1] * first - v[0] * second) + motion.specific * mass +
         sound * sound / FLOW_C2 * both + v[2] * along;
}

static void change_basis(AdiCell *cell, int after_axis)
{
  const Box *box = &cell->box;
  for (int k = box->inner_from[2]; k < box->inner_to[2]; k++) {
    for (int j = box->inner_from[1]; j < box->inner_to[1]; j++) {
      for (int i = box->inner_from[0]; i < box->inner_to[0]; i++) {
        ptrdiff_t at = box_at(box, i, j, k);
        if (after_axis < 0)
          to_waves(cell->u + at, cell->r + at);
        else if (after_axis < AXES - 1)
          turn_waves(after_axis, cell->r + at);
        else
          to_state(cell->u + at, cell->r + at);
      }
    }
  }
}

static void prepare(AdiCell *cell, int axis)
{
  (void)axis;
  change_basis(cell, -1);
}

/* ---- pentadiagonal systems ---- */

/* What the implicit side needs of a point: speed of the flow along the axis and of sound, and the
 * diffusion of the fastest diffusing component, which is the energy. */
typedef struct {
  double flow, sound, diffusion;
} Wave;

static Wave wave_at(int axis, const double *state)
{
  const Motion motion = flow_motion(state);
  Wave wave = {motion.velocity[axis], speed_of_sound(state, &motion),
               flow_diffusion[axis] + FLOW_C1C5 * FLOW_C3C4 * motion.volume};
  return wave;
}

/* The band of a row of one of the matrices. */
static void make_row(const Flow *flow, int matrix, int g, const Wave waves[3], double row[BAND])
{
  static const double sounds[MATRICES] = {0.0, 1.0, -1.0};
  const double first = flow->step * flow->first, second = flow->step * flow->second;
  flow_damping_weights(flow, g, row);
  for (int i = 0; i < BAND; i++)
    row[i] *= flow->step * FLOW_DAMPING;
  row[1] -= first * (waves[0].flow + sounds[matrix] * waves[0].sound) + second * waves[0].diffusion;
  row[2] += 1.0 + 2.0 * second * waves[1].diffusion;
  row[3] += first * (waves[2].flow + sounds[matrix] * waves[2].sound) - second * waves[2].diffusion;
}

/* A row after elimination: for each matrix the entries right of the diagonal, for each component
 * the right-hand side. */
typedef struct {
  double entries[MATRICES][2];
  double rates[COMPONENTS];
} Row;

/* Eliminates the two entries left of the diagonal with the two rows before, the nearer second. */
static void eliminate_row(const Flow *flow, int g, const Wave waves[3], const Row before[2],
                          Row *row)
{
  double left[MATRICES][2], scale[MATRICES];
  for (int matrix = 0; matrix < MATRICES; matrix++) {
    double band[BAND];
    make_row(flow, matrix, g, waves, band);
    const double *far = before[0].entries[matrix], *near = before[1].entries[matrix];
    double b = band[1] - band[0] * far[0];
    scale[matrix] = 1.0 / (band[2] - band[0] * far[1] - b * near[0]);
    left[matrix][0] = band[0];
    left[matrix][1] = b;
    row->entries[matrix][0] = scale[matrix] * (band[3] - b * near[1]);
    row->entries[matrix][1] = scale[matrix] * band[4];
  }
  for (int m = 0; m < COMPONENTS; m++) {
    int matrix = matrix_of[m];
    row->rates[m] -= left[matrix][0] * before[0].rates[m] + left[matrix][1] * before[1].rates[m];
    row->rates[m] *= scale[matrix];
  }
}

static void eliminate(const Flow *flow, AdiCell *cell, int axis, const double *in, double *out)
{
  for (int number = 0; number < adi_lines(&cell->box, axis); number++) {
    const AdiLine line = adi_line(&cell->box, axis, number);
    Row rows[3]; /* the two before, and the one at hand */
    Wave waves[3];
    memset(rows, 0, sizeof rows); /* nothing changes on the boundary */
    if (in != NULL)
      memcpy(rows, in + number * FORWARD_VALUES, 2 * sizeof(Row));
    const double *start = cell->u + line.start;
    waves[1] = wave_at(axis, start + (line.from - 1) * line.step);
    waves[2] = wave_at(axis, start + line.from * line.step);
    for (int s = line.from; s < line.to; s++) {
      ptrdiff_t at = line.start + s * line.step;
      waves[0] = waves[1];
      waves[1] = waves[2];
      waves[2] = wave_at(axis, cell->u + at + line.step);
      memcpy(rows[2].rates, cell->r + at, sizeof rows[2].rates);
      eliminate_row(flow, cell->box.first[axis] + s, waves, rows, &rows[2]);
      memcpy(cell->r + at, rows[2].rates, sizeof rows[2].rates);
      memcpy(adi_factors(cell, at, ROW_VALUES), rows[2].entries, sizeof rows[2].entries);
      rows[0] = rows[1];
      rows[1] = rows[2];
    }
    if (out != NULL)
      memcpy(out + number * FORWARD_VALUES, rows, 2 * sizeof(Row));
  }
}

static void substitute(const Flow *flow, AdiCell *cell, int axis, const double *in, double *out)
{
  (void)flow;
  for (int number = 0; number < adi_lines(&cell->box, axis); number++) {
    const AdiLine line = adi_line(&cell->box, axis, number);
    double after[2][COMPONENTS] = {{0.0}}; /* the unknowns after, the nearer one first */
    if (in != NULL)
      memcpy(after, in + number * BACKWARD_VALUES, sizeof after);
    for (int s = line.to - 1; s >= line.from; s--) {
      ptrdiff_t at = line.start + s * line.step;
      const double *entries = adi_factors(cell, at, ROW_VALUES);
      double *r = cell->r + at;
      for (int m = 0; m < COMPONENTS; m++) {
        const double *right = entries + 2 * matrix_of[m];
        r[m] -= right[0] * after[0][m] + right[1] * after[1][m];
      }
      memcpy(after[1], after[0], sizeof after[1]);
      memcpy(after[0], r, sizeof after[0]);
    }
    if (out != NULL)
      memcpy(out + number * BACKWARD_VALUES, after, sizeof after);
  }
}

static const AdiMethod method = {
    .name = "sp",
    .problems = problems,
    .official_operations = official_operations,
    .waits_together = true,
    .factor_values = ROW_VALUES,
    .forward_values = FORWARD_VALUES,
    .backward_values = BACKWARD_VALUES,
    .eliminate = eliminate,
    .substitute = substitute,
    .prepare = prepare,
    .finish = change_basis,
    .assembly_cost = 35.0,
    .elimination_cost = 58.0,
    .substitution_cost = 20.0,
    .preparation_cost = 28.0,
    .finish_cost = {7.0, 7.0, 29.0},
};

int main(int argc, char **argv)
{
  return adi_main(&method, argc, argv);
}
