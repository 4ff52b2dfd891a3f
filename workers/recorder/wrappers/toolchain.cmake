# CMake's own choice of compilers does not know of the recorder, and its FindMPI takes another MPI of the
# system for them. MPI's compilers are taken where nobody has chosen any.
foreach(language C:CC:mpicc CXX:CXX:mpicxx Fortran:FC:mpif90)
  string(REPLACE ":" ";" language ${language})
  list(GET language 0 name)
  list(GET language 1 variable)
  list(GET language 2 compiler)
  if(NOT CMAKE_${name}_COMPILER AND NOT DEFINED ENV{${variable}})
    set(CMAKE_${name}_COMPILER ${compiler})
  endif()
endforeach()
