"""The Makefile's targets, and the commands that pages and containers have of it, can be run."""

import importlib.util
import json
import os
import re
import sys
from pathlib import Path

import pytest
import yaml
from jupyter_server.serverapp import ServerApp
from voila.app import Voila

from rungs._src import cli
from rungs_course import cli as course_cli
from tests.processes import succeed

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = re.search(r"^\.PHONY: (.*)", MAKEFILE, re.M)[1].split()
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
COMMANDS = [
    re.sub(r"\s#.*", "", line)
    for page in sorted(PAGES)
    for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.M | re.S)
    for line in block.splitlines()
]
RUNGS = re.compile(r"(?:-m (rungs(?:_course)?)|(?:^|&& )(rungs)) ([a-z]\w*)([^|&)]*)")


CONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
BINDER = ROOT / ".binder"


def dry_run(*targets):
    """Returns what make would run."""
    return succeed(["make", "--dry-run", "--no-print-directory", *targets], cwd=ROOT)


@pytest.fixture(scope="module")
def recipes():
    """What make would run for all targets."""
    return re.sub(r"^make: .*", "", dry_run(*TARGETS), flags=re.M)


def test_recipes_are_shell_scripts_of_files_and_modules_that_exist(recipes):
    succeed(["bash", "-n"], input=recipes)
    programs = set(re.findall(r"(?:\.venv|build/style)/bin/([\w-]+)", recipes))
    assert [each for each in programs if not (Path(sys.executable).parent / each).exists()] == []
    scripts = set(re.findall(r"\.ci/\w+|(?:tests|tools)/[\w/.]+\.(?:py|sh)|setup\.py", recipes))
    assert [each for each in scripts if not (ROOT / each).exists()] == []
    modules = set(re.findall(r"bin/python -m ([\w.]+)", recipes))
    assert [each for each in modules if not importlib.util.find_spec(each)] == []
    assert programs
    assert scripts
    assert modules


def test_programs_of_the_system_are_here_or_installed_by_make(recipes):
    names = sorted(set(re.findall(r"^([a-z][\w-]*) ", recipes, re.M)) - {"apt-get"})
    by_make = re.search(r"^TOOLS := ((?:.*\\\n)*.*)", MAKEFILE, re.M)[1].split()
    loop = 'for name; do type -t "$name" || echo none; done'
    types = succeed(["bash", "-c", loop, "bash", *names]).split()
    missing = {name for name, type_ in zip(names, types, strict=True) if type_ == "none"}
    assert missing <= {*by_make}


def test_make_has_the_targets_that_pages_name():
    named = {name for line in COMMANDS for name in re.findall(r"(?:^|&& )make ([\w-]+)", line)}
    assert named
    assert named <= {*TARGETS}


def test_commands_have_the_options_that_pages_show(capsys):
    shown = [match.groups() for line in COMMANDS for match in RUNGS.finditer(line)]
    assert {module or script for module, script, *_ in shown} == {"rungs", "rungs_course"}
    for module, _, command, arguments in shown:
        with pytest.raises(SystemExit, match="0"):
            (course_cli if module == "rungs_course" else cli).main([command, "--help"])
        usage = capsys.readouterr().out
        for option in re.findall(r"(?<=\s)--[\w-]+", arguments):
            assert option in usage, (command, option)


def test_container_and_binder_have_the_python_of_continuous_integration():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "course.yml").read_text())["jobs"]
    assert {job["container"] for job in jobs.values()} == {CONTAINER["image"]}
    runtime = (BINDER / "runtime.txt").read_text().strip()
    assert CONTAINER["image"].startswith(runtime.replace("-", ":"))


def test_container_and_binder_install_by_make():
    commands = [CONTAINER["updateContentCommand"], CONTAINER["postCreateCommand"]]
    assert {command.removeprefix("make ") for command in commands} <= {*TARGETS}
    script = BINDER / "postBuild"
    assert os.access(script, os.X_OK)
    assert commands[-1] in script.read_text().splitlines()


def test_ports_and_files_of_the_container_are_there():
    ports = {ServerApp.port_default_value: "make lab", Voila.port.default_value: "make explore"}
    assert CONTAINER["forwardPorts"] == [*ports]
    labels = {port: each["label"] for port, each in CONTAINER["portsAttributes"].items()}
    assert labels == {str(port): command for port, command in ports.items()}
    assert "--port" not in dry_run("lab", "explore")
    tools = CONTAINER["customizations"]
    assert [name for name in tools["codespaces"]["openFiles"] if not (ROOT / name).exists()] == []
    interpreter = tools["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert f"\n{interpreter.removeprefix('${workspaceFolder}/')} -m " in "\n" + dry_run("run")
