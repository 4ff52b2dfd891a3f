! The call families from Fortran: messages, requests, persistent ones, collectives, communicators.
program forms
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, peer, i, n, requests(3), status(MPI_STATUS_SIZE), indices(3), dims(2)
  integer :: half, grid, row, statuses(MPI_STATUS_SIZE, 3), counts(2), places(2), types(2), pair
  logical :: flag, periods(2), rows(2)
  double precision :: a(16), b(16), t
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  a = 0
  if (rank == 0) then
    call MPI_SEND(a, 3, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, ierr)
  else
    call MPI_RECV(b, 3, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
  end if
  call MPI_SENDRECV(a, 2, MPI_INTEGER, peer, 2, b, 2, MPI_INTEGER, MPI_ANY_SOURCE, 2, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_IRECV(b, 1, MPI_REAL, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_ISEND(a, 1, MPI_REAL, peer, 3, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, ierr)
  call MPI_WAITALL(2, requests, statuses, ierr)
  call MPI_IRECV(b, 1, MPI_REAL, peer, 4, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_ISEND(a, 1, MPI_REAL, peer, 4, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_WAIT(requests(2), status, ierr)
  call MPI_WAITANY(2, requests, i, status, ierr)
  call MPI_IRECV(b, 1, MPI_REAL, peer, 5, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_SEND(a, 1, MPI_REAL, peer, 5, MPI_COMM_WORLD, ierr)
  call MPI_WAITSOME(1, requests, n, indices, statuses, ierr)
  call MPI_IRECV(b, 1, MPI_REAL, peer, 6, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_SEND(a, 1, MPI_REAL, peer, 6, MPI_COMM_WORLD, ierr)
  flag = .false.
  do while (.not. flag)
    call MPI_TEST(requests(1), flag, status, ierr)
  end do
  call MPI_TYPE_CONTIGUOUS(2, MPI_INTEGER, pair, ierr)
  call MPI_TYPE_COMMIT(pair, ierr)
  call MPI_SEND_INIT(a, 1, pair, peer, 7, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_RECV_INIT(b, 1, pair, peer, 7, MPI_COMM_WORLD, requests(2), ierr)
  do i = 1, 2
    call MPI_STARTALL(2, requests, ierr)
    call MPI_WAITALL(2, requests, statuses, ierr)
  end do
  call MPI_REQUEST_FREE(requests(1), ierr)
  call MPI_REQUEST_FREE(requests(2), ierr)
  t = MPI_WTIME()
  call MPI_PCONTROL(1)
  counts = (/ 1, 2 /)
  places = (/ 0, 1 /)
  types = MPI_INTEGER
  call MPI_BARRIER(MPI_COMM_WORLD, ierr)
  call MPI_BCAST(a, 4, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierr)
  call MPI_REDUCE(a, b, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  call MPI_ALLREDUCE(MPI_IN_PLACE, a, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  call MPI_ALLTOALL(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call MPI_ALLGATHERV(a, counts(rank + 1), MPI_INTEGER, b, counts, places, MPI_INTEGER, &
                      MPI_COMM_WORLD, ierr)
  places = (/ 0, 4 /)
  counts = 1
  call MPI_ALLTOALLW(a, counts, places, types, b, counts, places, types, MPI_COMM_WORLD, ierr)
  call MPI_COMM_SPLIT(MPI_COMM_WORLD, rank, 0, half, ierr)
  call MPI_BARRIER(half, ierr)
  dims = (/ 2, 1 /)
  periods = (/ .true., .false. /)
  rows = (/ .true., .false. /)
  call MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierr)
  call MPI_CART_SUB(grid, rows, row, ierr)
  call MPI_BARRIER(row, ierr)
  call MPI_COMM_FREE(half, ierr)
  call MPI_IBARRIER(MPI_COMM_WORLD, requests(1), ierr)
  call MPI_WAIT(requests(1), MPI_STATUS_IGNORE, ierr)
  call MPI_FINALIZE(ierr)
end program forms
