! On 3 ranks: topologies and collectives of neighbours from Fortran. Ends with 1 where something is wrong.
program neighbours
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, ring, star, kind, request, nodes, links, n, list(2), left, right
  integer :: out(2), in(2), index(3), edges(4), counts(2), places(2)
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  left = mod(rank + 2, 3)
  right = mod(rank + 1, 3)
  call MPI_CART_CREATE(MPI_COMM_WORLD, 1, 3, .true., .false., ring, ierr)
  call MPI_TOPO_TEST(ring, kind, ierr)
  call check(kind == MPI_CART)
  out = (/ 10 * rank, 10 * rank + 1 /)
  call MPI_NEIGHBOR_ALLTOALL(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, ring, ierr)
  call check(in(1) == 10 * left + 1 .and. in(2) == 10 * right)
  call MPI_INEIGHBOR_ALLGATHER(rank, 1, MPI_INTEGER, in, 1, MPI_INTEGER, ring, request, ierr)
  call MPI_WAIT(request, MPI_STATUS_IGNORE, ierr)
  call check(in(1) == left .and. in(2) == right)
  index = (/ 2, 3, 4 /)
  edges = (/ 1, 2, 0, 0 /)
  call MPI_GRAPH_CREATE(MPI_COMM_WORLD, 3, index, edges, .false., star, ierr)
  call MPI_GRAPHDIMS_GET(star, nodes, links, ierr)
  call MPI_GRAPH_NEIGHBORS_COUNT(star, rank, n, ierr)
  call MPI_GRAPH_NEIGHBORS(star, rank, 2, list, ierr)
  call check(nodes == 3 .and. links == 4 .and. n == merge(2, 1, rank == 0))
  call check(list(1) == merge(1, 0, rank == 0))
  counts = 1
  places = (/ 1, 0 /)
  call MPI_NEIGHBOR_ALLGATHERV(rank, 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, star, ierr)
  call check(in(2) == list(1))
  call MPI_COMM_FREE(star, ierr)
  call MPI_FINALIZE(ierr)
contains
  subroutine check(holds)
    logical, intent(in) :: holds
    if (.not. holds) call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
  end subroutine check
end program neighbours
