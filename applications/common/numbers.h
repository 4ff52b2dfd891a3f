/* Numbers given as arguments. */
#ifndef HAMTUNE_NUMBERS_H
#define HAMTUNE_NUMBERS_H

/* The whole number that argument `index` is, from `least` to `most`; `otherwise` when there are not
 * so many arguments; -1 when it is something else. */
long app_number(int argc, char **argv, int index, long least, long most, long otherwise);

#endif
