program threads
  use mpi
  implicit none
  integer :: provided, queried, ierr
  call mpi_init_thread(mpi_thread_funneled, provided, ierr)
  call mpi_query_thread(queried, ierr)
  if (provided /= mpi_thread_funneled .or. queried /= provided) call mpi_abort(mpi_comm_world, 3, ierr)
  call mpi_finalize(ierr)
end program
