#include "numbers.h"

#include <errno.h>
#include <stdlib.h>

long app_number(int argc, char **argv, int index, long least, long most, long otherwise)
{
  if (index >= argc)
    return otherwise;
  char *end;
  errno = 0;
  long number = strtol(argv[index], &end, 10);
  if (errno != 0 || end == argv[index] || *end != '\0' || number < least || number > most)
    return -1;
  return number;
}
