// The clocks of C++.
#include "clocks.h"

#include <chrono>
#include <mpi.h>
#include <thread>

int main(int argc, char **argv)
{
  using std::chrono::duration;
  MPI_Init(&argc, &argv);
  const auto steady = std::chrono::steady_clock::now();
  const auto system = std::chrono::system_clock::now();
  const double spent = work(0.1);
  expect("steady_clock", duration<double>(std::chrono::steady_clock::now() - steady).count(), spent);
  expect("system_clock", duration<double>(std::chrono::system_clock::now() - system).count(), spent);
  const auto before = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  expect("sleep_for", duration<double>(std::chrono::steady_clock::now() - before).count(), 0.2);
  MPI_Finalize();
}
