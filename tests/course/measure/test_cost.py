"""What an update costs."""

import rungs
from rungs_course.measure.cost import PARTS, time_updates


def test_parts_of_every_update_are_timed():
    frame = time_updates(rungs.make("chess", "cpp", 8, mask="bits"), seed=0, repeats=3)
    assert frame["part"].tolist() == list(PARTS) * 3
    assert (frame["seconds"] >= 0).all()
    assert (frame.query("part != 'transfer'")["seconds"] > 0).all()
