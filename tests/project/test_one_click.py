"""What opens the course in a container names what is there."""

import json
import os
from pathlib import Path

import yaml
from jupyter_server.serverapp import ServerApp
from voila.app import Voila

from tests.processes import succeed

ROOT = Path(__file__).parents[2]
CONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
BINDER = ROOT / ".binder"


def recipe(command):
    """What a command that begins with make would run."""
    make, *targets = command.split()
    assert make == "make"
    return succeed(["make", "--dry-run", "--no-print-directory", *targets], cwd=ROOT)


def test_container_and_binder_have_the_python_of_continuous_integration():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "course.yml").read_text())["jobs"]
    assert {job["container"] for job in jobs.values()} == {CONTAINER["image"]}
    runtime = (BINDER / "runtime.txt").read_text().strip()
    assert CONTAINER["image"].startswith(runtime.replace("-", ":"))


def test_container_and_binder_install_by_make():
    commands = [text for name, text in CONTAINER.items() if name.endswith("Command")]
    assert len([recipe(command) for command in commands]) == 2
    script = BINDER / "postBuild"
    assert os.access(script, os.X_OK)
    assert commands[-1] in script.read_text().splitlines()


def test_ports_and_files_of_the_container_are_there():
    ports = {ServerApp.port_default_value: "make lab", Voila.port.default_value: "make explore"}
    assert CONTAINER["forwardPorts"] == [*ports]
    labels = {port: each["label"] for port, each in CONTAINER["portsAttributes"].items()}
    assert labels == {str(port): command for port, command in ports.items()}
    assert not [command for command in ports.values() if "--port" in recipe(command)]
    tools = CONTAINER["customizations"]
    assert [name for name in tools["codespaces"]["openFiles"] if not (ROOT / name).exists()] == []
    interpreter = tools["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert f"\n{interpreter.removeprefix('${workspaceFolder}/')} -m " in "\n" + recipe("make run")
