/* Graph500: breadth-first searches of a Kronecker graph, each result validated.
 *
 * The Graph500 benchmark specification, kernels 1 and 2 (graph500.org). Vertices are dealt out to the
 * ranks in turn; a search goes level by level, an all-to-all exchange a level. What is sent depends on
 * the graph, so a declared run searches too. See docs/applications/graph500.md. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/application.h"
#include "../common/numbers.h"
#include "../hamtune_app.h"
#include "exchange.h"
#include "kronecker.h"

enum { DEFAULT_SCALE = 12, MOST_SCALE = 24, DEFAULT_EDGES = 16, MOST_EDGES = 64 };
enum { DEFAULT_SEARCHES = 64, MOST_SEARCHES = 10000 };
static const uint32_t NOBODY = UINT32_MAX;
/* Operations an edge: to store it, to look at it in a search, to check it. */
static const double BUILD_FLOPS = 10.0, SEARCH_FLOPS = 4.0, CHECK_FLOPS = 6.0;

/* The rank's vertices are those with vertex % ranks == rank; vertex / ranks is their place here. */
typedef struct {
  int rank, ranks;
  int scale, edges_a_vertex;
  uint32_t owned;
  size_t *first; /* of each owned vertex's neighbours; owned + 1 */
  uint32_t *neighbors;
  uint32_t *parent, *level;
  Items outgoing, incoming, frontier;
} Graph;

static uint32_t vertices(const Graph *g)
{
  return UINT32_C(1) << g->scale;
}

static uint32_t vertex_at(const Graph *g, uint32_t place)
{
  return place * (uint32_t)g->ranks + (uint32_t)g->rank;
}

static uint32_t place_of(const Graph *g, uint32_t vertex)
{
  return vertex / (uint32_t)g->ranks;
}

/* ---- Kernel 1: the graph ---- */

/* This rank's share of the edges, each told to the owners of both ends; loops are dropped. */
static void make_edges(Graph *g)
{
  uint64_t edges = (uint64_t)vertices(g) * (uint64_t)g->edges_a_vertex;
  uint64_t from = edges * (uint64_t)g->rank / (uint64_t)g->ranks;
  uint64_t to = edges * (uint64_t)(g->rank + 1) / (uint64_t)g->ranks;
  for (uint64_t index = from; index < to; index++) {
    KroneckerEdge edge = kronecker_edge(g->scale, index);
    if (edge.from == edge.to)
      continue;
    items_add(&g->outgoing, edge.from, edge.to);
    items_add(&g->outgoing, edge.to, edge.from);
  }
}

static void store_edges(Graph *g)
{
  memset(g->first, 0, ((size_t)g->owned + 1) * sizeof *g->first);
  for (size_t i = 0; i < g->incoming.count; i++)
    g->first[place_of(g, g->incoming.items[i].vertex) + 1]++;
  for (uint32_t place = 0; place < g->owned; place++)
    g->first[place + 1] += g->first[place];
  size_t *next = app_allocate((size_t)g->owned + 1, sizeof *next);
  memcpy(next, g->first, ((size_t)g->owned + 1) * sizeof *next);
  g->neighbors = app_allocate(g->incoming.count + 1, sizeof *g->neighbors);
  for (size_t i = 0; i < g->incoming.count; i++)
    g->neighbors[next[place_of(g, g->incoming.items[i].vertex)]++] = g->incoming.items[i].value;
  free(next);
}

static void build(Graph *g)
{
  uint32_t rest = vertices(g) % (uint32_t)g->ranks;
  g->owned = vertices(g) / (uint32_t)g->ranks + ((uint32_t)g->rank < rest);
  g->first = app_allocate((size_t)g->owned + 1, sizeof *g->first);
  g->parent = app_allocate((size_t)g->owned + 1, sizeof *g->parent);
  g->level = app_allocate((size_t)g->owned + 1, sizeof *g->level);
  double share = (double)vertices(g) * g->edges_a_vertex / g->ranks;
  HAMTUNE_NEEDED(KRONECKER_FLOPS(g->scale) * share, make_edges(g));
  items_exchange(g->ranks, &g->outgoing, &g->incoming);
  HAMTUNE_NEEDED(BUILD_FLOPS * (double)g->incoming.count, store_edges(g));
}

static void free_graph(Graph *g)
{
  free(g->first);
  free(g->neighbors);
  free(g->parent);
  free(g->level);
  items_free(&g->outgoing);
  items_free(&g->incoming);
  items_free(&g->frontier);
}

/* ---- Kernel 2: the searches ---- */

/* Tells the owners of the frontier's neighbours who found them; returns the edges looked at. */
static double announce(Graph *g)
{
  double edges = 0.0;
  for (size_t i = 0; i < g->frontier.count; i++) {
    uint32_t vertex = g->frontier.items[i].vertex, place = place_of(g, vertex);
    for (size_t n = g->first[place]; n < g->first[place + 1]; n++)
      items_add(&g->outgoing, g->neighbors[n], vertex);
    edges += (double)(g->first[place + 1] - g->first[place]);
  }
  return edges;
}

/* The vertices found for the first time become the frontier. */
static void visit(Graph *g, uint32_t level)
{
  g->frontier.count = 0;
  for (size_t i = 0; i < g->incoming.count; i++) {
    uint32_t vertex = g->incoming.items[i].vertex, place = place_of(g, vertex);
    if (g->parent[place] != NOBODY)
      continue;
    g->parent[place] = g->incoming.items[i].value;
    g->level[place] = level;
    items_add(&g->frontier, vertex, level);
  }
}

/* Searches from `root`; returns the edges that this rank looked at. */
static double search(Graph *g, uint32_t root)
{
  for (uint32_t place = 0; place < g->owned; place++)
    g->parent[place] = NOBODY;
  g->frontier.count = 0;
  if (root % (uint32_t)g->ranks == (uint32_t)g->rank) {
    g->parent[place_of(g, root)] = root;
    g->level[place_of(g, root)] = 0;
    items_add(&g->frontier, root, 0);
  }
  double edges = 0.0;
  for (uint32_t level = 1;; level++) {
    int mine = g->frontier.count > 0, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!all)
      return edges;
    double seen = announce(g);
    hamtune_compute(SEARCH_FLOPS * seen);
    edges += seen;
    items_exchange(g->ranks, &g->outgoing, &g->incoming);
    HAMTUNE_NEEDED(SEARCH_FLOPS * (double)g->incoming.count, visit(g, level));
  }
}

/* ---- Validation: the tree is a breadth-first tree of the graph ---- */

static bool is_neighbor(const Graph *g, uint32_t place, uint32_t vertex)
{
  for (size_t n = g->first[place]; n < g->first[place + 1]; n++)
    if (g->neighbors[n] == vertex)
      return true;
  return false;
}

/* A found vertex tells its level to its neighbours and, with the mark of a child, to its parent. */
static int tell_levels(Graph *g, uint32_t root)
{
  int wrong = 0;
  for (uint32_t place = 0; place < g->owned; place++) {
    if (g->parent[place] == NOBODY)
      continue;
    uint32_t vertex = vertex_at(g, place);
    for (size_t n = g->first[place]; n < g->first[place + 1]; n++)
      items_add(&g->outgoing, g->neighbors[n], 2 * g->level[place]);
    if (vertex == root)
      wrong += g->level[place] != 0 || g->parent[place] != root;
    else
      wrong += !is_neighbor(g, place, g->parent[place]);
    if (vertex != root)
      items_add(&g->outgoing, g->parent[place], 2 * g->level[place] + 1);
  }
  return wrong;
}

/* Neighbours of a found vertex are found, at most one level away; a child is one level below. */
static int check_levels(const Graph *g)
{
  int wrong = 0;
  for (size_t i = 0; i < g->incoming.count; i++) {
    uint32_t place = place_of(g, g->incoming.items[i].vertex);
    uint32_t theirs = g->incoming.items[i].value / 2;
    bool child = g->incoming.items[i].value % 2 == 1;
    if (g->parent[place] == NOBODY || theirs > g->level[place] + 1 || theirs + 1 < g->level[place])
      wrong++;
    else if (child && theirs != g->level[place] + 1)
      wrong++;
  }
  return wrong;
}

/* How many violations this rank found. */
static int validate(Graph *g, uint32_t root)
{
  int wrong = 0;
  double edges = (double)g->first[g->owned];
  HAMTUNE_NEEDED(CHECK_FLOPS * edges, wrong = tell_levels(g, root));
  items_exchange(g->ranks, &g->outgoing, &g->incoming);
  HAMTUNE_NEEDED(CHECK_FLOPS * (double)g->incoming.count, wrong += check_levels(g));
  return wrong;
}

/* ---- The benchmark ---- */

/* The next vertex from `candidate` on that has an edge; every rank gets the same. */
static uint32_t find_root(const Graph *g, uint32_t candidate)
{
  for (uint32_t tried = 0; tried < vertices(g); tried++) {
    uint32_t vertex = (candidate + tried) & (vertices(g) - 1), place = place_of(g, vertex);
    int mine = 0, all = 0;
    if (vertex % (uint32_t)g->ranks == (uint32_t)g->rank)
      mine = g->first[place + 1] > g->first[place];
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (all)
      return vertex;
  }
  return 0;
}

static int run(Graph *g, int searches)
{
  build(g);
  MPI_Barrier(MPI_COMM_WORLD);
  double edges = 0.0, seconds = 0.0, all_edges, slowest;
  int wrong = 0, all_wrong;
  for (int i = 0; i < searches; i++) {
    app_iteration_begins();
    uint32_t root = find_root(g, kronecker_edge(g->scale, UINT64_MAX / 64 - (uint64_t)i).from);
    double start = MPI_Wtime();
    edges += search(g, root) / 2.0;
    seconds += MPI_Wtime() - start;
    wrong += validate(g, root);
  }
  app_iterations_end();
  MPI_Reduce(&edges, &all_edges, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (g->rank != 0)
    return APP_OK;
  char size[64];
  snprintf(size, sizeof size, "scale %d, %d edges a vertex, %d searches", g->scale,
           g->edges_a_vertex, searches);
  AppResult result = {"graph500", size, g->ranks, slowest, all_edges, all_wrong == 0};
  return app_report(&result);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  Graph g = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &g.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g.ranks);
  g.scale = (int)app_number(argc, argv, 1, 1, MOST_SCALE, DEFAULT_SCALE);
  g.edges_a_vertex = (int)app_number(argc, argv, 2, 1, MOST_EDGES, DEFAULT_EDGES);
  int searches = (int)app_number(argc, argv, 3, 1, MOST_SEARCHES, DEFAULT_SEARCHES);
  if (argc > 4 || g.scale < 0 || g.edges_a_vertex < 0 || searches < 0)
    return app_wrong_use("graph500",
                         "needs a scale from 1 to %d, edges a vertex from 1 to %d and searches from "
                         "1 to %d (usage: graph500 [SCALE [EDGES [SEARCHES]]], default %d %d %d)",
                         MOST_SCALE, MOST_EDGES, MOST_SEARCHES, DEFAULT_SCALE, DEFAULT_EDGES,
                         DEFAULT_SEARCHES);
  if ((uint32_t)g.ranks > vertices(&g))
    return app_wrong_use("graph500", "scale %d needs at most %u ranks, not %d", g.scale,
                         vertices(&g), g.ranks);
  int status = run(&g, searches);
  free_graph(&g);
  MPI_Finalize();
  return status;
}
