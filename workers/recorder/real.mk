# Builds the recorder that is preloaded into programs of a real MPI: make -f real.mk MPICC=mpicc
MPICC ?= mpicc
SOURCES = clock.c entries.c fortran.c handles.c neighbour_messages.c neighbours.c output.c record.c \
  scratch.c thread_clock.c unsupported.c real.c real_program.c openmpi.c mpich.c c_entries.c fortran_entries.c \
  f08_entries.c large_counts.c call_names.c

all: libhamtune-recorder.so hamtune-host-speed

libhamtune-recorder.so: $(SOURCES) recorder.h record_calls.h unsupported.h
	$(MPICC) -std=gnu11 -O2 -fno-omit-frame-pointer -fPIC -shared -D_GNU_SOURCE -I. $(SOURCES) -o $@ -ldl -lpthread

hamtune-host-speed: host_speed.c
	$(CC) -std=gnu11 -O2 -D_GNU_SOURCE host_speed.c -o $@

.PHONY: all
