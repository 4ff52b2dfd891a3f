! The module mpi_f08: handles of its own types, error codes left out, status ignored.
program module_f08
  use mpi_f08
  implicit none
  integer :: rank, ranks, other, values(4), got(4)
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  type(MPI_Comm) :: half

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  other = 1 - rank
  values = rank
  call MPI_Sendrecv(values, 4, MPI_INTEGER, other, 1, got, 4, MPI_INTEGER, other, 1, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Irecv(got, 4, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(values, 4, MPI_INTEGER, other, 2, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call MPI_Irecv(got, 2, MPI_INTEGER, other, 3, MPI_COMM_WORLD, requests(1))
  call MPI_Send(values, 2, MPI_INTEGER, other, 3, MPI_COMM_WORLD)
  call MPI_Wait(requests(1), status)
  if (status%MPI_SOURCE /= other) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, rank, half)
  call MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_INTEGER, MPI_SUM, half)
  call MPI_Barrier(half)
  call MPI_Comm_free(half)
  call MPI_Finalize()
end program
