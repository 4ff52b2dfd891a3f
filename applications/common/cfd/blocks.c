#include "blocks.h"

#include <string.h>

void block_identity(Block block)
{
  memset(block, 0, sizeof(Block));
  for (int m = 0; m < COMPONENTS; m++)
    block[m][m] = 1.0;
}

void block_subtract_product(double factor, Block a, const double *x, double *y)
{
  for (int row = 0; row < COMPONENTS; row++) {
    double sum = 0.0;
    for (int column = 0; column < COMPONENTS; column++)
      sum += a[row][column] * x[column];
    y[row] -= factor * sum;
  }
}

void block_subtract_block_product(Block a, Block b, Block c)
{
  for (int row = 0; row < COMPONENTS; row++) {
    for (int inner = 0; inner < COMPONENTS; inner++) {
      for (int column = 0; column < COMPONENTS; column++)
        c[row][column] -= a[row][inner] * b[inner][column];
    }
  }
}

/* Subtracts factor x row `from` from row `to`, in a right of the pivot and in all of b and x. */
static void subtract_row(Block a, double (*b)[COMPONENTS], double *x, int from, int to)
{
  double factor = a[to][from];
  for (int column = from + 1; column < COMPONENTS; column++)
    a[to][column] -= factor * a[from][column];
  if (b != NULL) {
    for (int column = 0; column < COMPONENTS; column++)
      b[to][column] -= factor * b[from][column];
  }
  x[to] -= factor * x[from];
}

void block_solve(Block a, double (*b)[COMPONENTS], double *x)
{
  for (int pivot = 0; pivot < COMPONENTS; pivot++) {
    double scale = 1.0 / a[pivot][pivot];
    for (int column = pivot + 1; column < COMPONENTS; column++)
      a[pivot][column] *= scale;
    if (b != NULL) {
      for (int column = 0; column < COMPONENTS; column++)
        b[pivot][column] *= scale;
    }
    x[pivot] *= scale;
    for (int row = 0; row < COMPONENTS; row++) {
      if (row != pivot)
        subtract_row(a, b, x, pivot, row);
    }
  }
}
