C     A fixed-form program in two sources: this one and old_parts.f.
      PROGRAM OLD
      INCLUDE 'mpif.h'
      INTEGER IERR
      CALL MPI_INIT(IERR)
      CALL SHARE(5)
      CALL MPI_FINALIZE(IERR)
      END
