"""A wheel, built from a clean copy of the tree, that works where the tree is not."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rungs.compile.variants import file_name, of_machine

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.system


def succeed(command, **how):
    done = subprocess.run(command, capture_output=True, text=True, **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel")
    files = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    copy = f"{' '.join(files)} | tar --create --null --files-from - | tar --extract -C {tree}"
    succeed(["bash", "-c", copy], cwd=ROOT)
    pip = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "--no-build-isolation"]
    succeed([*pip, "--wheel-dir", out, tree])
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Runs Python where the wheel is unpacked and the source tree is not to be found."""
    site, elsewhere = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("elsewhere")
    pip = [sys.executable, "-m", "pip", "--quiet", "install", "--no-deps", "--no-index"]
    succeed([*pip, "--target", site, wheel])

    def run(*arguments, **variables):
        command = [sys.executable, *arguments]
        environment = os.environ | {"PYTHONPATH": str(site)} | variables
        return subprocess.run(
            command, capture_output=True, text=True, cwd=elsewhere, env=environment
        )

    run.site, run.folder = site, elsewhere
    return run


def test_the_wheel_holds_all_headers(wheel):
    held = {Path(name) for name in zipfile.ZipFile(wheel).namelist()}
    files = [path for path in (ROOT / "cpp").rglob("*") if path.is_file()]
    assert len(files) > 30
    assert {Path("rungs") / path.relative_to(ROOT) for path in files} <= held


def test_the_wheel_is_small_and_fits_every_python(wheel):
    assert wheel.name.endswith("-py3-none-linux_x86_64.whl")
    assert wheel.stat().st_size < 5e6
    held = zipfile.ZipFile(wheel).namelist()
    assert all(f"rungs/compiled/{file_name(variant)}" in held for variant in of_machine("x86_64"))


def test_it_steps_without_a_compiler_and_the_same_for_every_processor(installed):
    code = """
import hashlib, sys
import rungs
from rungs.compile import library, loader
digest = hashlib.sha256()
for name, settings in (("chess", {"obs": "planes"}), ("chess", {"mask": "list"}), ("cartpole", {})):
    env = rungs.make(name, "threads", 300, **settings)
    observation, info = env.reset(seed=1)
    for step in range(30):
        some = env.sample_actions(step) if name == "chess" else observation[:, 2] > 0
        observation, reward, *_ = env.step(some.astype(int))
        digest.update(observation.tobytes() + reward.tobytes())
assert loader.chosen() == "wheel" and "cppyy" not in sys.modules
print(library.chosen().name, digest.hexdigest())
"""
    ran = {}
    for variant in of_machine("x86_64"):
        done = installed("-c", code, PATH="/nowhere", RUNGS_ISA=variant.name)
        if "this processor lacks" in done.stderr:
            continue
        assert done.returncode == 0, done.stderr
        name, digest = done.stdout.split()
        ran[name] = digest
    assert len(ran) > 1
    assert len({*ran.values()}) == 1, ran


def test_rungs_step_outside_the_tree(installed):
    code = """
import numpy, rungs
from rungs import paths
from rungs.chess.policy import random_actions
print(rungs.__file__, paths.CPP, sep="\\n")
names = ("python", "multiprocessing", "cpp", "openmp", "threads")
envs = [rungs.make("chess", rung, 4) for rung in names]
mask = [env.reset(seed=0)[1]["action_mask"] for env in envs][0]
rng = numpy.random.default_rng(0)
for _ in range(20):
    actions = random_actions(mask, rng)
    (observation, *_, info), *others = [env.step(actions) for env in envs]
    assert all((other[0] == observation).all() for other in others)
    mask = info["action_mask"]
"""
    done = installed("-c", code)
    assert done.returncode == 0, done.stderr
    assert all(line.startswith(str(installed.site)) for line in done.stdout.splitlines())


def test_it_trains_where_it_is_called(installed):
    small = ["--num-envs", "8", "--num-steps", "8", "--updates", "1"]
    done = installed("-m", "rungs", "train", *small)
    assert done.returncode == 0, done.stderr
    assert (installed.folder / "data" / "run" / "train" / "metrics.csv").exists()


def test_the_course_is_elsewhere_and_it_says_so(installed):
    done = installed("-m", "rungs", "run")
    assert done.returncode == 2
    assert "the course is in Rungs' source tree" in done.stderr


def test_the_doctor_tries_it(installed):
    done = installed("-m", "rungs", "doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "works     chess on openmp" in done.stdout
