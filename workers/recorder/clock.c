/* The computation between MPI calls: declared by the program, or measured with the CPU clock of
 * the thread and turned into flops with the speed that the capture gives. Recording is off unless
 * the capture names a directory.
 *
 * A stretch between two calls contains a look at the clock. What that takes is measured at the start,
 * by stretches in which the program does nothing, and taken off each. */
#include "recorder.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool active, measured;
static double speed, since, flops;
static struct computation computed;
static int depth;

/* Calls of other threads cannot be told apart in a trace, nor timed by this thread's clock. */
static void check_thread(const char *function)
{
  if (active && !hamtune_my_thread())
    hamtune_refuse("another thread than the one of MPI_Init calls %s; a trace has one a rank",
                   function);
}

static void count_stretch(void)
{
  const double spent = hamtune_thread_seconds() - since - computed.empty;
  computed.stretches++;
  if (spent <= 0) /* two clocks may differ by a little, and so may empty stretches */
    return;
  computed.seconds += spent;
  flops += spent * speed;
  hamtune_computed(spent);
}

void hamtune_enter_clock(const char *function)
{
  check_thread(function);
  if (depth++ > 0)
    return;
  if (!active) {
    hamtune_enter_outside();
    return;
  }
  if (measured)
    count_stretch();
  hamtune_tell_call(function);
}

void hamtune_enter(const char *function)
{
  hamtune_enter_clock(function);
  if (depth == 1 && active)
    hamtune_let_pass();
}

void hamtune_leave(void)
{
  if (--depth > 0)
    return;
  if (!active) {
    hamtune_leave_outside();
    return;
  }
  hamtune_tell_return();
  if (measured)
    since = hamtune_thread_seconds();
}

bool hamtune_recording(const char *function, int result)
{
  if (!active || depth != 1)
    return false;
  if (result != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    PMPI_Error_string(result, text, &length);
    hamtune_refuse("%s failed (%s); only runs without MPI errors can be recorded", function, text);
  }
  return true;
}

void hamtune_add_flops(double amount)
{
  flops += amount;
}

double hamtune_computed_seconds(void)
{
  return computed.seconds;
}

bool hamtune_measures(void)
{
  return measured;
}

double hamtune_take_flops(void)
{
  const double taken = flops;
  flops = 0;
  return taken;
}

/* flop/s from `2e9` or `2Gf`, as speeds are written everywhere in Hamtune; 0 for anything else. */
static double read_speed(const char *text)
{
  static const struct {
    const char *name;
    double factor;
  } units[] = {{"", 1},     {"f", 1},     {"kf", 1e3},  {"Mf", 1e6},
               {"Gf", 1e9}, {"Tf", 1e12}, {"Pf", 1e15}, {"Ef", 1e18}};
  static const double least = 1e4, most = 1e18;
  char *unit = NULL;
  const double number = strtod(text, &unit);
  for (size_t at = 0; unit != text && at < sizeof units / sizeof *units; at++) {
    const double value = number * units[at].factor;
    if (strcmp(unit, units[at].name) == 0)
      return value >= least && value <= most ? value : 0;
  }
  return 0;
}

/* Seconds of a stretch in which nothing is computed: the least mean of several batches, which no
 * interruption has made longer. Called within an entry point, which it leaves and enters. */
static double empty_stretch(void)
{
  enum { BATCHES = 16, BATCH = 32 };
  double least = 0;
  for (int batch = 0; batch < BATCHES; batch++) {
    for (int stretch = 0; stretch < BATCH; stretch++) {
      hamtune_leave();
      hamtune_enter_clock("MPI_Init");
    }
    const double spent = hamtune_take_flops() / speed, mean = spent / (int)BATCH;
    hamtune_computed(-spent);
    if (batch == 0 || mean < least)
      least = mean;
  }
  return least;
}

void hamtune_start_recording(void)
{
  const char *given = getenv("HAMTUNE_RECORD_DIRECTORY");
  /* A Fortran binding may call the C function: the outer one starts. */
  if (given == NULL || depth != 1)
    return;
  if (active)
    hamtune_refuse("MPI_Init ran twice in one process: ranks must not share variables");
  /* The program may go to another folder before the recording is written. */
  char directory[PATH_MAX];
  if (realpath(given, directory) == NULL)
    hamtune_refuse("HAMTUNE_RECORD_DIRECTORY %s: %s", given, strerror(errno));
  int rank = 0;
  hamtune_check_library();
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  hamtune_open_output(directory, rank);
  hamtune_check_wrappers();
  const char *host_speed = getenv("HAMTUNE_RECORD_HOST_SPEED");
  measured = host_speed != NULL;
  speed = measured ? read_speed(host_speed) : 0;
  hamtune_describe_run(directory, rank, speed);
  active = true;
  if (!measured)
    return;
  hamtune_start_clock();
  computed = (struct computation){.empty = empty_stretch()};
}

void hamtune_end_recording(void)
{
  put_operation(FINALIZE);
  hamtune_close_output(computed);
  hamtune_tell_end();
  hamtune_stop_clock();
  active = measured = false;
}
