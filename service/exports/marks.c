/* Marks of a program (MPI_Pcontrol) that do nothing: SMPI has none and aborts at the first.
 *
 *   smpicc -O2 program.c marks.c -o program
 *
 * The program itself has to hold them; it does not see those of a library that is preloaded. */
int MPI_Pcontrol(const int level, ...)
{
  (void)level;
  return 0;
}

void mpi_pcontrol_(const int *level)
{
  (void)level;
}
