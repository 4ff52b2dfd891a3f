#include "npb_random.h"

/* 2^46 divides 2^64, so products that wrap in 64 bits keep their lower 46 bits exact: the pairs of
 * 23-bit halves that double precision needs are not needed here. */
#define MASK ((UINT64_C(1) << 46) - 1)

double npb_random(uint64_t *state, uint64_t multiplier)
{
  *state = (*state * multiplier) & MASK;
  return (double)*state * 0x1p-46;
}

uint64_t npb_power(uint64_t multiplier, uint64_t exponent)
{
  uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1)
      result = (result * multiplier) & MASK;
    multiplier = (multiplier * multiplier) & MASK;
  }
  return result;
}

uint64_t npb_skip_from(uint64_t seed, uint64_t count)
{
  return (seed * npb_power(NPB_MULTIPLIER, count)) & MASK;
}

uint64_t npb_skip(uint64_t count)
{
  return npb_skip_from(NPB_SEED, count);
}
