/* On 4 ranks: what arrives by the collectives of neighbours, what is told of graphs, and a copy of a
 * communicator that completes later. Ends with 1 where something is wrong. */
#include <mpi.h>
#include <stdlib.h>

static void check(int holds)
{
  if (!holds)
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Two ranks an axis, round: the neighbours down and up are one rank. */
static void on_a_torus(int rank)
{
  int sides[2] = {2, 2}, round[2] = {1, 1}, kind, out[4], in[4];
  int counts[4] = {1, 2, 1, 2}, back[4] = {2, 1, 2, 1}, places[4] = {0, 2, 4, 6}, many[8], got[8];
  MPI_Comm torus;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, round, 0, &torus);
  MPI_Topo_test(torus, &kind);
  check(kind == MPI_CART);
  for (int i = 0; i < 4; i++)
    out[i] = 10 * rank + i;
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, torus);
  for (int i = 0; i < 4; i++)
    check(in[i] == 10 * (rank ^ (i < 2 ? 2 : 1)) + (i ^ 1)); /* what it sent the other way */
  for (int i = 0; i < 8; i++)
    many[i] = 10 * rank + i;
  MPI_Neighbor_alltoallv(many, counts, places, MPI_INT, got, back, places, MPI_INT, torus);
  check(got[0] == 10 * (rank ^ 2) + 2 && got[1] == 10 * (rank ^ 2) + 3);
  int later[4], more[8];
  MPI_Request requests[2];
  MPI_Ineighbor_alltoall(out, 1, MPI_INT, later, 1, MPI_INT, torus, &requests[0]);
  MPI_Ineighbor_alltoallv(many, counts, places, MPI_INT, more, back, places, MPI_INT, torus,
                          &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 4; i++) {
    check(later[i] == in[i] && more[places[i]] == got[places[i]]);
    check(back[i] == 1 || more[places[i] + 1] == got[places[i] + 1]);
  }
  MPI_Comm_free(&torus);
}

static void on_a_graph(int rank)
{
  int index[3] = {2, 3, 4}, edges[4] = {1, 2, 0, 0}, nodes, links, count, list[2], in[2], kind;
  MPI_Comm star, copy;
  MPI_Graph_create(MPI_COMM_WORLD, 3, index, edges, 0, &star);
  check((star == MPI_COMM_NULL) == (rank == 3));
  if (star == MPI_COMM_NULL)
    return;
  MPI_Comm_dup(star, &copy);
  MPI_Graphdims_get(copy, &nodes, &links);
  MPI_Graph_neighbors_count(copy, 0, &count);
  MPI_Graph_neighbors(copy, 0, 2, list);
  MPI_Topo_test(copy, &kind);
  check(nodes == 3 && links == 4 && count == 2 && list[0] == 1 && list[1] == 2 && kind == MPI_GRAPH);
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, copy);
  check(rank > 0 ? in[0] == 0 : in[0] == 1 && in[1] == 2);
  int later[2] = {-1, -1}, done = 0;
  MPI_Request request;
  MPI_Ineighbor_allgather(&rank, 1, MPI_INT, later, 1, MPI_INT, copy, &request);
  while (!done)
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  check(later[0] == in[0] && (rank > 0 || later[1] == in[1]));
}

static void on_a_ring(int rank)
{
  const int before = (rank + 3) % 4, next = (rank + 1) % 4, one = 1, weight = 7, place = 0;
  int source, target, weights[2], in, out, weighted, got = -1;
  MPI_Comm ring;
  /* Each tells of the edge from the next rank to the one after it. */
  const int after = (rank + 2) % 4;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &next, &one, &after, &weight, MPI_INFO_NULL, 0, &ring);
  MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted);
  MPI_Dist_graph_neighbors(ring, 1, &source, &weights[0], 1, &target, &weights[1]);
  check(in == 1 && out == 1 && weighted && source == before && target == next);
  check(weights[0] == 7 && weights[1] == 7);
  MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, &got, &one, &place, MPI_INT, ring);
  check(got == before);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted);
  check(in == 1 && out == 1 && !weighted);
}

/* Rank 0 tells rank 1; the others have no neighbours. */
static void on_an_edge(int rank)
{
  const int zero = 0, one = 1;
  int got = -1;
  MPI_Request request;
  MPI_Comm edge;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 1, &zero, MPI_UNWEIGHTED, rank == 0, &one,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &edge);
  MPI_Ineighbor_allgatherv(&one, 1, MPI_INT, &got, &one, &zero, MPI_INT, edge, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(got == (rank == 1 ? 1 : -1));
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, size = 0, kind;
  MPI_Request request;
  MPI_Comm copy;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_size(copy, &size);
  MPI_Topo_test(copy, &kind);
  check(size == 4 && kind == MPI_UNDEFINED);
  on_a_torus(rank);
  on_a_graph(rank);
  on_a_ring(rank);
  on_an_edge(rank);
  MPI_Finalize();
  return 0;
}
