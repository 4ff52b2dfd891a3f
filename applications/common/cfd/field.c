#include "field.h"

#include <math.h>
#include <string.h>

#include "../application.h"

Box box_make(const Flow *flow, const int first[AXES], const int count[AXES])
{
  Box box;
  ptrdiff_t stride = COMPONENTS;
  for (int axis = 0; axis < AXES; axis++) {
    box.first[axis] = first[axis];
    box.count[axis] = count[axis];
    box.inner_from[axis] = first[axis] == 0;
    box.inner_to[axis] = count[axis] - (first[axis] + count[axis] == flow->points);
    box.stride[axis] = stride;
    stride *= count[axis] + 2 * HALO;
  }
  box.volume = (size_t)stride / COMPONENTS;
  return box;
}

double box_inner_points(const Box *box)
{
  double points = 1.0;
  for (int axis = 0; axis < AXES; axis++)
    points *= box->inner_to[axis] - box->inner_from[axis];
  return points;
}

double box_points(const Box *box)
{
  return (double)box->count[0] * box->count[1] * box->count[2];
}

double *field_allocate(const Box *box)
{
  return app_allocate(box->volume * COMPONENTS, sizeof(double));
}

void field_clear(const Box *box, double *u)
{
  for (size_t i = 0; i < box->volume * COMPONENTS; i++)
    u[i] = 1.0;
}

typedef void Fill(const Flow *flow, const int grid[AXES], double state[COMPONENTS]);

/* Fills the box's own points and `margin` layers around them, where they lie in the grid. */
static void fill(const Flow *flow, const Box *box, int margin, Fill *state_at, double *u)
{
  int from[AXES], to[AXES];
  for (int axis = 0; axis < AXES; axis++) {
    int end = flow->points - box->first[axis];
    from[axis] = box->first[axis] < margin ? -box->first[axis] : -margin;
    to[axis] = box->count[axis] + margin < end ? box->count[axis] + margin : end;
  }
  for (int k = from[2]; k < to[2]; k++) {
    for (int j = from[1]; j < to[1]; j++) {
      for (int i = from[0]; i < to[0]; i++) {
        int grid[AXES] = {box->first[0] + i, box->first[1] + j, box->first[2] + k};
        state_at(flow, grid, u + box_at(box, i, j, k));
      }
    }
  }
}

void field_fill_exact(const Flow *flow, const Box *box, int margin, double *u)
{
  fill(flow, box, margin, flow_exact, u);
}

void field_fill_initial(const Flow *flow, const Box *box, double *u)
{
  fill(flow, box, 0, flow_initial, u);
}

/* ---- faces ---- */

/* The corners of some layers of a box. */
typedef struct {
  int from[AXES];
  int to[AXES];
} Layers;

static Layers layers_of(const Box *box, int axis, int from, int depth)
{
  Layers layers = {{0, 0, 0}, {box->count[0], box->count[1], box->count[2]}};
  layers.from[axis] = from;
  layers.to[axis] = from + depth;
  return layers;
}

size_t field_pack(const Box *box, const double *u, int axis, int from, int depth, double *buffer)
{
  Layers layers = layers_of(box, axis, from, depth);
  size_t row = (size_t)(layers.to[0] - layers.from[0]) * COMPONENTS;
  size_t moved = 0;
  for (int k = layers.from[2]; k < layers.to[2]; k++) {
    for (int j = layers.from[1]; j < layers.to[1]; j++, moved += row)
      memcpy(buffer + moved, u + box_at(box, layers.from[0], j, k), row * sizeof(double));
  }
  return moved;
}

size_t field_unpack(const Box *box, double *u, int axis, int from, int depth, const double *buffer)
{
  Layers layers = layers_of(box, axis, from, depth);
  size_t row = (size_t)(layers.to[0] - layers.from[0]) * COMPONENTS;
  size_t moved = 0;
  for (int k = layers.from[2]; k < layers.to[2]; k++) {
    for (int j = layers.from[1]; j < layers.to[1]; j++, moved += row)
      memcpy(u + box_at(box, layers.from[0], j, k), buffer + moved, row * sizeof(double));
  }
  return moved;
}

/* ---- rates of change ---- */

/* Adds the rates along one line. `u` and `r` are its point 0. */
static void add_line_fluxes(const Flow *flow, const Box *box, int axis, const double *u, double *r)
{
  const ptrdiff_t step = box->stride[axis];
  const int from = box->inner_from[axis], to = box->inner_to[axis];
  Motion motions[FLOW_MAX_POINTS + 2]; /* of points from - 1 to `to` */
  for (int s = from - 1; s <= to; s++)
    motions[s - from + 1] = flow_motion(u + s * step);
  for (int s = from; s < to; s++) {
    const double *here = u + s * step;
    double *change = r + s * step;
    flow_add_fluxes(flow, axis, here - step, here, here + step, motions + s - from, change);
    double weights[5];
    flow_damping_weights(flow, box->first[axis] + s, weights);
    for (int i = 0; i < 5; i++) {
      if (weights[i] == 0.0)
        continue; /* the point may lie outside the grid */
      const double *state = here + (i - 2) * step;
      for (int m = 0; m < COMPONENTS; m++)
        change[m] -= FLOW_DAMPING * weights[i] * state[m];
    }
  }
}

void field_add_fluxes(const Flow *flow, const Box *box, int axis, const double *u, double *r)
{
  const int across = (axis + 1) % AXES, up = (axis + 2) % AXES;
  for (int a = box->inner_from[up]; a < box->inner_to[up]; a++) {
    for (int b = box->inner_from[across]; b < box->inner_to[across]; b++) {
      ptrdiff_t start = box_at(box, 0, 0, 0) + a * box->stride[up] + b * box->stride[across];
      add_line_fluxes(flow, box, axis, u + start, r + start);
    }
  }
}

void field_start_rates(const Box *box, const double *forcing, double *r)
{
  memset(r, 0, box->volume * COMPONENTS * sizeof(double));
  if (forcing != NULL)
    field_add(box, 1.0, forcing, r);
}

void field_scale(const Box *box, double factor, double *r)
{
  for (int k = box->inner_from[2]; k < box->inner_to[2]; k++) {
    for (int j = box->inner_from[1]; j < box->inner_to[1]; j++) {
      double *row = r + box_at(box, 0, j, k);
      for (int i = COMPONENTS * box->inner_from[0]; i < COMPONENTS * box->inner_to[0]; i++)
        row[i] *= factor;
    }
  }
}

void field_add(const Box *box, double factor, const double *r, double *u)
{
  for (int k = box->inner_from[2]; k < box->inner_to[2]; k++) {
    for (int j = box->inner_from[1]; j < box->inner_to[1]; j++) {
      ptrdiff_t start = box_at(box, 0, j, k);
      for (int i = COMPONENTS * box->inner_from[0]; i < COMPONENTS * box->inner_to[0]; i++)
        u[start + i] += factor * r[start + i];
    }
  }
}

/* ---- norms ---- */

void field_add_squares(const Box *box, const double *r, double sums[COMPONENTS])
{
  for (int k = box->inner_from[2]; k < box->inner_to[2]; k++) {
    for (int j = box->inner_from[1]; j < box->inner_to[1]; j++) {
      for (int i = box->inner_from[0]; i < box->inner_to[0]; i++) {
        const double *rate = r + box_at(box, i, j, k);
        for (int m = 0; m < COMPONENTS; m++)
          sums[m] += rate[m] * rate[m];
      }
    }
  }
}

void field_add_squared_errors(const Flow *flow, const Box *box, const double *u,
                              double sums[COMPONENTS])
{
  for (int k = box->inner_from[2]; k < box->inner_to[2]; k++) {
    for (int j = box->inner_from[1]; j < box->inner_to[1]; j++) {
      for (int i = box->inner_from[0]; i < box->inner_to[0]; i++) {
        int grid[AXES] = {box->first[0] + i, box->first[1] + j, box->first[2] + k};
        double exact[COMPONENTS];
        flow_exact(flow, grid, exact);
        const double *state = u + box_at(box, i, j, k);
        for (int m = 0; m < COMPONENTS; m++)
          sums[m] += (state[m] - exact[m]) * (state[m] - exact[m]);
      }
    }
  }
}

void field_norms(const Flow *flow, double sums[COMPONENTS])
{
  double inner = flow->points - 2;
  for (int m = 0; m < COMPONENTS; m++)
    sums[m] = sqrt(sums[m] / (inner * inner * inner));
}
