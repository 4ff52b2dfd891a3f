/* Communicators by the number they have in the trace, open requests by their handle. Libraries may
 * give one handle to several requests that are complete from the start, so a handle may be in the
 * table more than once. */
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

static void *allocate(void *memory, size_t size)
{
  memory = realloc(memory, size);
  if (memory == NULL)
    hamtune_refuse("out of memory while recording");
  return memory;
}

/* Communicators: few, so a list. */

static struct communicator {
  MPI_Comm handle;
  uint64_t number;
} *communicators;
static size_t communicator_count, communicator_capacity;
static uint64_t next_communicator = 2;

uint64_t hamtune_communicator(MPI_Comm comm)
{
  if (comm == MPI_COMM_WORLD)
    return 0;
  for (size_t i = communicator_count; i-- > 0;)
    if (communicators[i].handle == comm)
      return communicators[i].number;
  if (comm == MPI_COMM_SELF)
    return 1;
  hamtune_refuse("a communicator is used that no recorded call made");
}

void hamtune_new_communicator(MPI_Comm comm)
{
  const uint64_t number = next_communicator++;
  if (comm == MPI_COMM_NULL)
    return;
  if (communicator_count == communicator_capacity) {
    communicator_capacity = 2 * communicator_capacity + 16;
    communicators = allocate(communicators, communicator_capacity * sizeof *communicators);
  }
  communicators[communicator_count++] = (struct communicator){comm, number};
}

void hamtune_forget_communicator(MPI_Comm comm)
{
  for (size_t i = 0; i < communicator_count; i++)
    if (communicators[i].handle == comm) {
      communicators[i] = communicators[--communicator_count];
      return;
    }
}

/* Messages that a matched probe found and that were not received: few, so a list. */

static struct probed_message *messages;
static size_t message_count, message_capacity;

void hamtune_new_message(struct probed_message message)
{
  if (message_count == message_capacity) {
    message_capacity = 2 * message_capacity + 16;
    messages = allocate(messages, message_capacity * sizeof *messages);
  }
  messages[message_count++] = message;
}

struct probed_message *hamtune_unclaimed_message(uint64_t comm)
{
  for (size_t i = 0; i < message_count; i++)
    if (messages[i].comm == comm && messages[i].slot < 0)
      return &messages[i];
  return NULL;
}

struct probed_message hamtune_take_message(MPI_Message handle)
{
  for (size_t i = message_count; i-- > 0;)
    if (messages[i].handle == handle) {
      const struct probed_message found = messages[i];
      messages[i] = messages[--message_count];
      return found;
    }
  return (struct probed_message){.handle = handle, .peer = MPI_PROC_NULL};
}

/* Slots: the lowest free number. */

static bool *taken;
static int64_t slot_capacity, lowest;

int64_t hamtune_take_slot(void)
{
  while (lowest < slot_capacity && taken[lowest])
    lowest++;
  if (lowest == slot_capacity) {
    const int64_t capacity = 2 * slot_capacity + 64;
    taken = allocate(taken, (size_t)capacity);
    memset(taken + slot_capacity, 0, (size_t)(capacity - slot_capacity));
    slot_capacity = capacity;
  }
  taken[lowest] = true;
  return lowest++;
}

void hamtune_free_slot(int64_t slot)
{
  taken[slot] = false;
  if (slot < lowest)
    lowest = slot;
}

/* Requests: a hash table with chains. */

struct link {
  struct open_request request; /* first, so that a request is its link */
  struct link *next;
};
static struct link **buckets;
static size_t bucket_count, request_count;

static struct link **bucket(MPI_Request handle)
{
  uint64_t bits = 0;
  memcpy(&bits, &handle, sizeof handle);
  return &buckets[((bits * 0x9E3779B97F4A7C15u) >> 32) & (bucket_count - 1)];
}

/* At the end of its chain: of several requests with one handle the oldest is found first. */
static void append(struct link *link)
{
  struct link **at = bucket(link->request.handle);
  while (*at != NULL)
    at = &(*at)->next;
  link->next = NULL;
  *at = link;
}

static void grow(void)
{
  struct link **old = buckets;
  const size_t old_count = bucket_count;
  bucket_count = old_count ? 2 * old_count : 256;
  buckets = allocate(NULL, bucket_count * sizeof *buckets);
  memset(buckets, 0, bucket_count * sizeof *buckets);
  for (size_t i = 0; i < old_count; i++)
    for (struct link *link = old[i], *next; link != NULL; link = next) {
      next = link->next;
      append(link);
    }
  free(old);
}

struct open_request *hamtune_new_request(MPI_Request handle)
{
  if (request_count++ >= bucket_count)
    grow();
  struct link *link = allocate(NULL, sizeof *link);
  memset(link, 0, sizeof *link);
  link->request.handle = handle;
  link->request.slot = -1;
  append(link);
  return &link->request;
}

struct open_request *hamtune_find_request(MPI_Request handle)
{
  if (handle == MPI_REQUEST_NULL || bucket_count == 0)
    return NULL;
  for (struct link *link = *bucket(handle); link != NULL; link = link->next)
    if (link->request.handle == handle)
      return &link->request;
  return NULL;
}

void hamtune_forget_request(struct open_request *request)
{
  for (struct link **at = bucket(request->handle); *at != NULL; at = &(*at)->next)
    if (&(*at)->request == request) {
      struct link *gone = *at;
      hamtune_drop_send(&gone->request);
      *at = gone->next;
      free(gone->request.others);
      free(gone);
      request_count--;
      return;
    }
}
