! MPI_Testany and matched probes in Fortran.
program requests
  use mpi
  implicit none
  integer :: ierr, rank, other, index, left, message, got, n
  integer :: pending(2), status(mpi_status_size)
  logical :: flag
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  other = 1 - rank
  call mpi_isend(rank, 1, mpi_integer, other, 7, mpi_comm_world, pending(1), ierr)
  call mpi_ibarrier(mpi_comm_world, pending(2), ierr)
  left = 2
  do while (left > 0)
    call mpi_testany(2, pending, index, flag, mpi_status_ignore, ierr)
    if (flag .and. index == mpi_undefined) call mpi_abort(mpi_comm_world, 3, ierr)
    if (flag) left = left - 1
  end do
  call mpi_mprobe(mpi_any_source, 7, mpi_comm_world, message, status, ierr)
  call mpi_get_count(status, mpi_integer, n, ierr)
  call mpi_mrecv(got, 1, mpi_integer, message, mpi_status_ignore, ierr)
  if (n /= 1 .or. got /= other) call mpi_abort(mpi_comm_world, 4, ierr)
  call mpi_finalize(ierr)
end program
