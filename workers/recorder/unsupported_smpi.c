/* As unsupported.c: what SMPI does not have. Under a real MPI it is recorded (real_calls.txt). */
#include "unsupported.h"

/* It has MPI_Cancel, but who waits for a cancelled receive ends the whole run. */
UNSUPPORTED_UNDER_SMPI(MPI_Cancel, mpi_cancel_)
/* The request of what a matched probe found would have to tell later whose message it was. */
UNSUPPORTED_UNDER_SMPI(MPI_Imrecv, mpi_imrecv_)
/* It says of every request that it is over. */
UNSUPPORTED_UNDER_SMPI(MPI_Request_get_status, mpi_request_get_status_)
