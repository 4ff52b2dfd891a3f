/* SMPI's own functions in place of those of the system, by names alone: its header has macros with arguments,
 * which break a program that declares one of these functions by itself. */
#ifndef HAMTUNE_HELPERS_H
#define HAMTUNE_HELPERS_H
#include <smpi/smpi_helpers.h>

#undef sleep
#undef usleep
#undef nanosleep
#undef clock_gettime
#undef gettimeofday
#undef getopt
#undef getopt_long
#undef getopt_long_only

#define sleep smpi_sleep
#define usleep smpi_usleep
#define nanosleep smpi_nanosleep
#define clock_gettime smpi_clock_gettime
#define gettimeofday smpi_gettimeofday
#define getopt smpi_getopt
#define getopt_long smpi_getopt_long
#define getopt_long_only smpi_getopt_long_only

#endif
