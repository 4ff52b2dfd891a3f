// C++, with an argument and a file beside it.
#include <mpi.h>

#include <fstream>
#include <string>
#include <vector>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  std::ifstream input("input.txt");
  int from_file = 0;
  input >> from_file;
  std::vector<char> data(std::stoi(argv[1]) + from_file);
  MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
