/* Writes npbparams.h for a program, a number of ranks and a class. */
#include <stdio.h>

int main(int argc, char **argv)
{
  if (argc != 4)
    return 1;
  FILE *file = fopen("npbparams.h", "w");
  if (file == NULL)
    return 1;
  fprintf(file, "c NPROCS = %s CLASS = %s\n", argv[2], argv[3]);
  fprintf(file, "        integer nprocs_compiled, points\n");
  fprintf(file, "        parameter (nprocs_compiled = %s)\n", argv[2]);
  fprintf(file, "        parameter (points = %d)\n", argv[3][0] == 'S' ? 64 : 1024);
  fprintf(file, "        character class\n");
  fprintf(file, "        parameter (class = '%s')\n", argv[3]);
  return fclose(file);
}
