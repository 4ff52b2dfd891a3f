! The communicators of a grid of ranks.
module parts
  use mpi
  implicit none
  integer :: grid, row, half
contains
  subroutine divide()
    integer :: ranks, rank, dims(2), ierr
    logical :: periods(2)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims, ierr)
    periods = .true.
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierr)
    call MPI_Cart_sub(grid, (/ .false., .true. /), row, ierr)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
  end subroutine divide
end module parts
