/* As unsupported.c: what SMPI does not have. Under a real MPI these are recorded (real_calls.txt); of some
 * C programs have a stand-in (smpi_neighbours.c). */
#include "unsupported.h"

/* It has MPI_Cancel, but who waits for a cancelled receive ends the whole run. */
UNSUPPORTED(MPI_Cancel, mpi_cancel_)
UNSUPPORTED(MPI_Ineighbor_allgather, mpi_ineighbor_allgather_)
UNSUPPORTED(MPI_Ineighbor_allgatherv, mpi_ineighbor_allgatherv_)
UNSUPPORTED(MPI_Ineighbor_alltoall, mpi_ineighbor_alltoall_)
UNSUPPORTED(MPI_Ineighbor_alltoallv, mpi_ineighbor_alltoallv_)

UNSUPPORTED_FORTRAN(MPI_Comm_idup, mpi_comm_idup_)
UNSUPPORTED_FORTRAN(MPI_Graph_create, mpi_graph_create_)
UNSUPPORTED_FORTRAN(MPI_Dist_graph_create, mpi_dist_graph_create_)
UNSUPPORTED_FORTRAN(MPI_Dist_graph_create_adjacent, mpi_dist_graph_create_adjacent_)
UNSUPPORTED_FORTRAN(MPI_Neighbor_allgather, mpi_neighbor_allgather_)
UNSUPPORTED_FORTRAN(MPI_Neighbor_allgatherv, mpi_neighbor_allgatherv_)
UNSUPPORTED_FORTRAN(MPI_Neighbor_alltoall, mpi_neighbor_alltoall_)
UNSUPPORTED_FORTRAN(MPI_Neighbor_alltoallv, mpi_neighbor_alltoallv_)
UNSUPPORTED_FORTRAN(MPI_Topo_test, mpi_topo_test_)
UNSUPPORTED_FORTRAN(MPI_Graphdims_get, mpi_graphdims_get_)
UNSUPPORTED_FORTRAN(MPI_Graph_get, mpi_graph_get_)
UNSUPPORTED_FORTRAN(MPI_Graph_neighbors, mpi_graph_neighbors_)
UNSUPPORTED_FORTRAN(MPI_Graph_neighbors_count, mpi_graph_neighbors_count_)
UNSUPPORTED_FORTRAN(MPI_Dist_graph_neighbors, mpi_dist_graph_neighbors_)
UNSUPPORTED_FORTRAN(MPI_Dist_graph_neighbors_count, mpi_dist_graph_neighbors_count_)
