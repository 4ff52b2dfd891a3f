#include "application.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../hamtune_app.h"

static void report_time(const AppResult *result)
{
  printf("%s %s: %d ranks\n", result->program, result->size, result->ranks);
  printf("Time: %.6f s\n", result->seconds);
  if (!HAMTUNE_DECLARED && result->seconds > 0.0 && result->operations > 0.0)
    printf("Rate: %.2f million operations/s\n", result->operations / result->seconds * 1e-6);
}

int app_report_unknown(const AppResult *result)
{
  report_time(result);
  printf("Verification: none (not the iterations of the class)\n");
  return APP_OK;
}

int app_report(const AppResult *result)
{
  report_time(result);
  if (HAMTUNE_DECLARED) {
    printf("Verification: none (computation was declared)\n");
    return APP_OK;
  }
  printf("Verification: %s\n", result->verified ? "successful" : "failed");
  return result->verified ? APP_OK : APP_VERIFICATION_FAILED;
}

int app_wrong_use(const char *program, const char *format, ...)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
  }
  MPI_Finalize();
  return APP_WRONG_USE;
}

static const char kernel_classes[] = "SWAB";

/* The index of the class given as the only argument; -1 if there is no such class. */
static int kernel_class(int argc, char **argv)
{
  if (argc != 2 || strlen(argv[1]) != 1)
    return -1;
  const char *found = strchr(kernel_classes, argv[1][0]);
  return found == NULL ? -1 : (int)(found - kernel_classes);
}

int app_kernel_main(const AppKernel *kernel, int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int index = kernel_class(argc, argv);
  if (index < 0)
    return app_wrong_use(kernel->name, "needs one class of S, W, A, B (usage: %s CLASS)",
                         kernel->name);
  int limit = kernel->most_ranks(index);
  if (app_log2(ranks) < 0 || ranks > limit)
    return app_wrong_use(kernel->name, "class %c needs a power of two of ranks up to %d, not %d",
                         kernel_classes[index], limit, ranks);
  int status = kernel->run(index, rank, ranks);
  MPI_Finalize();
  return status;
}

int app_class_and_iterations(int argc, char **argv, const char *classes, int *iterations)
{
  *iterations = 0;
  if (argc < 2 || argc > 3 || strlen(argv[1]) != 1)
    return -1;
  if (argc == 3) {
    char *end;
    long number = strtol(argv[2], &end, 10);
    if (*end != '\0' || end == argv[2] || number < 1 || number > 1000000)
      return -1;
    *iterations = (int)number;
  }
  const char *found = strchr(classes, argv[1][0]);
  return found == NULL ? -1 : (int)(found - classes);
}

#ifdef SMPI_H /* defined by SMPI's mpi.h */
extern void hamtune_record_flops(double flops) __attribute__((weak));
#endif

/* SMPI has no MPI_Pcontrol: there only a recorder that is linked into the program has. */
static void mark(int level)
{
#ifdef SMPI_H
  if (hamtune_record_flops == NULL)
    return;
#endif
  MPI_Pcontrol(level);
}

void app_iteration_begins(void)
{
  mark(1);
}

void app_iterations_end(void)
{
  mark(0);
}

AppRange app_cut(int total, int parts, int index)
{
  int base = total / parts;
  int longer = total % parts;
  AppRange range = {index * base + (index < longer ? index : longer), base + (index < longer)};
  return range;
}

int app_log2(int value)
{
  int exponent = 0;
  if (value < 1 || (value & (value - 1)) != 0)
    return -1;
  while ((1 << exponent) < value)
    exponent++;
  return exponent;
}

void *app_allocate(size_t count, size_t size)
{
  void *memory = malloc(count > 0 ? count * size : size);
  if (memory == NULL) {
    fprintf(stderr, "out of memory: %zu bytes asked for\n", count * size);
    MPI_Abort(MPI_COMM_WORLD, APP_VERIFICATION_FAILED);
  }
  return memory;
}
