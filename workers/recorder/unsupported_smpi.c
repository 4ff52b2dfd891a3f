/* As unsupported.c: what SMPI does not have. Under a real MPI it is recorded (real_calls.txt). */
#include "unsupported.h"

/* It has MPI_Cancel, but who waits for a cancelled receive ends the whole run. */
UNSUPPORTED(MPI_Cancel, mpi_cancel_)
