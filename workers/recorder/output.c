/* The operations of this rank, buffered and appended to its file. The file is opened for each
 * flush only: a simulated run has more ranks than a process may have open files. */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 1 << 16, LARGEST_FIELD = 16 };

static char folder[4096], path[4200];
static uint8_t buffer[BUFFER];
static size_t used;
static uint64_t operations;

void hamtune_append(const char *file, const void *data, size_t size)
{
  const int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  for (size_t done = 0; fd >= 0 && done < size;) {
    const ssize_t written = write(fd, (const uint8_t *)data + done, size - done);
    if (written < 0 && errno != EINTR) {
      close(fd);
      hamtune_refuse("cannot write the recording: %s", strerror(errno));
    }
    done += written > 0 ? (size_t)written : 0;
  }
  if (fd < 0)
    hamtune_refuse("cannot write the recording: %s", strerror(errno));
  close(fd);
}

static void flush(void)
{
  hamtune_append(path, buffer, used);
  used = 0;
}

static void put_double(double value)
{
  memcpy(buffer + used, &value, sizeof value);
  used += sizeof value;
}

void hamtune_open_output(const char *directory, int rank)
{
  snprintf(folder, sizeof folder, "%s", directory);
  snprintf(path, sizeof path, "%s/rank-%d.operations", directory, rank);
  flush();
}

void hamtune_close_output(struct computation computed)
{
  char end[4300], text[128];
  flush();
  snprintf(end, sizeof end, "%s.count", path);
  const int length = snprintf(text, sizeof text, "%llu\n%llu %.6e %.6e\n",
                              (unsigned long long)operations,
                              (unsigned long long)computed.stretches, computed.seconds,
                              computed.empty);
  hamtune_append(end, text, (size_t)length);
}

static void put_code(int code)
{
  if (used + 2 * LARGEST_FIELD > BUFFER)
    flush();
  buffer[used++] = (uint8_t)code;
  operations++;
  hamtune_tell_operation();
}

static void put_flops(double flops)
{
  if (flops <= 0)
    return;
  put_code(COMPUTE);
  put_double(flops);
}

void put_operation(int code)
{
  put_flops(hamtune_take_flops());
  put_code(code);
}

void put_computation(double flops)
{
  put_flops(hamtune_take_flops());
  put_flops(flops);
}

void put_number(uint64_t value)
{
  if (used + LARGEST_FIELD > BUFFER)
    flush();
  for (; value >= 0x80; value >>= 7)
    buffer[used++] = (uint8_t)(value | 0x80);
  buffer[used++] = (uint8_t)value;
}

void put_signed(int64_t value)
{
  put_number(value >= 0 ? (uint64_t)value << 1 : ((uint64_t)(-(value + 1)) << 1) + 1);
}

void put_peer(int rank)
{
  put_signed(rank == MPI_PROC_NULL ? -1 : rank == MPI_ANY_SOURCE ? -2 : rank);
}

void put_tag(int tag)
{
  put_signed(tag == MPI_ANY_TAG ? -1 : tag);
}

int hamtune_type_size(MPI_Datatype datatype)
{
  int size = 0;
  PMPI_Type_size(datatype, &size);
  if (size < 0) /* MPI_UNDEFINED */
    hamtune_refuse("a datatype of 2 GiB or more cannot be recorded; use several of a smaller one");
  return size;
}

void put_size(MPI_Datatype datatype)
{
  put_number((uint64_t)hamtune_type_size(datatype));
}

void hamtune_refuse(const char *format, ...)
{
  char reason[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  fprintf(stderr, "hamtune-recorder: %s\n", reason);
  if (folder[0] == '\0') { /* preloaded where nothing is recorded */
    fprintf(stderr, "hamtune-recorder: nothing is recorded: run the program without the recorder\n");
    hamtune_abort();
  }
  /* Ranks refuse at the same time, and the first one that aborts ends the others: whatever is there has to be whole. */
  char file[4200];
  char begun[4260];
  snprintf(file, sizeof file, "%s/refused", folder);
  snprintf(begun, sizeof begun, "%s.%ld.%p", file, (long)getpid(), (void *)reason); /* ranks may share a process */
  const int fd = open(begun, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd >= 0) {
    /* The capture falls back on the line above when even this cannot be written. */
    const ssize_t length = (ssize_t)strlen(reason);
    const int whole = write(fd, reason, (size_t)length) == length;
    close(fd);
    if (!whole || rename(begun, file) != 0)
      unlink(begun);
  }
  hamtune_abort();
}
