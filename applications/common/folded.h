/* Memory for message payloads.
 *
 * A declared run has all its ranks in one process and never looks at what it sends, so there the
 * payloads of all ranks share a few physical pages (SMPI's shared malloc); a real run gets memory of
 * its own, set to zero. */
#ifndef HAMTUNE_FOLDED_H
#define HAMTUNE_FOLDED_H

#include <stddef.h>

/* Ends the run with a message when there is not enough memory. */
void *app_allocate_payload(size_t bytes);
void app_free_payload(void *payload);

#endif
