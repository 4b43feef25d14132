// Words that lie apart, with other games' words in between (structure of arrays): what threads that
// step a game each read and write together then lies side by side.
#pragma once
#include <cstdint>

namespace rungs::chess {

template <class Word>
struct Strided {
  Word* first;
  std::int64_t apart;

  Word& operator[](std::int64_t i) const { return first[i * apart]; }
};

}  // namespace rungs::chess
