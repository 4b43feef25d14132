"""Guesses are asked for, kept, and shown beside what came out."""

import json

import pytest

from rungs.errors import ConfigurationError
from rungs_course.notebook import Guesses


@pytest.fixture
def file(tmp_path):
    return tmp_path / "user" / "guesses.json"


def typed(asked, text):
    """Types into what `ask` returned; returns what it answers."""
    number, answer = asked.children[1].children
    number.value = text
    return answer.value


def test_a_guess_stands_beside_what_came_out(file):
    guesses = Guesses("07", file)
    assert "Kept" in typed(guesses.ask("gain", "How many times?", "×"), "1,000")
    typed(guesses.ask("share", "Which share?", "%"), "50")
    guesses.ask("rate", "How fast?", "plies/s")
    table = guesses.table(gain=250, share=62.5, rate=12345).set_index("question")
    assert table.loc["How many times?"].tolist() == ["1,000×", "250×", "4× too high"]
    assert table.loc["Which share?"].tolist() == ["50%", "62.5%", "12.5 points too low"]
    assert table.loc["How fast?"].tolist() == ["no guess", "12,345 plies/s", ""]
    assert "62.5%" in guesses.beside(gain=250, share=62.5, rate=12345).data


def test_a_guess_is_kept_for_the_next_time_and_each_notebook_has_its_own(file):
    typed(Guesses("07", file).ask("gain", "How many times?", "×"), "30")
    typed(Guesses("08", file).ask("gain", "How many times?", "×"), "2")
    again = Guesses("07", file).ask("gain", "How many times?", "×")
    assert again.children[1].children[0].value == "30"


@pytest.mark.parametrize("text", ["many", "", "1..2", "inf", "nan"])
def test_what_is_no_number_is_said_and_not_kept(file, text):
    asked = Guesses("07", file).ask("gain", "How many times?", "×")
    typed(asked, "3")
    assert typed(asked, text) == f"{text!r} is no number"
    assert json.loads(file.read_text())["07"]["gain"]["guess"] == 3


def test_what_was_asked_must_be_measured(file):
    guesses = Guesses("07", file)
    guesses.ask("gain", "How many times?", "×")
    with pytest.raises(ConfigurationError, match="gain"):
        guesses.beside()
    with pytest.raises(ConfigurationError, match="loss"):
        guesses.beside(gain=1, loss=2)


@pytest.mark.parametrize("text", ["[]", "nothing", '{"07": 3}', '{"07": {"gain": {"guess": "x"}}}'])
def test_a_file_of_something_else_is_refused(file, text):
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(ConfigurationError, match="holds no guesses"):
        Guesses("07", file)
