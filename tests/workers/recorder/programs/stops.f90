! Ends, after MPI_Finalize, in the way that the argument names.
program stops
  use mpi
  implicit none
  integer :: ierr
  character(len=10) :: way
  call get_command_argument(1, way)
  call MPI_Init(ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (way == 'plain') stop
  if (way == 'number') stop 0
  if (way == 'text') stop 'all done'
  if (way == 'exit') call exit(0)
  error stop 3
end program stops
