/* A library that is opened by its path, and its functions: so a program needs none to be linked. */
#pragma once
#include <rungs.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef _WIN32
#include <windows.h>
#define SYMBOL(library, name) ((void*)GetProcAddress(library, name))
#define OPENED(path) LoadLibraryA(path)
typedef HMODULE library_handle;
#else
#include <dlfcn.h>
#define SYMBOL(library, name) dlsym(library, name)
#define OPENED(path) dlopen(path, RTLD_NOW)
typedef void* library_handle;
#endif

static library_handle library;

static void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static void* symbol(const char* name) {
  void* found = SYMBOL(library, name);
  require(found != NULL, name);
  return found;
}

/* A function of the library, with the type that the header gives it. */
#define RUNGS(name) ((__typeof__(&name))symbol(#name))

static void check(rungs_status status) {
  require(status == RUNGS_OK, RUNGS(rungs_error_message)());
}

static void open_library(const char* path) {
  library = OPENED(path);
  require(library != NULL, "the library can't be opened");
  require(RUNGS(rungs_abi_version)() == RUNGS_ABI_VERSION, "the library is of another version");
}
