! As restarted.c, in Fortran.
program restarted
  use mpi
  implicit none
  integer, parameter :: times = 3
  integer :: ierr, rank, value, got, index, requests(2)
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (rank == 0) then
    requests(2) = MPI_REQUEST_NULL
    call MPI_Send_init(value, 1, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, requests(1), ierr)
    do value = 1, times
      call MPI_Startall(1, requests, ierr)
      flag = .true.
      if (value == 1) call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
      if (value == 2) call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, ierr)
      if (value == 3) flag = .false.
      do while (.not. flag)
        call MPI_Testany(2, requests, index, flag, MPI_STATUS_IGNORE, ierr)
      end do
      if (requests(1) == MPI_REQUEST_NULL) stop 3
    end do
    call MPI_Request_free(requests(1), ierr)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == 1) then
    do value = 1, times
      call MPI_Recv(got, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      if (got /= value) stop 3
    end do
  end if
  call MPI_Finalize(ierr)
end program restarted
