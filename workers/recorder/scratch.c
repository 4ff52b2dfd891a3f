/* Memory that lives as long as a call, kept between calls and grown when needed. */
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

static void *grown(void *memory, size_t *capacity, size_t wanted)
{
  if (wanted <= *capacity)
    return memory;
  *capacity = 2 * wanted;
  memory = realloc(memory, *capacity);
  if (memory == NULL)
    hamtune_refuse("out of memory while recording");
  return memory;
}

MPI_Status *hamtune_statuses(int count)
{
  static MPI_Status *memory;
  static size_t capacity;
  const size_t wanted = (size_t)(count > 0 ? count : 1) * sizeof *memory;
  memory = grown(memory, &capacity, wanted);
  memset(memory, 0, wanted);
  return memory;
}

int64_t *hamtune_slots(int count)
{
  static int64_t *memory;
  static size_t capacity;
  memory = grown(memory, &capacity, (size_t)(count > 0 ? count : 1) * sizeof *memory);
  return memory;
}

MPI_Request *hamtune_requests(int count, const MPI_Request *requests)
{
  static MPI_Request *memory;
  static size_t capacity;
  const size_t wanted = (size_t)(count > 0 ? count : 0) * sizeof *memory;
  memory = grown(memory, &capacity, wanted + sizeof *memory);
  if (requests != NULL && wanted > 0)
    memcpy(memory, requests, wanted);
  return memory;
}

MPI_Fint *hamtune_f_statuses(int count)
{
  static MPI_Fint *memory;
  static size_t capacity;
  const size_t integers = (size_t)(count > 0 ? count : 1) * (size_t)hamtune_fortran().status_size;
  memory = grown(memory, &capacity, integers * sizeof *memory);
  memset(memory, 0, integers * sizeof *memory);
  return memory;
}

const MPI_Request *hamtune_f_requests(int count, const MPI_Fint *requests)
{
  MPI_Request *memory = hamtune_requests(count, NULL);
  for (int i = 0; i < count; i++)
    memory[i] = PMPI_Request_f2c(requests[i]);
  return memory;
}

const MPI_Datatype *hamtune_f_types(int which, MPI_Comm comm, const MPI_Fint *types)
{
  static MPI_Datatype *memory[2];
  static size_t capacity[2];
  int size = 0;
  PMPI_Comm_size(comm, &size);
  memory[which] = grown(memory[which], &capacity[which], (size_t)size * sizeof(MPI_Datatype));
  for (int i = 0; i < size; i++)
    memory[which][i] = PMPI_Type_f2c(types[i]);
  return memory[which];
}

const int *hamtune_f_indices(MPI_Fint count, const MPI_Fint *indices)
{
  static int *memory;
  static size_t capacity;
  const size_t entries = (size_t)(count > 0 ? count : 0);
  memory = grown(memory, &capacity, (entries + 1) * sizeof *memory);
  for (size_t i = 0; i < entries; i++)
    memory[i] = indices[i] - 1;
  return memory;
}
