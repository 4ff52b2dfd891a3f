/* Prints the speed of one core of this machine in flop/s: the best of several runs of a plain
 * product of 256 x 256 matrices of doubles, as a compiler makes it from C. */
#include <stdio.h>
#include <time.h>

enum { SIZE = 256, RUNS = 9 };

static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void multiply(void)
{
  for (int i = 0; i < SIZE; i++)
    for (int k = 0; k < SIZE; k++)
      for (int j = 0; j < SIZE; j++)
        c[i][j] += a[i][k] * b[k][j];
}

int main(void)
{
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++) {
      a[i][j] = 1.0 / (1 + i + j);
      b[i][j] = i - j;
    }
  double best = 1e9;
  for (int run = 0; run < RUNS; run++) {
    const double start = seconds();
    multiply();
    const double taken = seconds() - start;
    if (taken < best)
      best = taken;
  }
  /* The result is used, so that no compiler may leave the work out. */
  if (c[SIZE - 1][0] == 0.5)
    return 1;
  const double size = (int)SIZE;
  printf("%.6e\n", 2.0 * size * size * size / best);
  return 0;
}
