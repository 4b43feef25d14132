"""Headers compiled for a GPU at run time, by NVRTC."""

from pathlib import Path

from rungs._src import paths
from rungs._src.native import cache, headers
from rungs.errors import CompilerError, UnavailableError, install_hint


def cubin(source: str, arch: str, macros: dict[str, int]) -> bytes:
    """Compiles a header below `cpp/` for an `arch`, such as "sm_90", once; needs no GPU."""
    try:
        from cuda.bindings import nvrtc
        from cuda.core import Program, ProgramOptions

        version = nvrtc.nvrtcVersion()
    except ImportError:
        raise UnavailableError(f"cuda-core is not installed: {install_hint('gpu')}") from None
    except RuntimeError:  # of cuda-core, for a missing library
        raise UnavailableError(f"NVRTC is not installed: {install_hint('gpu')}") from None
    options = {
        "name": str(paths.CPP / source),  # relative includes start there
        "arch": arch,
        "std": "c++20",
        # Every function is a device function, so headers need no annotation.
        "device_as_default_execution_space": True,
        "device_int128": True,
        "include_path": [str(paths.CPP / folder) for folder in ("cuda", "rungs")],
        "define_macro": [(name, str(value)) for name, value in macros.items()],
    }

    def build(path: Path) -> None:
        try:
            compiled = Program((paths.CPP / source).read_text(), "c++", ProgramOptions(**options))
            code = compiled.compile("cubin").code
        except Exception as error:  # NVRTC's own, or of a missing library
            raise CompilerError(f"NVRTC refuses {source} for {arch}: {error}") from None
        path.write_bytes(bytes(code))

    identity = (options, headers.fingerprint(), version)
    return cache.built(f"cubin-{arch}", identity, build).read_bytes()
