# What of the build a wheel holds, in the places that the rooms look in: those of a checkout.
set(rooms hamtune/rooms)
if(HAMTUNE_PREBUILT)
  set(built ${HAMTUNE_PREBUILT})
else()
  set(built ${CMAKE_BINARY_DIR})
endif()

file(GLOB prebuilt_module ${CMAKE_SOURCE_DIR}/searchspace/kernels/_native*.so)
if(HAMTUNE_PREBUILT)
  install(FILES ${prebuilt_module} DESTINATION ${rooms}/searchspace/kernels)
else()
  install(TARGETS hamtune_kernels LIBRARY DESTINATION ${rooms}/searchspace/kernels)
endif()
install(PROGRAMS ${built}/workers/simulator/hamtune-simulator-plain DESTINATION ${rooms}/build/workers/simulator)
install(PROGRAMS ${built}/workers/simulator/hamtune-simulator DESTINATION ${rooms}/build/workers/simulator
  OPTIONAL)  # only where SimGrid is of the release that our engine knows
install(FILES ${built}/workers/simulator/simgrid-prefix DESTINATION ${rooms}/build/workers/simulator)
install(PROGRAMS ${built}/workers/system_calls/hamtune-program-filter DESTINATION ${rooms}/build/workers/system_calls)
install(FILES ${built}/workers/recorder/hamtune_recorder.o ${built}/workers/recorder/libhamtune_random.a
  DESTINATION ${rooms}/build/workers/recorder)
install(PROGRAMS ${built}/workers/recorder/hamtune-host-speed DESTINATION ${rooms}/build/workers/recorder)
install(DIRECTORY ${built}/applications/ DESTINATION ${rooms}/build/applications USE_SOURCE_PERMISSIONS
  PATTERN CMakeFiles EXCLUDE PATTERN "*.cmake" EXCLUDE)
# The recorder for a cluster is built there, from these.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/service/page/dist DESTINATION ${rooms}/service/page)
install(FILES ${CMAKE_SOURCE_DIR}/alembic.ini DESTINATION ${rooms})
# Made by deploy/dist.py; an install of a checkout does without.
install(FILES ${CMAKE_SOURCE_DIR}/deploy/man/hamtune.1 DESTINATION ${SKBUILD_DATA_DIR}/share/man/man1 OPTIONAL)
