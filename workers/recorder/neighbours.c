/* Graph topologies and the collectives of neighbours under a real MPI, which knows the neighbours. */
#include "recorder.h"

#include <stdlib.h>

/* All come to the making of a graph; who is in it, and as which rank, is what a split says. */
static void made(MPI_Comm comm, MPI_Comm newcomm)
{
  int rank = 0;
  if (newcomm != MPI_COMM_NULL)
    PMPI_Comm_rank(newcomm, &rank);
  record_comm_split(comm, newcomm == MPI_COMM_NULL ? MPI_UNDEFINED : 0, rank, newcomm);
}

void record_graph_create(MPI_Comm comm, int nnodes, const int *indexes, const int *edges,
                         int reorder, MPI_Comm newcomm)
{
  (void)nnodes;
  (void)indexes;
  (void)edges;
  (void)reorder;
  made(comm, newcomm);
}

void record_dist_graph_create(MPI_Comm comm, int n, const int *sources, const int *degrees,
                              const int *destinations, const int *weights, MPI_Info info,
                              int reorder, MPI_Comm newcomm)
{
  (void)n;
  (void)sources;
  (void)degrees;
  (void)destinations;
  (void)weights;
  (void)info;
  (void)reorder;
  made(comm, newcomm);
}

void record_dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int *sources,
                                       const int *sourceweights, int outdegree,
                                       const int *destinations, const int *destweights,
                                       MPI_Info info, int reorder, MPI_Comm newcomm)
{
  (void)indegree;
  (void)sources;
  (void)sourceweights;
  (void)outdegree;
  (void)destinations;
  (void)destweights;
  (void)info;
  (void)reorder;
  made(comm, newcomm);
}

static int *ranks(int count)
{
  int *list = malloc(((size_t)count + 1) * sizeof *list);
  if (list == NULL)
    hamtune_refuse("out of memory while recording");
  return list;
}

static struct neighbours neighbours_of(MPI_Comm comm)
{
  struct neighbours found = {0};
  int kind = MPI_UNDEFINED, rank = 0, weighted = 0;
  PMPI_Topo_test(comm, &kind);
  if (kind == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &found.in, &found.out, &weighted);
    found.sources = ranks(found.in);
    found.targets = ranks(found.out);
    int *weights = ranks(found.in + found.out);
    PMPI_Dist_graph_neighbors(comm, found.in, found.sources, weights, found.out, found.targets,
                              weights + found.in);
    free(weights);
    return found;
  }
  if (kind == MPI_GRAPH) {
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &found.in);
    found.sources = ranks(found.in);
    PMPI_Graph_neighbors(comm, rank, found.in, found.sources);
  } else {
    int dims = 0;
    PMPI_Cartdim_get(comm, &dims);
    found.grid = true;
    found.in = 2 * dims;
    found.sources = ranks(found.in);
    for (int dim = 0; dim < dims; dim++)
      PMPI_Cart_shift(comm, dim, 1, &found.sources[2 * dim], &found.sources[2 * dim + 1]);
  }
  found.out = found.in;
  found.targets = ranks(found.out);
  for (int i = 0; i < found.out; i++)
    found.targets[i] = found.sources[i];
  return found;
}

/* Whether, of a round axis on which the neighbours down and up are one rank, what that one sends down comes
 * from above, as the standard says, or messages fill the blocks in their order: Open MPI 4.1 does the former
 * in blocking calls only, MPICH 4.0 where all blocks have one length only. So the library is asked, on an
 * axis of the calling rank alone. */
static bool crosses(bool blocking)
{
  static int known[2] = {-1, -1};
  int *answer = &known[blocking];
  if (*answer >= 0)
    return *answer;
  const int one = 1, counts[2] = {1, 1}, places[2] = {0, 1}, sent[2] = {1, 2};
  int received[2] = {0, 0};
  MPI_Comm axis;
  MPI_Request request;
  PMPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &axis);
  if (blocking) {
    PMPI_Neighbor_alltoallv(sent, counts, places, MPI_INT, received, counts, places, MPI_INT, axis);
  } else {
    PMPI_Ineighbor_alltoallv(sent, counts, places, MPI_INT, received, counts, places, MPI_INT, axis,
                             &request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  PMPI_Comm_free(&axis);
  *answer = received[0] == sent[1];
  return *answer;
}

/* How long the message of each source is, in the order in which they are sent. */
static int *lengths_of(const struct neighbours *with, const int *recvcounts, bool blocking)
{
  int *lengths = ranks(with->in);
  for (int i = 0; i < with->in; i++) {
    const int block = hamtune_block(with, i);
    const bool other = recvcounts[block] != recvcounts[i] && crosses(blocking);
    lengths[i] = recvcounts[other ? block : i];
  }
  return lengths;
}

static void exchange(const int *sendcounts, int sendcount, MPI_Datatype sendtype,
                     const int *recvcounts, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     const MPI_Request *request)
{
  struct neighbours with = neighbours_of(comm);
  int *lengths = recvcounts == NULL ? NULL : lengths_of(&with, recvcounts, request == NULL);
  hamtune_put_exchange(&with, (struct block_lengths){sendcounts, sendcount, sendtype},
                       (struct block_lengths){lengths, recvcount, recvtype}, comm, request);
  free(lengths);
  free(with.sources);
  free(with.targets);
}

void record_neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                               const void *recvbuf, int recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm, const MPI_Request *request)
{
  (void)sendbuf;
  (void)recvbuf;
  exchange(NULL, sendcount, sendtype, NULL, recvcount, recvtype, comm, request);
}

void record_neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                const void *recvbuf, const int *recvcounts, const int *displs,
                                MPI_Datatype recvtype, MPI_Comm comm, const MPI_Request *request)
{
  (void)sendbuf;
  (void)recvbuf;
  (void)displs;
  exchange(NULL, sendcount, sendtype, recvcounts, 0, recvtype, comm, request);
}

void record_neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                              const void *recvbuf, int recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm, const MPI_Request *request)
{
  record_neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                            request);
}

void record_neighbor_alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls,
                               MPI_Datatype sendtype, const void *recvbuf, const int *recvcounts,
                               const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                               const MPI_Request *request)
{
  (void)sendbuf;
  (void)sdispls;
  (void)recvbuf;
  (void)rdispls;
  exchange(sendcounts, 0, sendtype, recvcounts, 0, recvtype, comm, request);
}
