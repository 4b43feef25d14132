// Addresses that Python gives, and what is there; and where Python must expect a struct's fields.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>

namespace rungs {

template <class T>
T& at(std::uintptr_t address) {
  return *reinterpret_cast<T*>(address);
}

struct Field {
  const char* name;
  std::size_t offset;
};

// A field that Python mirrors, at any depth.
#define RUNGS_MIRRORED(Struct, field) \
  rungs::Field { #field, offsetof(Struct, field) }

// All fields of `ChessOutputs`, in what derives from it and is called `Batch`.
#define RUNGS_MIRRORED_OUTPUT(type, name, count) RUNGS_MIRRORED(Batch, name),
#define RUNGS_MIRRORED_OUTPUTS                                                              \
  RUNGS_MIRRORED(Batch, config.seed), RUNGS_MIRRORED(Batch, config.opponent),               \
      RUNGS_MIRRORED(Batch, config.observation), RUNGS_MIRRORED(Batch, config.mask),        \
      RUNGS_MIRRORED(Batch, config.autoreset), RUNGS_MIRRORED(Batch, config.max_plies),     \
      RUNGS_MIRRORED(Batch, config.opening_min), RUNGS_MIRRORED(Batch, config.opening_max), \
      RUNGS_MIRRORED(Batch, config.num_starts), RUNGS_MIRRORED(Batch, config.starts),       \
      RUNGS_MIRRORED(Batch, num_envs), RUNGS_MIRRORED(Batch, first_board),                  \
      RUNGS_MIRRORED(Batch, history), RUNGS_MIRRORED(Batch, replies),                       \
      RUNGS_CHESS_OUTPUTS(RUNGS_MIRRORED_OUTPUT)

// A line for each field and its offset, and one for the struct's size.
inline std::string layout(const char* name, std::size_t size, std::initializer_list<Field> fields) {
  std::string text;
  for (const Field& field : fields)
    text += std::string(name) + " " + field.name + " " + std::to_string(field.offset) + "\n";
  return text + name + " size " + std::to_string(size) + "\n";
}

// Hands a text to Python: its first `room - 1` bytes, where there are more.
inline void write_text(const std::string& text, std::uintptr_t out, std::size_t room) {
  const std::string cut = text.substr(0, room - 1);
  std::memcpy(reinterpret_cast<char*>(out), cut.c_str(), cut.size() + 1);
}

}  // namespace rungs

// Structs that derive from others have no standard layout, but GCC, Clang and NVRTC agree on
// theirs.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
