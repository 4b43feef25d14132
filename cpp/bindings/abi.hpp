// The compiled code's interface to Python: a text that lists every function, structure, enumeration
// and constant that Python uses, as the compiler lays them out. lib/rungs/_src/native/abi.py reads
// it; a binding is a `.cpp` file of this folder that defines functions by RUNGS_FUNCTION and
// describes the rest. The text has the functions' addresses: a library exports only `rungs_abi`,
// and what include/rungs.h declares for programs in other languages.
#pragma once
#define RUNGS_BUILD
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../include/rungs.h"

// A library describes its own code alone, whatever others are loaded in the process. Cling's code
// is all one library.
#ifdef __CLING__
#define RUNGS_OWN
#else
#define RUNGS_OWN [[gnu::visibility("hidden")]]
#endif

namespace rungs {

// The object at an address from Python.
template <class T>
T& at(std::uintptr_t address) {
  return *reinterpret_cast<T*>(address);
}

// Copies a text to Python's memory, cut to `room - 1` bytes.
inline void write_text(const std::string& text, std::uintptr_t out, std::size_t room) {
  const std::string cut = text.substr(0, room - 1);
  std::memcpy(reinterpret_cast<char*>(out), cut.c_str(), cut.size() + 1);
}

namespace abi {

// The text, a line for each thing: "function NAME ADDRESS RESULT ARGUMENT...", "structure NAME
// BYTES" with "field NAME OFFSET TYPE VALUE=NUMBER..." for each field behind it, "enumeration NAME
// VALUE=NUMBER...", "constant NAME NUMBER".
RUNGS_OWN inline std::string& text() {
  static std::string all;
  return all;
}

// The following runs once per process, and Cling compiles it in each process. So templates, which
// have hundreds of instances, only collect names and types; plain functions write the text.

// " NONE=0 RANDOM=1 ENGINE=2": enumerators count from 0, at most to 63. `names` are as `enumerator`
// returns them.
[[gnu::noinline]] RUNGS_OWN inline void add_enumerators(const char* const* names, int count) {
  for (int number = 0; number < count; ++number) {
    std::string_view name = names[number];  // "... kValue = rungs::env::MaskFormat::BOOL]"
    name.remove_prefix(name.find("kValue = ") + 9);
    name = name.substr(0, name.find_first_of(";]"));
    if (name[0] == '(') return;  // a number without an enumerator
    name.remove_prefix(name.rfind(':') + 1);
    text().append(" ").append(name).append("=").append(std::to_string(number));
  }
}

template <auto kValue>
constexpr const char* enumerator() {
  return __PRETTY_FUNCTION__;
}

template <class Enum, int... kNumbers>
void add_enumerators(std::integer_sequence<int, kNumbers...>) {
  static constexpr const char* kNames[] = {enumerator<static_cast<Enum>(kNumbers)>()...};
  add_enumerators(kNames, sizeof...(kNumbers));
}

template <class Enum>
void add_enumerators() {
  add_enumerators<Enum>(std::make_integer_sequence<int, 64>());
}

template <class Type>
constexpr void (*enumerators_of())() {
  if constexpr (std::is_enum_v<Type>)
    return add_enumerators<Type>;
  else
    return nullptr;
}

// The name of a structure that was described; "" for any other.
template <class Struct>
RUNGS_OWN std::string& name_of() {
  static std::string name;
  return name;
}

// A type as NumPy writes it: "i8", "b1"; "*f4" is a pointer to such. A structure is given by its
// name; one that isn't described, by its size.
template <class T>
[[gnu::noinline]] RUNGS_OWN std::string type() {
  if constexpr (std::is_void_v<T>)
    return "void";
  else if constexpr (std::is_pointer_v<T>)
    return "*" + type<std::remove_cv_t<std::remove_pointer_t<T>>>();
  else if constexpr (std::is_enum_v<T>)
    return type<std::underlying_type_t<T>>();
  else if constexpr (std::is_class_v<T>)
    return name_of<T>().empty() ? "V" + std::to_string(sizeof(T)) : name_of<T>();
  else if constexpr (std::is_same_v<T, bool>)
    return "b1";
  else
    return (std::is_floating_point_v<T> ? "f"
            : std::is_signed_v<T>       ? "i"
                                        : "u") +
           std::to_string(sizeof(T));
}

// `types` are those of the result and of the arguments.
[[gnu::noinline]] RUNGS_OWN inline void add_function(const char* name, std::uintptr_t address,
                                                     std::string (*const* types)(), int count) {
  text().append("function ").append(name).append(" ").append(std::to_string(address));
  for (int i = 0; i < count; ++i) text().append(" ").append(types[i]());
  text().append("\n");
}

template <class Result, class... Taken>
bool describe_function(const char* name, Result (*function)(Taken...)) {
  static constexpr std::string (*kTypes[])() = {type<Result>, type<Taken>...};
  add_function(name, reinterpret_cast<std::uintptr_t>(function), kTypes, 1 + sizeof...(Taken));
  return true;
}

// A member of a structure.
struct Field {
  template <class Member>
  Field(const Member& member) : Field(member, enumerators_of<Member>()) {}
  template <class Member>
  Field(const Member& member, void (*add)())
      : address(reinterpret_cast<std::uintptr_t>(&member)), type(abi::type<Member>), add(add) {}

  std::uintptr_t address;
  std::string (*type)();
  void (*add)();  // its enumerators, if it has any
};

// A member whose values are those of another type, where that is an enumeration.
template <class Values, class Member>
Field values_of(const Member& member) {
  return {member, enumerators_of<Values>()};
}

// Adds the fields of a structure at `begin`. `names` are their expressions, with commas between:
// "size, rungs::abi::values_of<rungs::search::Policy>(policy)".
[[gnu::noinline]] RUNGS_OWN inline void add_fields(std::uintptr_t begin, std::string_view names,
                                                   std::initializer_list<Field> fields) {
  for (const Field& field : fields) {
    std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    name.remove_prefix(name.find_last_of(" (") + 1);
    name = name.substr(0, name.find(')'));
    text().append("field ").append(name).append(" ");
    text().append(std::to_string(field.address - begin)).append(" ").append(field.type());
    if (field.add) field.add();
    text() += "\n";
  }
}

// `Described` is the structure with a function that adds its fields.
template <class Struct, class Described>
bool describe_structure(std::string name) {
  name = name.substr(0, name.find('<'));
  const std::size_t space = name.rfind(':');
  name_of<Struct>() = space == std::string::npos ? name : name.substr(space + 1);
  text() += "structure " + name_of<Struct>() + " " + std::to_string(sizeof(Struct)) + "\n";
  alignas(Described) static const unsigned char memory[sizeof(Described)] = {};
  reinterpret_cast<const Described*>(memory)->add_fields();
  return true;
}

template <class Enum>
bool describe_enumeration(const char* name) {
  text() += "enumeration " + std::string(name);
  add_enumerators<Enum>();
  text() += "\n";
  return true;
}

[[gnu::noinline]] RUNGS_OWN inline bool describe_constant(const char* name, std::int64_t number) {
  text() += "constant " + std::string(name) + " " + std::to_string(number) + "\n";
  return true;
}

}  // namespace abi
}  // namespace rungs

#define RUNGS_NAME(a, b) RUNGS_NAMED(a, b)
#define RUNGS_NAMED(a, b) a##b
#define RUNGS_DESCRIBED \
  [[maybe_unused]] static const bool RUNGS_NAME(kDescribed, __COUNTER__) = rungs::abi::

// Begins the definition of a function that Python calls: RUNGS_FUNCTION(std::int64_t,
// rungs_chess_perft, std::uintptr_t position, std::int64_t depth) { ... }
// It is in a namespace of these functions, apart from what programs in other languages call.
#define RUNGS_FUNCTION(Result, name, ...)                        \
  namespace rungs::calls {                                       \
  Result name(__VA_ARGS__);                                      \
  }                                                              \
  RUNGS_DESCRIBED describe_function(#name, &rungs::calls::name); \
  Result rungs::calls::name(__VA_ARGS__)

// A structure that Python makes, and its members that Python uses: RUNGS_STRUCTURE(
// rungs::mpi::Ranks, communicator, boards, first). Those that it holds come first. A list such as
// RUNGS_CHESS_OUTPUTS gives its members by RUNGS_LISTED_MEMBER.
#define RUNGS_STRUCTURE(Struct, ...) \
  RUNGS_DESCRIBE_STRUCTURE(RUNGS_NAME(Described, __COUNTER__), Struct, __VA_ARGS__)
#define RUNGS_DESCRIBE_STRUCTURE(Described, Struct, ...)                                      \
  namespace {                                                                                 \
  struct Described : Struct {                                                                 \
    void add_fields() const {                                                                 \
      rungs::abi::add_fields(reinterpret_cast<std::uintptr_t>(this), RUNGS_TEXT(__VA_ARGS__), \
                             {__VA_ARGS__});                                                  \
    }                                                                                         \
  };                                                                                          \
  }                                                                                           \
  RUNGS_DESCRIBED describe_structure<Struct, Described>(#Struct);
#define RUNGS_TEXT(...) #__VA_ARGS__
#define RUNGS_LISTED_MEMBER(type, name, ...) name,

#define RUNGS_ENUMERATION(name, Enum) RUNGS_DESCRIBED describe_enumeration<Enum>(#name);
#define RUNGS_CONSTANT(name, number) RUNGS_DESCRIBED describe_constant(#name, number);

// Where the text is, for as long as the library is loaded.
namespace rungs::calls {
inline std::uintptr_t rungs_abi() {  // Cling's
  return reinterpret_cast<std::uintptr_t>(abi::text().c_str());
}
}  // namespace rungs::calls
extern "C" [[gnu::used]] inline const char* rungs_abi() { return rungs::abi::text().c_str(); }
