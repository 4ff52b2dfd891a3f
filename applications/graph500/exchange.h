/* Sends items of two numbers to the ranks that own them. */
#ifndef HAMTUNE_EXCHANGE_H
#define HAMTUNE_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint32_t vertex; /* whose owner gets the item */
  uint32_t value;
} Item;

typedef struct {
  Item *items;
  size_t count, room;
} Items;

void items_add(Items *items, uint32_t vertex, uint32_t value);

/* Sends every item to the rank vertex % ranks, empties `outgoing` and fills `incoming` with what came
 * here, by sender. */
void items_exchange(int ranks, Items *outgoing, Items *incoming);

void items_free(Items *items);

#endif
