/* The flow problem that LU, BT and SP solve: the compressible Navier-Stokes equations on a unit
 * cube, discretised with central differences and a fourth-order damping term, made to have a known
 * solution by a forcing term. Specification: RNR-94-007, section 3, where K is diffusion (d), C
 * are gas constants and CE the coefficients of the solution. */
#ifndef HAMTUNE_CFD_FLOW_H
#define HAMTUNE_CFD_FLOW_H

#include <stdbool.h>

enum {
  COMPONENTS = 5, /* density, three momenta, energy */
  AXES = 3,
  ENERGY = 4,
  FLOW_MAX_POINTS = 162 /* points a side of the largest class */
};

/* Gas constants; C3 C4 is the viscosity, C1 C5 the ratio of heat conduction to it. */
#define FLOW_C1 1.4
#define FLOW_C2 0.4
#define FLOW_C3C4 0.1
#define FLOW_C1C5 (1.4 * 1.4)
#define FLOW_DAMPING 0.25

/* Artificial diffusion along each axis, the same for all components. */
extern const double flow_diffusion[AXES];

/* A problem on a cube: grid and time step. */
typedef struct {
  int points;    /* along a side */
  double step;   /* of time */
  double first;  /* factor of a central first difference: 1 / (2 h) */
  double second; /* factor of a second difference: 1 / h^2 */
} Flow;

Flow flow_make(int points, double step);

/* What a state means: reciprocal density, velocities, kinetic energy of a volume and of a mass. */
typedef struct {
  double volume;
  double velocity[AXES];
  double kinetic;
  double specific;
} Motion;

Motion flow_motion(const double state[COMPONENTS]);

/* The solution at grid point (g0, g1, g2), and the operations to find it. */
void flow_exact(const Flow *flow, const int grid[AXES], double state[COMPONENTS]);
#define FLOW_EXACT_FLOPS 120.0

/* The initial state there: exact on the faces of the cube, interpolated between them inside. */
void flow_initial(const Flow *flow, const int grid[AXES], double state[COMPONENTS]);
#define FLOW_INITIAL_FLOPS (6.0 * FLOW_EXACT_FLOPS + 85.0)

/* Adds to `change` the rate at which fluxes along an axis change the state in the middle. */
void flow_add_fluxes(const Flow *flow, int axis, const double *low, const double *middle,
                     const double *high, const Motion motions[3], double change[COMPONENTS]);

/* Weights of the fourth difference at index g of an axis over the five points around it: those on
 * the faces of the cube are left out. */
void flow_damping_weights(const Flow *flow, int g, double weights[5]);

/* The implicit side of a time step, I + dt (derivatives of the fluxes), in blocks: adds an axis'
 * share to the block of a point itself, or writes the block of its neighbour in the direction of
 * `side` (-1 or 1), with the state of the point that the block multiplies. */
void flow_add_own_block(const Flow *flow, int axis, const double *state,
                        double block[COMPONENTS][COMPONENTS]);
void flow_neighbour_block(const Flow *flow, int axis, int side, const double *state,
                          double block[COMPONENTS][COMPONENTS]);

/* Whether `count` results agree with NPB's, to its tolerance of 1e-8. */
bool flow_agrees(const double *results, const double *references, int count);

#endif
