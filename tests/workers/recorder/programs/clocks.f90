! The clocks of Fortran; a rank may look while it prints.
program clocks
  use mpi
  implicit none
  integer :: ierr, count4, rate4, i
  integer(8) :: count8, rate8
  real :: processor
  double precision :: first(4), last(4), total, work
  call mpi_init(ierr)
  call read_all(first)
  total = 0
  work = 0
  do while (total - first(1) < 0.1d0)
    do i = 1, 10000
      work = work + sqrt(dble(i))
    end do
    total = mpi_wtime()
  end do
  call read_all(last)
  print *, 'the time is', mpi_wtime(), work
  if (maxval(abs(last - first - 0.1d0)) > 0.035d0) then
    print *, 'the clocks differ:', last - first
    call mpi_abort(mpi_comm_world, 3, ierr)
  end if
  call mpi_finalize(ierr)
contains
  subroutine read_all(now)
    double precision, intent(out) :: now(4)
    now(1) = mpi_wtime()
    call system_clock(count4, rate4)
    now(2) = dble(count4) / rate4
    call system_clock(count8, rate8)
    now(3) = dble(count8) / dble(rate8)
    call cpu_time(processor)
    now(4) = processor
  end subroutine
end program
