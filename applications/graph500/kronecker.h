/* The graph of Graph500: a Kronecker product of small matrices, its vertices renamed at random. */
#ifndef HAMTUNE_KRONECKER_H
#define HAMTUNE_KRONECKER_H

#include <stdint.h>

/* Operations of making one edge of a graph of 2^scale vertices. */
#define KRONECKER_FLOPS(scale) (6.0 * (scale))

typedef struct {
  uint32_t from, to;
} KroneckerEdge;

/* Edge number `index` of the graph of 2^scale vertices: the same on every rank. */
KroneckerEdge kronecker_edge(int scale, uint64_t index);

#endif
