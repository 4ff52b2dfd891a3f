/* Random numbers of a program under SMPI, where ranks share a process: each has the generators of the C
 * library to itself, as it would in a process of its own. Programs rely on that where all ranks draw the
 * same numbers from the same seed. Hidden from all but the program, as the clocks are (smpi_clocks.c), and
 * weak, so that a program may define some of them itself. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define OF_LIBRARY __attribute__((weak, visibility("hidden")))

static struct random_data additive;
static struct drand48_data linear; /* all zeros: as it begins */

static void begin(void)
{
  static char table[128]; /* of the size and the seed with which the library begins */
  static bool begun;
  if (!begun)
    initstate_r(1, table, sizeof table, &additive);
  begun = true;
}

static char *table_in_use(void)
{
  return (char *)(additive.state - 1);
}

OF_LIBRARY long random(void)
{
  int32_t drawn = 0;
  begin();
  random_r(&additive, &drawn);
  return drawn;
}

OF_LIBRARY void srandom(unsigned seed)
{
  begin();
  srandom_r(seed, &additive);
}

OF_LIBRARY char *initstate(unsigned seed, char *table, size_t size)
{
  begin();
  char *const before = table_in_use();
  return initstate_r(seed, table, size, &additive) == 0 ? before : NULL;
}

OF_LIBRARY char *setstate(char *table)
{
  begin();
  char *const before = table_in_use();
  return setstate_r(table, &additive) == 0 ? before : NULL;
}

OF_LIBRARY int rand(void)
{
  return (int)random();
}

OF_LIBRARY void srand(unsigned seed)
{
  srandom(seed);
}

OF_LIBRARY double erand48(unsigned short state[3])
{
  double drawn = 0;
  erand48_r(state, &linear, &drawn);
  return drawn;
}

OF_LIBRARY long nrand48(unsigned short state[3])
{
  long drawn = 0;
  nrand48_r(state, &linear, &drawn);
  return drawn;
}

OF_LIBRARY long jrand48(unsigned short state[3])
{
  long drawn = 0;
  jrand48_r(state, &linear, &drawn);
  return drawn;
}

OF_LIBRARY double drand48(void)
{
  double drawn = 0;
  drand48_r(&linear, &drawn);
  return drawn;
}

OF_LIBRARY long lrand48(void)
{
  long drawn = 0;
  lrand48_r(&linear, &drawn);
  return drawn;
}

OF_LIBRARY long mrand48(void)
{
  long drawn = 0;
  mrand48_r(&linear, &drawn);
  return drawn;
}

OF_LIBRARY void srand48(long seed)
{
  srand48_r(seed, &linear);
}

OF_LIBRARY unsigned short *seed48(unsigned short seed[3])
{
  seed48_r(seed, &linear);
  return linear.__old_x;
}

OF_LIBRARY void lcong48(unsigned short parameters[7])
{
  lcong48_r(parameters, &linear);
}
