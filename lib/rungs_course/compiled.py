"""The C++ of `cpp/course`, compiled by g++ and loaded."""

from rungs.devel import Api, gpp, openmp


def load_course() -> Api:
    """Loads the functions of `cpp/course/bindings.cpp`, some of which use OpenMP."""
    openmp.load()
    return gpp.loaded("course", ["course/bindings.cpp"], [*gpp.FLAGS.split(), "-march=native"])


def load_machine() -> Api:
    """Loads the functions of `cpp/course/peaks.cpp`, with fused multiply-adds."""
    flags = [*gpp.LIBRARY.split(), "-ffp-contract=fast", "-pthread", "-march=native"]
    return gpp.loaded("machine", ["course/peaks.cpp"], flags)


def load_steps(*flags: str) -> Api:
    """Loads the functions of `cpp/course/steps.cpp`, compiled with these flags."""
    every = [*flags, "-std=c++20", "-shared", "-fPIC", "-w"]
    return gpp.loaded("steps-versions", ["course/steps.cpp"], every)
