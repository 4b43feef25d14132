// All that a wheel's compiled code holds, in one piece.
#pragma once
#include "api.hpp"
#include "learn.hpp"
