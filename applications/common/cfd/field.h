/* States on a box of the grid, with two layers of its neighbours' points around it. */
#ifndef HAMTUNE_CFD_FIELD_H
#define HAMTUNE_CFD_FIELD_H

#include <stddef.h>

#include "flow.h"

enum { HALO = 2 };

/* A box of grid points. Those that are not on a face of the cube are inner: they have equations. */
typedef struct {
  int first[AXES];      /* in the grid */
  int count[AXES];
  int inner_from[AXES]; /* in the box */
  int inner_to[AXES];   /* one past the last */
  ptrdiff_t stride[AXES]; /* of one step along an axis, in doubles of a field */
  size_t volume;        /* points, halo included */
} Box;

Box box_make(const Flow *flow, const int first[AXES], const int count[AXES]);

/* How many points have equations. */
double box_inner_points(const Box *box);

/* All points, without the halo. */
double box_points(const Box *box);

/* Where the state of a point is in a field: the box's own points count from 0, the halo from -2. */
static inline ptrdiff_t box_at(const Box *box, int i, int j, int k)
{
  return (i + HALO) * box->stride[0] + (j + HALO) * box->stride[1] + (k + HALO) * box->stride[2];
}

/* Memory for a field, not touched. */
double *field_allocate(const Box *box);

/* Makes a field of states, all ones: a halo that nobody fills has no state of its own, and must
 * still be one that divisions survive. */
void field_clear(const Box *box, double *u);

/* Fill the box's own points; the exact solution also `margin` layers of the halo, where they lie in
 * the grid. */
void field_fill_exact(const Flow *flow, const Box *box, int margin, double *u);
void field_fill_initial(const Flow *flow, const Box *box, double *u);

/* Copies layers of whole faces out of a field or into it: `depth` layers, starting `from` points
 * from the box's beginning along the axis. Returns how many doubles were moved. */
size_t field_pack(const Box *box, const double *u, int axis, int from, int depth, double *buffer);
size_t field_unpack(const Box *box, double *u, int axis, int from, int depth, const double *buffer);

/* Adds to every inner point of r the rate of change by fluxes along the axis, and its damping. */
void field_add_fluxes(const Flow *flow, const Box *box, int axis, const double *u, double *r);

/* r = forcing on inner points, 0 elsewhere; forcing may be absent. */
void field_start_rates(const Box *box, const double *forcing, double *r);

/* Multiplies r by a factor on the inner points. */
void field_scale(const Box *box, double factor, double *r);

/* u = u + factor r on the inner points. */
void field_add(const Box *box, double factor, const double *r, double *u);

/* Adds up the squares of the inner points of r, or of the error of u, by component. */
void field_add_squares(const Box *box, const double *r, double sums[COMPONENTS]);
void field_add_squared_errors(const Flow *flow, const Box *box, const double *u,
                              double sums[COMPONENTS]);

/* Root mean squares over the inner points of the whole grid, from the sums over all ranks. */
void field_norms(const Flow *flow, double sums[COMPONENTS]);

#endif
