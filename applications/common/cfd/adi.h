/* What BT and SP share: time steps by alternating directions on a multi-partition of the grid.
 *
 * The cube is cut into p x p x p cells, p^2 ranks own p cells each, such that every layer of cells,
 * whatever its direction, holds one cell of every rank: in a sweep along any axis all ranks work
 * all the time. Specification: NAS-95-020, section on BT and SP. */
#ifndef HAMTUNE_CFD_ADI_H
#define HAMTUNE_CFD_ADI_H

#include <mpi.h>

#include "field.h"
#include "flow.h"

enum { ADI_CLASSES = 5 }; /* S, W, A, B, C */

typedef struct {
  const char *name;
  int points;
  int iterations;
  double step;
  double residual[COMPONENTS]; /* NPB's verification values */
  double error[COMPONENTS];
} AdiProblem;

/* A piece of the grid. */
typedef struct {
  int place[AXES]; /* in the cube of cells */
  Box box;
  double *u;       /* state */
  double *r;       /* rates of change, then the correction they lead to */
  double *forcing;
  double *factors; /* what elimination leaves for substitution, `factor_values` a point */
} AdiCell;

/* Visits one cell in a sweep along an axis. Lines of points along the axis come in a fixed order;
 * `in` and `out` are messages from and to the cells next to it, with values for each line, and
 * absent at the ends. */
typedef void AdiVisit(const Flow *flow, AdiCell *cell, int axis, const double *in, double *out);

/* A step whose work is within a point. */
typedef void AdiLocal(AdiCell *cell, int axis);

/* How BT and SP differ. Costs are operations a point, counted in the formulas: only their ratios
 * matter, declared computation is scaled so that an iteration costs what NPB says. */
typedef struct {
  const char *name;
  const AdiProblem *problems;
  double (*official_operations)(int points); /* of an iteration, by NPB's rule */
  int extra_parameters;  /* integers broadcast besides those of both programs */
  bool padded_messages;  /* a sweep's messages have room for the largest cell with its faces */
  bool waits_together;   /* for a sweep's send and receive */
  int factor_values;
  int forward_values;    /* doubles of a line in a message */
  int backward_values;
  AdiVisit *eliminate;   /* forward: in the order of the axis */
  AdiVisit *substitute;  /* backward */
  AdiLocal *prepare;     /* before the sweeps; may be absent */
  AdiLocal *finish;      /* after a sweep along an axis; may be absent */
  double assembly_cost;  /* the part of elimination that needs no message */
  double elimination_cost;
  double substitution_cost;
  double preparation_cost;
  double finish_cost[AXES];
} AdiMethod;

/* Runs the program of a method: everything between main's braces. */
int adi_main(const AdiMethod *method, int argc, char **argv);

/* The points of a cell along an axis that a sweep visits, and the lines of them. */
typedef struct {
  ptrdiff_t start;    /* of the line in a field, its point 0 */
  ptrdiff_t step;     /* from point to point */
  int from, to;       /* inner points */
} AdiLine;

int adi_lines(const Box *box, int axis);
AdiLine adi_line(const Box *box, int axis, int number);

/* Where the factors of the point at `at` in a field are. */
static inline double *adi_factors(const AdiCell *cell, ptrdiff_t at, int factor_values)
{
  return cell->factors + at / COMPONENTS * factor_values;
}

#endif
