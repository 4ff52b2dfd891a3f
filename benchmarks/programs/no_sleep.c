/* A trace holds no sleep, so the plain program that it is compared with does not sleep either. */
#include <time.h>

unsigned int smpi_sleep(unsigned int seconds);
int smpi_usleep(unsigned int microseconds);
int smpi_nanosleep(const struct timespec *wanted, struct timespec *left);

unsigned int smpi_sleep(unsigned int seconds)
{
  (void)seconds;
  return 0;
}

int smpi_usleep(unsigned int microseconds)
{
  (void)microseconds;
  return 0;
}

int smpi_nanosleep(const struct timespec *wanted, struct timespec *left)
{
  (void)wanted, (void)left;
  return 0;
}
