/* Five-by-five blocks and the systems made of them. */
#ifndef HAMTUNE_CFD_BLOCKS_H
#define HAMTUNE_CFD_BLOCKS_H

#include "flow.h"

typedef double Block[COMPONENTS][COMPONENTS];

void block_identity(Block block);

/* y = y - factor a x */
void block_subtract_product(double factor, Block a, const double *x, double *y);

/* c = c - a b */
void block_subtract_block_product(Block a, Block b, Block c);

/* x = a^-1 x, and b = a^-1 b where b is given; a is spent. Without pivoting: the blocks of these
 * problems are dominated by their diagonals. */
void block_solve(Block a, double (*b)[COMPONENTS], double *x);

#endif
