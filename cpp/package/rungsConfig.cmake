# The target rungs::rungs: find_package(rungs REQUIRED), then link with it.
get_filename_component(_rungs "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
add_library(rungs::rungs SHARED IMPORTED)
set_target_properties(rungs::rungs PROPERTIES
  IMPORTED_LOCATION "${_rungs}/lib/librungs.so"
  IMPORTED_SONAME "librungs.so"
  INTERFACE_INCLUDE_DIRECTORIES "${_rungs}/include")
unset(_rungs)
