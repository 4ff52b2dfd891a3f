/* The computation between MPI calls: declared by the program, or measured with the CPU clock of
 * the thread and turned into flops with the speed that the capture gives. Recording is off unless
 * the capture names a directory. */
#include "recorder.h"

#include <stdlib.h>

static bool active, measured;
static double speed, since, flops;
static int depth;

/* Calls of other threads cannot be told apart in a trace, nor timed by this thread's clock. */
static void check_thread(void)
{
  if (active && !hamtune_my_thread())
    hamtune_refuse("another thread than the one of MPI_Init calls MPI; a trace has one a rank");
}

void hamtune_enter(void)
{
  check_thread();
  if (depth++ > 0 || !measured)
    return;
  const double spent = hamtune_thread_seconds() - since;
  if (spent > 0) /* two clocks may differ by a little */
    flops += spent * speed;
}

void hamtune_leave(void)
{
  if (--depth == 0 && measured)
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

void hamtune_start_recording(void)
{
  const char *directory = getenv("HAMTUNE_RECORD_DIRECTORY");
  /* A Fortran binding may call the C function: the outer one starts. */
  if (directory == NULL || depth != 1)
    return;
  if (active)
    hamtune_refuse("MPI_Init ran twice in one process: ranks must not share variables");
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  hamtune_open_output(directory, rank);
  const char *host_speed = getenv("HAMTUNE_RECORD_HOST_SPEED");
  measured = host_speed != NULL;
  speed = measured ? strtod(host_speed, NULL) : 0;
  hamtune_describe_run(directory, rank, speed);
  if (measured)
    hamtune_start_clock();
  active = true;
}

void hamtune_end_recording(void)
{
  put_operation(FINALIZE);
  hamtune_close_output();
  hamtune_stop_clock();
  active = measured = false;
}
