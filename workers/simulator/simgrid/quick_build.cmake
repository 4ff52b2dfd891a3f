# Injected into SimGrid's own CMakeLists.txt (CMAKE_PROJECT_simgrid_INCLUDE) when set-up builds it: the same library in half the
# compiler's time. Headers that nearly every file reads are parsed once, and the hundred small files of
# collective algorithms are compiled a dozen at a time.
function(hamtune_quicken)
  set(headers "")
  foreach(header boost/intrusive_ptr.hpp simgrid/s4u.hpp algorithm map sstream cmath)
    list(APPEND headers "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
  endforeach()
  target_precompile_headers(simgrid PRIVATE ${headers})
  # It says by a macro before its first header that it is where some of what that declares is defined.
  set_source_files_properties(src/xbt/xbt_main.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

  # Those with a logging category or with macros and variables of one name stay on their own.
  set(alone "arrival|NTSL|scatter-LR|impi|selector|smpi_coll\\.cpp|colls_global|mvapich2|[-_]smp|SMP|ompi|rab")
  get_target_property(sources simgrid SOURCES)
  list(FILTER sources INCLUDE REGEX "smpi/colls/.*\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "${alone}")
  set(index 0)
  foreach(source IN LISTS sources)
    math(EXPR group "${index} / 12")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP collectives_${group})
    math(EXPR index "${index} + 1")
  endforeach()
  set_target_properties(simgrid PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
cmake_language(DEFER CALL hamtune_quicken)
