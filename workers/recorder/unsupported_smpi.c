/* As unsupported.c: what SMPI does not have. Under a real MPI these are recorded (real_calls.txt). */
#include "unsupported.h"

UNSUPPORTED(MPI_Graph_create, mpi_graph_create_)
UNSUPPORTED(MPI_Dist_graph_create, mpi_dist_graph_create_)
UNSUPPORTED(MPI_Dist_graph_create_adjacent, mpi_dist_graph_create_adjacent_)
UNSUPPORTED(MPI_Neighbor_allgather, mpi_neighbor_allgather_)
UNSUPPORTED(MPI_Neighbor_allgatherv, mpi_neighbor_allgatherv_)
UNSUPPORTED(MPI_Neighbor_alltoall, mpi_neighbor_alltoall_)
UNSUPPORTED(MPI_Neighbor_alltoallv, mpi_neighbor_alltoallv_)
