! Sums along rows and halves of a grid of ranks.
program main
  use parts
  implicit none
  integer :: round, left, right, ierr
  double precision :: mine(8), sums(8)
  call MPI_Init(ierr)
  call divide()
  mine = 1.0d0
  call MPI_Cart_shift(grid, 0, 1, left, right, ierr)
  do round = 1, ROUNDS
    call MPI_Sendrecv_replace(mine, 8, MPI_DOUBLE_PRECISION, right, 4, left, 4, grid, &
                              MPI_STATUS_IGNORE, ierr)
    call MPI_Allreduce(mine, sums, 8, MPI_DOUBLE_PRECISION, MPI_SUM, row, ierr)
    mine = sums / maxval(sums)
    call share(mine, 8, half)
  end do
  call MPI_Finalize(ierr)
end program main
