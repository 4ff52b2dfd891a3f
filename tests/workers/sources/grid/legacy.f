c     Fixed form beside free form, and buffers of another type.
      subroutine share(values, many, comm)
      implicit none
      include 'mpif.h'
      integer many, comm, error, rounds(1)
      double precision values(many)
      rounds(1) = many
      call mpi_bcast(rounds, 1, MPI_INTEGER, 0, comm, error)
      call mpi_bcast(values, many, MPI_DOUBLE_PRECISION, 0, comm,
     >               error)
      end
