"""The CartPole study's three architectures, with a real step's operations."""

from rungs_course.show.architectures import architectures


def test_the_operations_of_a_step_are_counted_in_the_picture():
    operations = {"mul": 20, "add": 10, "sin": 1, "where": 3, "div": 2, "rand": 1}
    processes, tensors, kernel = architectures(operations).axes
    texts = [text.get_text() for text in tensors.texts]
    assert "mul, 20 times" in texts
    assert "37 operations a step,\nwith memory in between" in texts
    for axes, what in ((processes, "environment"), (kernel, "thread")):
        words = [text.get_text() for text in axes.texts]
        assert sum(word.startswith(f"{what} ") for word in words) == 4
