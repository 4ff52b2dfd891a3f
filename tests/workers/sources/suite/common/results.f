      subroutine results(name, class, nprocs, total)
      character*(*) name
      character class
      integer nprocs
      double precision total
      write(*, 100) name, class, nprocs, total
 100  format(' ', a, ' class ', a1, ' on ', i4, ' ranks: ', f12.4)
      return
      end
