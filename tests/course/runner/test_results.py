"""What is recorded of a run, and what the README takes from it."""

import json

import pandas as pd
import pytest

from rungs.errors import ConfigurationError
from rungs_course import nb07_ladder, pages
from rungs_course.measure import results
from rungs_course.plots import save_figure
from rungs_course.runner import chain, pace
from rungs_course.runner import manifest as manifests
from rungs_course.runner import recorded as records
from rungs_course.tables import ladder_table
from tests.course import notebooks as tiny


@pytest.fixture
def race():
    """Three repeats of two rungs; the second is 100, 200 and 400 times as fast."""
    rows = [("python", i, 1000, 1.0 + i) for i in range(3)]
    rows += [("cpp", i, 1000, (1.0 + i) / gain) for i, gain in enumerate((100, 200, 400))]
    return pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])


def test_the_ladder_is_medians_of_ratios_repeat_by_repeat(race):
    table = ladder_table(race, rest_of_batch=0.2, num_envs=100)
    assert table["rung"].tolist() == ["python", "cpp"]
    python, cpp = table.to_dict("records")
    assert python["seconds"] == pytest.approx(0.2)
    assert python["plies_per_second"] == pytest.approx(500)
    assert python["absolute_speedup"] == python["training_speedup"] == 1
    assert cpp["absolute_speedup"] == cpp["relative_speedup"] == pytest.approx(200)
    assert cpp["training_speedup"] == pytest.approx(0.4 / (0.2 + cpp["seconds"]))


MACHINE = {"machine": "AMD EPYC", "cores": 2, "microarchitecture": "Zen 9", "gpu": None}


@pytest.fixture
def recorded(race, tmp_path):
    """A repository's folder of recorded results, which the README takes from."""
    folder = tmp_path / "data/recorded/somewhere"
    facts = {"num_envs": 100, "mask": "bool", "floor_plies_per_second": 1e6}
    results.save(ladder_table(race, 0.2, 100), folder / "07_ladder.csv", facts)
    # Of other boards and masks, too, which the ladder is not of.
    other = race.assign(seconds=9.0)
    alike = race.assign(num_envs=100, mask="bool")
    rest = [other.assign(num_envs=100, mask="bits"), other.assign(num_envs=8, mask="bool")]
    results.save(pd.concat([alike, *rest]), folder / "07_race.csv", {})
    gains = [("Slow, batched", 10.0, 2000.0, 200.0), ("Good", 5e3, 1e4, 2.0)]
    gains += [("Good", 5e3, 7.5e3, 1.5)]
    frame = pd.DataFrame(gains, columns=["peer", "its rate", "our rate", "gain"])
    results.save(frame, folder / "12_gains.csv", {})
    rules = [("Slow", "stalemate", 9), ("Slow", "fifty moves", 1), ("Good", "stalemate", 0)]
    frame = pd.DataFrame(rules, columns=["peer", "rule", "disagreements"])
    results.save(frame, folder / "12_rules.csv", {})
    return folder.relative_to(tmp_path)


def test_the_readme_holds_what_was_recorded(race, recorded, tmp_path):
    page = tmp_path / "README.md"
    page.write_text(
        "before\n<!-- ladder -->\nold\n<!-- /ladder -->\n"
        "between\n<!-- peers -->\nold\n<!-- /peers -->\nafter\n"
    )
    for _ in range(2):
        pages.write(tmp_path, recorded, MACHINE, set(pages.NEEDED))
    text = page.read_text()
    assert text.startswith("before\n<!-- ladder -->\n![The ladder, how many times as fast")
    assert "\n<!-- /ladder -->\nbetween\n<!-- peers -->\n| Chess environment |" in text
    assert text.endswith("\n<!-- /peers -->\nafter\n")
    assert "| `cpp` | C++, one thread | 200× (100 to 400) |\n" in text
    assert "**200 times as many moves a second** as `python`" in text
    assert text.count("2 cores of AMD EPYC, Zen 9") == 2
    # Of two outputs of ours the one that gains less, and rules by the name of who wrote them.
    assert "| Slow, batched | 10/s | 2 k/s | 200× | stalemate, fifty moves |" in text
    assert "| Good | 5 k/s | 7.5 k/s | 1.5× | none seen |" in text
    assert "old" not in text
    assert str(tmp_path) not in text
    assert (tmp_path / "figures/ladder.png").stat().st_size > 10_000


def test_a_rung_of_another_job_is_compared_by_medians():
    rows = [("python", i, 1, 1.0 + i) for i in range(5)]
    rows += [("threads", i, 1, (1.0 + i) / 10) for i in range(5)]
    # In another order: the median of the ratios is 12.5, the ratio of the medians 10.
    rows += [("mpi", i, 1, seconds) for i, seconds in enumerate((0.3, 0.1, 0.5, 0.2, 0.4))]
    race = pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])
    table = ladder_table(race, rest_of_batch=0.0, num_envs=8).set_index("rung")
    threads, mpi = table.loc["threads"], table.loc["mpi"]
    assert threads["speedup_low"] == pytest.approx(threads["speedup_high"]) == pytest.approx(10)
    assert mpi["absolute_speedup"] == pytest.approx(10)
    assert mpi["speedup_low"] < 3 < 30 < mpi["speedup_high"]


def test_of_full_runs_results_are_recorded_and_of_all_how_long_they_took(tmp_path, monkeypatch):
    for module in (records, results):
        monkeypatch.setattr(module, "slug", lambda: "somewhere")
    save = (
        "from pathlib import Path\nimport pandas as pd\nfrom rungs_course.measure import results\n"
    )
    save += "results.save(pd.DataFrame({'x': [1]}), Path(out) / 'results/01_x.csv', {'size': size})"
    tiny.write(tmp_path / "notebooks", "01_a", save)
    out, how = tmp_path / "run", {"notebooks": tmp_path / "notebooks", "say": lambda line: None}
    with pytest.raises(ConfigurationError, match="no run"):
        records.record(out, tmp_path)

    chain.run(size="full", out=out, **how)
    manifest = manifests.read(out)
    manifests.write(manifest | {"settings": manifest["settings"] | {"size": "quick"}}, out)
    seconds = records.record(out, tmp_path)
    assert seconds == tmp_path / "data/recorded/somewhere/run_seconds.csv"
    assert list(seconds.parent.iterdir()) == [seconds]
    assert not list(tmp_path.glob("README.md"))

    manifests.write(manifest, out)
    folder = records.record(out, tmp_path)
    assert results.load(folder / "01_x.csv")["x"].tolist() == [1]
    took = results.load(seconds)
    assert took[["size", "notebook"]].to_numpy().tolist() == [["full", "01_a"], ["quick", "01_a"]]
    assert took["seconds"][0] == round(manifest["notebooks"]["01_a"]["seconds"], 1)
    assert took["date"][0] == manifest["started"]

    # Recorded again, it takes the place of what was there, but not of another notebook's results;
    # and a new run elsewhere expects it.
    for name in ("01_old.csv", "02_y.csv"):
        results.save(pd.DataFrame({"y": [2]}), folder / name, {"size": "full"})
    records.record(out, tmp_path)
    assert sorted(file.name for file in folder.glob("*_*.csv")) == [
        "01_x.csv",
        "02_y.csv",
        "run_seconds.csv",
    ]
    assert len(results.load(seconds)) == 2
    expected = pace.expect("full", ["01_a"], tmp_path / "elsewhere", tmp_path)
    assert expected == {"01_a": took["seconds"][0]}

    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    elsewhere = manifest["machine"] | {"microarchitecture": "Zen 9"}
    manifests.write(manifest | {"machine": elsewhere}, out)
    with pytest.raises(ConfigurationError, match=r"another machine.*Zen 9"):
        records.record(out, tmp_path)
    manifests.write(manifest, out)
    text = (out / "results" / "01_x.csv").read_text()
    name = manifest["machine"]["microarchitecture"]
    strange = text.replace(f"# microarchitecture: {name}", "# microarchitecture: Zen 9")
    (out / "results" / "01_x.csv").write_text(strange)
    with pytest.raises(ConfigurationError, match=r"01_x\.csv is of another machine.*Zen 9"):
        records.record(out, tmp_path)
    (out / "results" / "01_x.csv").write_text(text)
    changed = json.loads((folder / "record.json").read_text())
    changed["machine"]["microarchitecture"] = "Zen 9"
    (folder / "record.json").write_text(json.dumps(changed))
    with pytest.raises(ConfigurationError, match=r"the record in .* another machine.*Zen 9"):
        records.record(out, tmp_path)
    (folder / "record.json").write_bytes(before["record.json"])
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before

    (folder / "record.json").write_text("{")
    (folder / "01_x.csv").write_text("kept")
    with pytest.raises(ConfigurationError, match=r"record\.json"):
        records.record(out, tmp_path)
    assert (folder / "01_x.csv").read_text() == "kept"


def test_a_figure_is_saved(race, tmp_path):
    figure = nb07_ladder.draw_ladder(ladder_table(race, 0.2, 100))
    save_figure(figure, tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
