/* What Fortran hands over, as C sees it. */
#include "recorder.h"

#include <dlfcn.h>
#include <string.h>

void *hamtune_f_binding(const char *name)
{
  void *binding = dlsym(RTLD_NEXT, name);
  if (binding == NULL)
    hamtune_refuse("this MPI library has no %s", name);
  return binding;
}

const void *hamtune_f_buffer(const void *buffer)
{
  const struct fortran_layout layout = hamtune_fortran();
  const bool in_place =
      buffer != NULL && (buffer == layout.in_place || buffer == layout.in_place_f08);
  return in_place ? MPI_IN_PLACE : buffer;
}

bool hamtune_f_ignored(const MPI_Fint *status)
{
  const struct fortran_layout layout = hamtune_fortran();
  return (const void *)status == layout.status_ignore ||
         (const void *)status == layout.statuses_ignore ||
         (const void *)status == layout.status_ignore_f08 ||
         (const void *)status == layout.statuses_ignore_f08;
}

const MPI_Status *hamtune_f_received(int count, const MPI_Fint *statuses)
{
  const int integers = hamtune_fortran().status_size;
  MPI_Status *converted = hamtune_statuses(count);
  for (int i = 0; i < count; i++)
    memcpy(&converted[i], &statuses[i * integers], sizeof *converted);
  return converted;
}

int hamtune_f_index(MPI_Fint index)
{
  return index == MPI_UNDEFINED ? MPI_UNDEFINED : index - 1;
}
