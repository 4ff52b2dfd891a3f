/* A collective of neighbours as its messages, which libraries send to each neighbour at once. */
#include "recorder.h"

#include <stdlib.h>

/* Of a non-blocking form: the one request that completes all of its messages. */
static void keep(MPI_Request handle, const int64_t *slots, int count)
{
  struct open_request *request = hamtune_new_request(handle);
  request->slot = slots[0];
  request->other_count = count - 1;
  request->others = malloc((size_t)count * sizeof *request->others);
  if (request->others == NULL)
    hamtune_refuse("out of memory while recording");
  for (int i = 1; i < count; i++)
    request->others[i - 1] = slots[i];
}

int hamtune_block(const struct neighbours *with, int place)
{
  const int other = place ^ 1;
  return with->grid && with->sources[place] == with->sources[other] ? other : place;
}

void hamtune_put_exchange(const struct neighbours *with, struct block_lengths sent,
                          struct block_lengths received, MPI_Comm comm, const MPI_Request *request)
{
  const int most = with->in + with->out;
  int64_t *slots = hamtune_slots(most);
  int open = 0;
  for (int i = 0; i < most; i++) {
    const int sends = i >= with->in, at = sends ? i - with->in : i;
    const int peer = sends ? with->targets[at] : with->sources[at];
    const struct block_lengths *blocks = sends ? &sent : &received;
    if (peer == MPI_PROC_NULL)
      continue;
    slots[open] = hamtune_take_slot();
    put_operation(sends ? ISEND : IRECV);
    put_number((uint64_t)slots[open++]);
    put_number(hamtune_communicator(comm));
    put_peer(peer);
    put_tag(NEIGHBOUR_TAG);
    put_number((uint64_t)(blocks->counts ? blocks->counts[at] : blocks->count));
    put_size(blocks->type);
  }
  if (open == 0)
    return;
  if (request != NULL) {
    keep(*request, slots, open);
    return;
  }
  put_operation(WAITALL);
  put_number((uint64_t)open);
  for (int i = 0; i < open; i++) {
    put_number((uint64_t)slots[i]);
    hamtune_free_slot(slots[i]);
  }
}
