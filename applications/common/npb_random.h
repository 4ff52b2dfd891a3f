/* The pseudorandom numbers of the NAS Parallel Benchmarks (RNR-94-007):
 * x' = a x mod 2^46, scaled into (0, 1). */
#ifndef HAMTUNE_NPB_RANDOM_H
#define HAMTUNE_NPB_RANDOM_H

#include <stdint.h>

#define NPB_MULTIPLIER UINT64_C(1220703125) /* 5^13 */
#define NPB_SEED UINT64_C(314159265)

/* Operations of one npb_random: a product, a reduction, a scaling. */
#define NPB_RANDOM_FLOPS 3.0

/* Advances `state` by one multiplication and returns the new number in (0, 1). */
double npb_random(uint64_t *state, uint64_t multiplier);

/* multiplier^exponent mod 2^46: the multiplier that skips `exponent` numbers at once. */
uint64_t npb_power(uint64_t multiplier, uint64_t exponent);

/* The state after `count` numbers drawn from `seed` with NPB_MULTIPLIER. */
uint64_t npb_skip_from(uint64_t seed, uint64_t count);

/* The state after `count` numbers drawn from NPB_SEED with NPB_MULTIPLIER. */
uint64_t npb_skip(uint64_t count);

#endif
