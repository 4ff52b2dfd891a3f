/* Graph topologies and the collectives of neighbours, on 3 ranks: each of them on every topology. */
#include <mpi.h>

static void talk(MPI_Comm comm)
{
  int out[8] = {0}, in[64] = {0}, counts[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  int places[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm);
  MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, period = 0, three = 3;
  double buffer[4], back[4];
  MPI_Comm line, graph, ring;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  MPI_Cart_create(MPI_COMM_WORLD, 1, &three, &period, 0, &line);
  MPI_Neighbor_alltoall(buffer, 2, MPI_DOUBLE, back, 2, MPI_DOUBLE, line);

  /* 0 - 1; rank 2 is not in it. */
  int index[2] = {1, 2}, edges[2] = {1, 0};
  MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &graph);
  if (graph != MPI_COMM_NULL)
    talk(graph);

  /* From each rank to the next. */
  int before = (rank + 2) % 3, next = (rank + 1) % 3;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  talk(ring);
  MPI_Comm_free(&ring);
  int one = 1;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                        &ring);
  MPI_Neighbor_allgatherv(buffer, 1, MPI_INT, back, &one, &period, MPI_INT, ring);
  MPI_Finalize();
  return 0;
}
