#include "exchange.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/application.h"

enum { NUMBERS = 2 }; /* of an item */

static void make_room(Items *items, size_t wanted)
{
  if (wanted <= items->room)
    return;
  size_t room = items->room < 16 ? 16 : items->room;
  while (room < wanted)
    room *= 2;
  Item *larger = realloc(items->items, room * sizeof(Item));
  if (larger == NULL) {
    fprintf(stderr, "graph500: there is no memory for %zu items\n", room);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  items->items = larger;
  items->room = room;
}

void items_add(Items *items, uint32_t vertex, uint32_t value)
{
  make_room(items, items->count + 1);
  items->items[items->count++] = (Item){vertex, value};
}

/* Puts the items in the order of the ranks that they go to; counts them in numbers. */
static Item *sort_by_owner(int ranks, const Items *items, int *counts, int *offsets)
{
  Item *sorted = app_allocate(items->count + 1, sizeof(Item));
  for (int rank = 0; rank < ranks; rank++)
    counts[rank] = 0;
  for (size_t i = 0; i < items->count; i++)
    counts[items->items[i].vertex % (unsigned)ranks] += NUMBERS;
  offsets[0] = 0;
  for (int rank = 1; rank < ranks; rank++)
    offsets[rank] = offsets[rank - 1] + counts[rank - 1];
  int *next = app_allocate((size_t)ranks, sizeof(int));
  for (int rank = 0; rank < ranks; rank++)
    next[rank] = offsets[rank] / NUMBERS;
  for (size_t i = 0; i < items->count; i++)
    sorted[next[items->items[i].vertex % (unsigned)ranks]++] = items->items[i];
  free(next);
  return sorted;
}

void items_exchange(int ranks, Items *outgoing, Items *incoming)
{
  int *sizes = app_allocate(4 * (size_t)ranks, sizeof(int));
  int *sent = sizes, *sent_at = sizes + ranks, *received = sizes + 2 * ranks;
  int *received_at = sizes + 3 * ranks;
  Item *sorted = sort_by_owner(ranks, outgoing, sent, sent_at);
  MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
  received_at[0] = 0;
  for (int rank = 1; rank < ranks; rank++)
    received_at[rank] = received_at[rank - 1] + received[rank - 1];
  incoming->count = (size_t)(received_at[ranks - 1] + received[ranks - 1]) / NUMBERS;
  make_room(incoming, incoming->count + 1);
  MPI_Alltoallv(sorted, sent, sent_at, MPI_UINT32_T, incoming->items, received, received_at,
                MPI_UINT32_T, MPI_COMM_WORLD);
  outgoing->count = 0;
  free(sorted);
  free(sizes);
}

void items_free(Items *items)
{
  free(items->items);
  *items = (Items){0};
}
