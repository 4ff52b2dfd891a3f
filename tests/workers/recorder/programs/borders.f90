! As borders.c, of small messages.
program borders
  use mpi
  implicit none
  integer :: ierr, rank, ranks, up, down, sent, got(2), requests(4), at, left
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  up = merge(rank + 1, MPI_PROC_NULL, rank + 1 < ranks)
  down = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  sent = 0
  call MPI_Irecv(got(1), 1, MPI_INTEGER, down, 0, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Irecv(got(2), 1, MPI_INTEGER, up, 1, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Isend(sent, 1, MPI_INTEGER, up, 0, MPI_COMM_WORLD, requests(3), ierr)
  call MPI_Isend(sent, 1, MPI_INTEGER, down, 1, MPI_COMM_WORLD, requests(4), ierr)
  do left = 4, 1, -1
    call MPI_Waitany(4, requests, at, MPI_STATUS_IGNORE, ierr)
  end do
  if (rank == 0) then
    call MPI_Isend(sent, 1, MPI_INTEGER, 1, 2, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Request_free(requests(1), ierr)
    if (requests(1) /= MPI_REQUEST_NULL) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == 1) call MPI_Recv(got, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Finalize(ierr)
end program
