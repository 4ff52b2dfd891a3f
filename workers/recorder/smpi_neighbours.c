/* What SMPI lacks and what it has can stand for: copies of communicators that complete later, graph
 * topologies, and the collectives of neighbours. A capture has their messages as a recording under a real
 * MPI does (neighbours.c): those of the blocking ones go through the recorder's own entries. The entries
 * for Fortran are made from smpi_calls.txt. */
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

/* A topology, from the calling rank. Weights are those that were given, or 1. */
struct graph {
  int kind, weighted;
  int in, out;
  int *sources, *source_weights, *targets, *target_weights;
  int nodes, *index, *edges; /* of MPI_GRAPH */
};

/* As the standard has it where it cannot be later: see record_comm_idup of a real MPI. */
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
  *request = MPI_REQUEST_NULL;
  return MPI_Comm_dup(comm, newcomm);
}

static void *allocate(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  if (memory == NULL)
    hamtune_refuse("out of memory while recording");
  return memory;
}

static int *copy_of(const int *list, int count)
{
  int *copy = allocate((size_t)count, sizeof *copy);
  for (int i = 0; i < count; i++)
    copy[i] = list == NULL ? 1 : list[i];
  return copy;
}

/* Kept with the communicator and its duplicates, for as long as the run lasts. */
static int keyval(void)
{
  static int made = MPI_KEYVAL_INVALID;
  if (made == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &made, NULL);
  return made;
}

static const struct graph *graph_of(MPI_Comm comm)
{
  void *found = NULL;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, keyval(), &found, &is_there);
  return is_there ? found : NULL;
}

/* All ranks of `comm` come; those without a graph get no communicator. */
static int make(MPI_Comm comm, struct graph *graph, MPI_Comm *newcomm)
{
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  const int result = graph == NULL ? MPI_Comm_split(comm, MPI_UNDEFINED, 0, newcomm)
                                   : MPI_Comm_split(comm, 0, rank, newcomm);
  if (result == MPI_SUCCESS && graph != NULL)
    PMPI_Comm_set_attr(*newcomm, keyval(), graph);
  return result;
}

int MPI_Graph_create(MPI_Comm comm, int nnodes, const int *index, const int *edges, int reorder,
                     MPI_Comm *newcomm)
{
  (void)reorder;
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (rank >= nnodes)
    return make(comm, NULL, newcomm);
  struct graph *graph = allocate(1, sizeof *graph);
  const int first = rank == 0 ? 0 : index[rank - 1];
  graph->kind = MPI_GRAPH;
  graph->in = graph->out = index[rank] - first;
  graph->sources = copy_of(edges + first, graph->in);
  graph->targets = graph->sources;
  graph->nodes = nnodes;
  graph->index = copy_of(index, nnodes);
  graph->edges = copy_of(edges, index[nnodes - 1]);
  return make(comm, graph, newcomm);
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int *sources,
                                   const int *sourceweights, int outdegree,
                                   const int *destinations, const int *destweights, MPI_Info info,
                                   int reorder, MPI_Comm *newcomm)
{
  (void)info;
  (void)reorder;
  struct graph *graph = allocate(1, sizeof *graph);
  graph->kind = MPI_DIST_GRAPH;
  graph->weighted = sourceweights != MPI_UNWEIGHTED;
  graph->in = indegree;
  graph->out = outdegree;
  graph->sources = copy_of(sources, indegree);
  graph->targets = copy_of(destinations, outdegree);
  graph->source_weights = copy_of(graph->weighted ? sourceweights : NULL, indegree);
  graph->target_weights = copy_of(graph->weighted ? destweights : NULL, outdegree);
  return make(comm, graph, newcomm);
}

/* Source, target and weight of every edge that any rank gave, in the order of the ranks. */
static int *all_edges(MPI_Comm comm, const int *mine, int count, int *all)
{
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  int *counts = allocate((size_t)ranks, sizeof *counts), *begins = allocate((size_t)ranks, sizeof *begins);
  const int numbers = 3 * count;
  PMPI_Allgather(&numbers, 1, MPI_INT, counts, 1, MPI_INT, comm);
  for (int rank = 0; rank < ranks; rank++)
    begins[rank + 1] = begins[rank] + counts[rank];
  int *edges = allocate((size_t)begins[ranks], sizeof *edges);
  PMPI_Allgatherv(mine, numbers, MPI_INT, edges, counts, begins, MPI_INT, comm);
  *all = begins[ranks] / 3;
  free(counts);
  free(begins);
  return edges;
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int *sources, const int *degrees,
                          const int *destinations, const int *weights, MPI_Info info, int reorder,
                          MPI_Comm *newcomm)
{
  (void)info;
  (void)reorder;
  int rank = 0, own = 0, all = 0, at = 0;
  for (int i = 0; i < n; i++)
    own += degrees[i];
  int *mine = allocate((size_t)own, 3 * sizeof *mine);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < degrees[i]; j++, at++) {
      mine[3 * at] = sources[i];
      mine[3 * at + 1] = destinations[at];
      mine[3 * at + 2] = weights == MPI_UNWEIGHTED ? 1 : weights[at];
    }
  hamtune_enter("MPI_Dist_graph_create");
  PMPI_Comm_rank(comm, &rank);
  int *edges = all_edges(comm, mine, own, &all);
  hamtune_leave();
  struct graph *graph = allocate(1, sizeof *graph);
  graph->kind = MPI_DIST_GRAPH;
  graph->weighted = weights != MPI_UNWEIGHTED;
  graph->sources = allocate((size_t)all, sizeof *edges);
  graph->source_weights = allocate((size_t)all, sizeof *edges);
  graph->targets = allocate((size_t)all, sizeof *edges);
  graph->target_weights = allocate((size_t)all, sizeof *edges);
  for (const int *edge = edges; edge < edges + 3 * all; edge += 3) {
    if (edge[1] == rank) {
      graph->sources[graph->in] = edge[0];
      graph->source_weights[graph->in++] = edge[2];
    }
    if (edge[0] == rank) {
      graph->targets[graph->out] = edge[1];
      graph->target_weights[graph->out++] = edge[2];
    }
  }
  free(mine);
  free(edges);
  return make(comm, graph, newcomm);
}

int MPI_Topo_test(MPI_Comm comm, int *status)
{
  const struct graph *graph = graph_of(comm);
  int dims = 0;
  if (graph != NULL)
    *status = graph->kind;
  else
    *status = PMPI_Cartdim_get(comm, &dims) == MPI_SUCCESS ? MPI_CART : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

static void copy_list(int *into, int room, const int *list, int count)
{
  memcpy(into, list, (size_t)(room < count ? room : count) * sizeof *into);
}

/* Fortran counts the kinds from another number. */
void mpi_topo_test_(MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierr);

void mpi_topo_test_(MPI_Fint *comm, MPI_Fint *status, MPI_Fint *ierr)
{
  int kind = MPI_UNDEFINED;
  *ierr = MPI_Topo_test(PMPI_Comm_f2c(*comm), &kind);
  *status = kind == MPI_UNDEFINED ? kind : kind - MPI_GRAPH;
}

int MPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
  const struct graph *graph = graph_of(comm);
  if (graph == NULL || graph->kind != MPI_GRAPH)
    return MPI_ERR_TOPOLOGY;
  *nnodes = graph->nodes;
  *nedges = graph->index[graph->nodes - 1];
  return MPI_SUCCESS;
}

int MPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int *index, int *edges)
{
  const struct graph *graph = graph_of(comm);
  if (graph == NULL || graph->kind != MPI_GRAPH)
    return MPI_ERR_TOPOLOGY;
  copy_list(index, maxindex, graph->index, graph->nodes);
  copy_list(edges, maxedges, graph->edges, graph->index[graph->nodes - 1]);
  return MPI_SUCCESS;
}

int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
  const struct graph *graph = graph_of(comm);
  if (graph == NULL || graph->kind != MPI_GRAPH)
    return MPI_ERR_TOPOLOGY;
  *nneighbors = graph->index[rank] - (rank == 0 ? 0 : graph->index[rank - 1]);
  return MPI_SUCCESS;
}

int MPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int *neighbors)
{
  int count = 0;
  const int result = MPI_Graph_neighbors_count(comm, rank, &count);
  if (result == MPI_SUCCESS) {
    const struct graph *graph = graph_of(comm);
    copy_list(neighbors, maxneighbors, graph->edges + graph->index[rank] - count, count);
  }
  return result;
}

int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
  const struct graph *graph = graph_of(comm);
  if (graph == NULL || graph->kind != MPI_DIST_GRAPH)
    return MPI_ERR_TOPOLOGY;
  *indegree = graph->in;
  *outdegree = graph->out;
  *weighted = graph->weighted;
  return MPI_SUCCESS;
}

int MPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int *sources, int *sourceweights,
                             int maxoutdegree, int *destinations, int *destweights)
{
  const struct graph *graph = graph_of(comm);
  if (graph == NULL || graph->kind != MPI_DIST_GRAPH)
    return MPI_ERR_TOPOLOGY;
  copy_list(sources, maxindegree, graph->sources, graph->in);
  copy_list(destinations, maxoutdegree, graph->targets, graph->out);
  if (graph->weighted && sourceweights != MPI_UNWEIGHTED)
    copy_list(sourceweights, maxindegree, graph->source_weights, graph->in);
  if (graph->weighted && destweights != MPI_UNWEIGHTED)
    copy_list(destweights, maxoutdegree, graph->target_weights, graph->out);
  return MPI_SUCCESS;
}

/* The neighbours of a grid are those of a graph: down and up along each axis. */
static void as_graph(MPI_Comm comm, struct graph *graph)
{
  const struct graph *found = graph_of(comm);
  int dims = 0;
  if (found != NULL) {
    *graph = *found;
    return;
  }
  if (PMPI_Cartdim_get(comm, &dims) != MPI_SUCCESS)
    hamtune_refuse("a collective of neighbours failed (its communicator has no topology); only runs "
                   "without MPI errors can be recorded");
  *graph = (struct graph){.kind = MPI_CART, .in = 2 * dims, .out = 2 * dims};
  graph->sources = graph->targets = allocate((size_t)(2 * dims), sizeof *graph->sources);
  for (int dim = 0; dim < dims; dim++)
    PMPI_Cart_shift(comm, dim, 1, &graph->sources[2 * dim], &graph->sources[2 * dim + 1]);
}

static struct neighbours ends_of(const struct graph *graph)
{
  return (struct neighbours){graph->in, graph->out, graph->sources, graph->targets,
                             graph->kind == MPI_CART};
}

/* The blocks of one kind: where they begin, in elements, and how long they are. */
struct blocks {
  char *buffer;
  const int *counts, *places; /* null: all of one length, one after the other */
  int count;
  MPI_Datatype type;
  int shared; /* one for all neighbours */
};

static char *begin(const struct blocks *blocks, int at)
{
  MPI_Aint low = 0, extent = 0;
  PMPI_Type_get_extent(blocks->type, &low, &extent);
  const MPI_Aint element = blocks->places != NULL ? blocks->places[at] : (MPI_Aint)at * blocks->count;
  return blocks->shared ? blocks->buffer : blocks->buffer + element * extent;
}

static int length(const struct blocks *blocks, int at)
{
  return blocks->counts != NULL ? blocks->counts[at] : blocks->count;
}

static int exchange(const struct blocks *from, const struct blocks *into, MPI_Comm comm)
{
  struct graph graph;
  int result = MPI_SUCCESS, open = 0;
  as_graph(comm, &graph);
  const struct neighbours with = ends_of(&graph);
  MPI_Request *requests = allocate((size_t)(graph.in + graph.out), sizeof *requests);
  for (int i = 0; i < graph.in && result == MPI_SUCCESS; i++)
    if (graph.sources[i] != MPI_PROC_NULL)
      result = MPI_Irecv(begin(into, hamtune_block(&with, i)), length(into, hamtune_block(&with, i)),
                         into->type, graph.sources[i], NEIGHBOUR_TAG, comm, &requests[open++]);
  for (int i = 0; i < graph.out && result == MPI_SUCCESS; i++)
    if (graph.targets[i] != MPI_PROC_NULL)
      result = MPI_Isend(begin(from, i), length(from, i), from->type, graph.targets[i],
                         NEIGHBOUR_TAG, comm, &requests[open++]);
  if (open > 0 && result == MPI_SUCCESS)
    result = MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
  if (graph.kind == MPI_CART)
    free(graph.sources);
  free(requests);
  return result;
}

/* All blocks of one neighbour as one element, where there are some; false if it is none. */
static bool gather(const struct blocks *blocks, const int *neighbours, const int *places, int count,
                   int neighbour, MPI_Datatype *type)
{
  int *lengths = allocate((size_t)count, sizeof *lengths), found = 0;
  MPI_Aint *begins = allocate((size_t)count, sizeof *begins);
  for (int i = 0; i < count; i++)
    if (neighbours[i] == neighbour) {
      lengths[found] = length(blocks, places[i]);
      begins[found++] = begin(blocks, places[i]) - blocks->buffer;
    }
  if (found > 0) {
    PMPI_Type_create_hindexed(found, lengths, begins, blocks->type, type);
    PMPI_Type_commit(type);
  }
  free(lengths);
  free(begins);
  return found > 0;
}

/* What goes to each rank, or comes from it, as SMPI's alltoallw wants it. */
struct sides {
  int *counts, *begins;
  MPI_Datatype *types;
};

static struct sides to_all(const struct blocks *blocks, const int *neighbours, const int *places,
                           int count, MPI_Comm comm)
{
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  const struct sides sides = {allocate((size_t)ranks, sizeof *sides.counts),
                              allocate((size_t)ranks, sizeof *sides.begins),
                              allocate((size_t)ranks, sizeof(MPI_Datatype))};
  for (int rank = 0; rank < ranks; rank++) {
    sides.types[rank] = MPI_BYTE;
    sides.counts[rank] = gather(blocks, neighbours, places, count, rank, &sides.types[rank]);
  }
  return sides;
}

static void forget(const struct sides *sides, MPI_Comm comm)
{
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  for (int rank = 0; rank < ranks; rank++)
    if (sides->counts[rank] > 0)
      PMPI_Type_free(&sides->types[rank]);
  free(sides->counts);
  free(sides->begins);
  free(sides->types);
}

/* The non-blocking form, whose one request is that of an alltoallw which has nothing for those who are
 * no neighbours. */
static int start(const char *name, const struct blocks *from, const struct blocks *into,
                 MPI_Comm comm, MPI_Request *request)
{
  struct graph graph;
  hamtune_enter(name);
  as_graph(comm, &graph);
  const struct neighbours with = ends_of(&graph);
  int *places = allocate((size_t)(graph.in + graph.out), sizeof *places), *own = places + graph.in;
  int *lengths = allocate((size_t)graph.in, sizeof *lengths);
  for (int i = 0; i < graph.in; i++) {
    places[i] = hamtune_block(&with, i);
    lengths[i] = length(into, places[i]);
  }
  for (int i = 0; i < graph.out; i++)
    own[i] = i;
  const struct sides out = to_all(from, graph.targets, own, graph.out, comm);
  const struct sides in = to_all(into, graph.sources, places, graph.in, comm);
  const int result =
      PMPI_Ialltoallw(from->buffer, out.counts, out.begins, out.types, into->buffer, in.counts,
                      in.begins, in.types, comm, request);
  if (hamtune_recording(name, result))
    hamtune_put_exchange(&with, (struct block_lengths){from->counts, from->count, from->type},
                         (struct block_lengths){lengths, 0, into->type}, comm, request);
  forget(&out, comm);
  forget(&in, comm);
  free(places);
  free(lengths);
  if (graph.kind == MPI_CART)
    free(graph.sources);
  hamtune_leave();
  return result;
}

/* Where the blocks of each collective stand. */

static struct blocks one(const void *buffer, int count, MPI_Datatype type)
{
  return (struct blocks){(char *)(intptr_t)buffer, NULL, NULL, count, type, 1};
}

static struct blocks alike(const void *buffer, int count, MPI_Datatype type)
{
  return (struct blocks){(char *)(intptr_t)buffer, NULL, NULL, count, type, 0};
}

static struct blocks listed(const void *buffer, const int *counts, const int *places,
                            MPI_Datatype type)
{
  return (struct blocks){(char *)(intptr_t)buffer, counts, places, 0, type, 0};
}

int MPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
  const struct blocks from = one(sendbuf, sendcount, sendtype);
  const struct blocks into = alike(recvbuf, recvcount, recvtype);
  return exchange(&from, &into, comm);
}

int MPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, const int *recvcounts, const int *displs,
                            MPI_Datatype recvtype, MPI_Comm comm)
{
  const struct blocks from = one(sendbuf, sendcount, sendtype);
  const struct blocks into = listed(recvbuf, recvcounts, displs, recvtype);
  return exchange(&from, &into, comm);
}

int MPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
  const struct blocks from = alike(sendbuf, sendcount, sendtype);
  const struct blocks into = alike(recvbuf, recvcount, recvtype);
  return exchange(&from, &into, comm);
}

int MPI_Neighbor_alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls,
                           MPI_Datatype sendtype, void *recvbuf, const int *recvcounts,
                           const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm)
{
  const struct blocks from = listed(sendbuf, sendcounts, sdispls, sendtype);
  const struct blocks into = listed(recvbuf, recvcounts, rdispls, recvtype);
  return exchange(&from, &into, comm);
}

int MPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request *request)
{
  const struct blocks from = one(sendbuf, sendcount, sendtype);
  const struct blocks into = alike(recvbuf, recvcount, recvtype);
  return start("MPI_Ineighbor_allgather", &from, &into, comm, request);
}

int MPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, const int *recvcounts, const int *displs,
                             MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
  const struct blocks from = one(sendbuf, sendcount, sendtype);
  const struct blocks into = listed(recvbuf, recvcounts, displs, recvtype);
  return start("MPI_Ineighbor_allgatherv", &from, &into, comm, request);
}

int MPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                           MPI_Request *request)
{
  const struct blocks from = alike(sendbuf, sendcount, sendtype);
  const struct blocks into = alike(recvbuf, recvcount, recvtype);
  return start("MPI_Ineighbor_alltoall", &from, &into, comm, request);
}

int MPI_Ineighbor_alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls,
                            MPI_Datatype sendtype, void *recvbuf, const int *recvcounts,
                            const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request *request)
{
  const struct blocks from = listed(sendbuf, sendcounts, sdispls, sendtype);
  const struct blocks into = listed(recvbuf, recvcounts, rdispls, recvtype);
  return start("MPI_Ineighbor_alltoallv", &from, &into, comm, request);
}
