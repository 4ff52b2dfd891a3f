! Every rank has a file of its own open on the same unit, while others run, and random numbers of its own.
program units
  use mpi
  implicit none
  integer :: rank, found, ierr
  real :: drawn, first
  character(len=20) :: name
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  write(name, '("of-rank-", i0)') rank
  open(10, file=name)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  write(10, *) rank
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  rewind(10)
  read(10, *) found
  if (found /= rank) error stop 3
  call random_seed(put=[(7, found=1, 33)])
  call random_number(drawn)
  first = drawn
  call MPI_Bcast(first, 1, MPI_REAL, 0, MPI_COMM_WORLD, ierr)
  if (first /= drawn) error stop 4
  close(10)
  call MPI_Finalize(ierr)
end program units
