      include 'mpif.h'
      integer me, nprocs, dp_type
      common /mpistuff/ me, nprocs, dp_type
