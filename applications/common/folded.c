#include "folded.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../hamtune_app.h"

void *app_allocate_payload(size_t bytes)
{
  size_t wanted = bytes > 0 ? bytes : 1;
#ifdef HAMTUNE_DECLARE_FLOPS
  void *payload = SMPI_SHARED_MALLOC(wanted);
#else
  void *payload = calloc(wanted, 1);
#endif
  if (payload == NULL) {
    fprintf(stderr, "there is no memory for %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return payload;
}

void app_free_payload(void *payload)
{
#ifdef HAMTUNE_DECLARE_FLOPS
  SMPI_SHARED_FREE(payload);
#else
  free(payload);
#endif
}
