// All that Python calls, in one piece: Cling compiles OpenMP's pragmas right only in the first code
// that it compiles with any. (What needs <mpi.h> is apart, in mpi.hpp; it has no pragmas.)
#pragma once
#include "cartpole.hpp"
#include "chess.hpp"
#include "search.hpp"
#include "threads.hpp"
