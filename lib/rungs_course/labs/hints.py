"""Help with a lab, a step at a time."""

from IPython.display import Markdown

from rungs_course.labs.catalogue import find
from rungs_course.labs.lab import Lab

_given: dict[str, int] = {}


def hint(name: str) -> Markdown:
    """Gives a lab's next hint: two in words, then the best known solution.

    Raises:
        ConfigurationError: no such lab.
    """
    lab = find(name)
    step = _given[lab.name] = min(_given.get(lab.name, 0) + 1, 3)
    return Markdown(f"**Hint {step} of 3.** {_words(lab, step)}")


def _words(lab: Lab, step: int) -> str:
    if step < 3:
        return lab.hints[step - 1]
    language = "cpp" if lab.language == "cpp" else "python"
    return f"The best known solution:\n\n```{language}\n{lab.code('solution')}```"
