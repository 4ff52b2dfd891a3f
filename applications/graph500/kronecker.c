#include "kronecker.h"

/* The initiator of the Graph500 specification: A, B, C, D = 0.57, 0.19, 0.19, 0.05. */
static const double A = 0.57, B = 0.19, C = 0.19;

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a bijection that leaves no pattern. */
static uint64_t mix(uint64_t word)
{
  word += UINT64_C(0x9e3779b97f4a7c15);
  word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
  return word ^ (word >> 31);
}

/* Another name for a vertex: multiplications by odd numbers and shifts turn 2^scale numbers into each
 * other, so that the degree says nothing about the number. */
static uint32_t renamed(int scale, uint32_t vertex)
{
  uint64_t mask = (UINT64_C(1) << scale) - 1, name = vertex;
  for (int round = 0; round < 3; round++) {
    name = (name * UINT64_C(0x9e3779b1) + 0x7f4a7c15) & mask;
    name ^= name >> (scale + 1) / 2;
  }
  return (uint32_t)name;
}

KroneckerEdge kronecker_edge(int scale, uint64_t index)
{
  uint32_t from = 0, to = 0;
  for (int level = 0; level < scale; level++) {
    uint64_t drawn = mix(index * 64 + (uint64_t)level);
    double quarter = (double)(drawn >> 11) * 0x1p-53;
    from = 2 * from + (quarter >= A + B);
    to = 2 * to + ((quarter >= A && quarter < A + B) || quarter >= A + B + C);
  }
  return (KroneckerEdge){renamed(scale, from), renamed(scale, to)};
}
