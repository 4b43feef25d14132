"""What pages take from recorded results is what was recorded."""

import re
from pathlib import Path

import pandas as pd
import pytest

from rungs._src.machine.describe import describe, in_words, slug_of
from rungs._src.registry import DEFAULT_RUNG
from rungs._src.train.evaluate import Evaluation
from rungs_course import adapters, rating
from rungs_course.measure import results
from rungs_course.pages import machines, numbers
from rungs_course.paths import ROOT
from rungs_course.runner import recorded as records
from rungs_course.tables import ladder_table

README = (ROOT / "README.md").read_text()


def test_numbers_are_recorded_ones_of_one_machine():
    text = "".join((ROOT / page).read_text() for page in numbers.PAGES)
    (folder,) = set(re.findall(r"\((?:\.\./)?(data/recorded/[\w-]+)/\w+\.\w+\)", text))
    machine = records.read(ROOT / folder)["machine"]
    assert Path(folder).name == slug_of(machine)
    assert f"On {in_words(machine)}, the default rung, `{DEFAULT_RUNG}`, plays" in README
    assert f"of one machine, {in_words(machine)}" in text
    usable = records.of_runs(ROOT / folder)
    for name, section in numbers.sections(ROOT, Path(folder), machine, usable).items():
        assert f"<!-- {name} -->\n{section}<!-- /{name} -->" in text
    for page, named in adapters.sections().items():
        for name, section in named.items():
            assert f"<!-- {name} -->\n{section}<!-- /{name} -->" in page.read_text()


def test_the_page_of_machines_shows_all_that_are_recorded():
    page = (ROOT / "docs" / "machines.md").read_text()
    assert machines.filled(page, ROOT) == page


@pytest.fixture
def race():
    """Three repeats of two rungs; the second is 100, 200 and 400 times as fast."""
    rows = [("python", i, 1000, 1.0 + i) for i in range(3)]
    rows += [("threads", i, 1000, (1.0 + i) / gain) for i, gain in enumerate((100, 200, 400))]
    return pd.DataFrame(rows, columns=["racer", "repeat", "plies", "seconds"])


def test_the_ladder_is_medians_of_ratios_repeat_by_repeat(race):
    table = ladder_table(race, rest_of_batch=0.2, num_envs=100)
    assert table["rung"].tolist() == ["python", "threads"]
    python, threads = table.to_dict("records")
    assert python["seconds"] == pytest.approx(0.2)
    assert python["plies_per_second"] == pytest.approx(500)
    assert python["absolute_speedup"] == python["training_speedup"] == 1
    assert threads["absolute_speedup"] == threads["relative_speedup"] == pytest.approx(200)
    assert threads["training_speedup"] == pytest.approx(0.4 / (0.2 + threads["seconds"]))


MACHINE = {"machine": "AMD EPYC", "cores": 2, "microarchitecture": "Zen 9", "gpu": None}


@pytest.fixture
def recorded(race, tmp_path):
    """The least that must be recorded of a machine, in a tree whose page has a place for all."""
    sections = ("ladder", "headlines", "rungs", "steps", "peers", "self-play", "learners-measured")
    texts = [f"<!-- {name} -->\nold\n<!-- /{name} -->\n" for name in sections]
    (tmp_path / "README.md").write_text("before\n" + "".join(texts) + "after\n")
    folder = tmp_path / "data/recorded/somewhere"
    facts = {"num_envs": 100, "mask": "bool", "floor_plies_per_second": 1e6}
    results.save(ladder_table(race, 0.2, 100), folder / "07_ladder.csv", facts)
    # Of other boards and masks, too, which the ladder is not of.
    other = race.assign(seconds=9.0)
    alike = race.assign(num_envs=100, mask="bool")
    rest = [other.assign(num_envs=100, mask="bits"), other.assign(num_envs=8, mask="bool")]
    results.save(pd.concat([alike, *rest]), folder / "07_race.csv", {})
    gains = [("Slow, batched", 10.0, 2000.0, 200.0), ("Good", 5e3, 1e4, 2.0)]
    gains += [("Good", 5e3, 7.5e3, 1.5), ("python-chess", 5.0, 250.0, 50.0)]
    frame = pd.DataFrame(gains, columns=["peer", "its rate", "our rate", "gain"])
    frame = frame.assign(ours="board + bits", **{"from": 40.0, "to": 60.0})
    results.save(frame, folder / "12_gains.csv", {})
    rules = [("Slow", "stalemate", 9), ("Slow", "fifty moves", 1), ("Good", "stalemate", 0)]
    frame = pd.DataFrame(rules, columns=["peer", "rule", "disagreements"])
    results.save(frame, folder / "12_rules.csv", {})
    return folder.relative_to(tmp_path)


def written(recorded, tmp_path, tables, **facts):
    """Records these tables besides, fills the page from all of them, and returns its sections."""
    for name, frame in tables.items():
        results.save(frame, tmp_path / recorded / name, facts)
    numbers.write(tmp_path, recorded, MACHINE, {*numbers.NEEDED, *tables})
    text = (tmp_path / "README.md").read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert str(tmp_path) not in text
    return dict(re.findall(r"<!-- ([\w-]+) -->\n(.*?)<!-- /", text, re.DOTALL))


def test_the_readme_holds_what_was_recorded(recorded, tmp_path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "steps.png").write_bytes(b"of another run")
    for _ in range(2):
        sections = written(recorded, tmp_path, {})
    assert (
        "| `threads` | C++, its own thread pool | 100 k/s | 200× (100 to 400) |\n"
        in sections["rungs"]
    )
    assert "**200 times** (100 to 400) as many as `python`. On one core" in sections["ladder"]
    fastest = (
        "**1.5 times** (40 to 60) as many as the fastest other environment that was raced, Good."
    )
    assert fastest in sections["ladder"]
    raced, among_others = (
        line
        for line in sections["headlines"].splitlines()
        if line.startswith(("| `threads`", "| `cpp`"))
    )
    assert raced == "| `threads` | 200× (100 to 400) | 100 each | board + bool | all | 07 |"
    assert (
        among_others == "| `cpp` | 50× (40 to 60) | the best for each | board + bits | one | 12 |"
    )
    assert "raining" not in sections["headlines"] + sections["ladder"]
    # Of two outputs of ours the one that gains less, and rules by the name of who wrote them.
    assert (
        "| Slow, batched | 10/s | 2 k/s | 200× (40 to 60) | stalemate, fifty moves |"
        in sections["peers"]
    )
    assert "| Good | 5 k/s | 7.5 k/s | 1.5× (40 to 60) | none seen |" in sections["peers"]
    for name in ("ladder", "rungs", "peers"):
        assert "2 cores of AMD EPYC, Zen 9" in sections[name]
    for name in ("steps", "self-play", "learners-measured"):
        assert "No recorded run" in sections[name]
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["ladder.png"]


def test_measured_training_stands_beside_the_race_with_its_learner(recorded, tmp_path):
    parts = {"transfer": 0.0, "infer": 0.25, "backward": 0.25}
    rows = [("python", i, 1.5) for i in range(5)] + [("threads", i, 0.0) for i in range(5)]
    table = pd.DataFrame(rows, columns=["rung", "update", "generate"]).assign(**parts)
    facts = {"learner": "flat", "num_envs": 64}
    generation = [("python", "torch", 0.75), ("python", "cpp", 0.9), ("cpp", "torch", 0.5)]
    bounds = pd.DataFrame(generation, columns=["system", "learner", "share"])
    tables = {"15_metrics.csv": table, "11_generation.csv": bounds}
    sections = written(recorded, tmp_path, tables, **facts)
    (row,) = (line for line in sections["rungs"].splitlines() if line.startswith("| `threads`"))
    assert row.endswith("| 4× (4 to 4) |")
    assert "PPO with the learner `flat` and 64 boards" in sections["rungs"]
    assert "with the learner `flat` becomes **4 times** (4 to 4) as fast;" in sections["ladder"]
    assert "with the learner `torch` it becomes at most 4.0 times as fast." in sections["ladder"]
    text = sections["headlines"]
    assert "| `threads` | 4× (4 to 4) |\n\nAn update of PPO, 64 boards, learner `flat`" in text
    assert "| `torch` | at most 4× |\n| `cpp` | at most 10× |\n" in text


def test_recorded_runs_of_self_play_become_a_section(recorded, tmp_path):
    seconds = [0.0, 100, 300, 700, 1000, 1150, 1200]
    columns = {"elo": [10.4, 1, 2, 3, 4, 5, 600], "low": -50.0, "high": 650.0}
    columns |= {"positions": 8192, "random": 0.975, "search_gain": 212.0, "machine": "4 cores of X"}
    columns |= {"stockfish": [0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7]}
    run = pd.DataFrame({"seconds": seconds} | columns)
    frame = pd.concat([run.assign(seed=0), run.assign(seed=1, elo=run["elo"] + 100)])
    facts = {"match_policy": "puct", "simulations": 32, "games": 60, "match_plies": 400}
    results.save(frame, tmp_path / "data" / "ablations" / "curves.csv", facts)
    (tmp_path / "README.md").write_text("before\n<!-- self-play -->\n<!-- /self-play -->\nafter\n")
    text = written(recorded, tmp_path, {})["self-play"]
    text, _, quarters = text.partition("\nPoints per game against Stockfish")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][2:]
    minutes = [row[1].removesuffix(" min") for row in rows]
    assert "by PUCT, 32 simulations a move" in " ".join(text.split())
    assert "seeds 0, 1 on 4 cores of X;" in " ".join(text.split())
    assert minutes == ["0.0", "1.7", "5.0", "11.7", "20.0"] * 2
    assert rows[4][2:] == ["8,192", "600 (-50 to 650)", "0.97", "0.70", "+212 |"]
    # 1,200 s are one quarter of an hour, which ends a little later: the mean of six matches.
    assert "| Seed | 0 to 15 min |" in quarters
    assert "| 0 | 0.40 (0.35 to 0.45) |" in quarters
    assert rows[-1][:4] == ["| 1", "20.0 min", "8,192", "700 (-50 to 650)"]
    assert (tmp_path / "figures" / "elo.png").exists()


def test_ablations_become_a_section(recorded, tmp_path):
    """With both seeds together: a win and a loss of each seed are no gain."""
    matches = [("slow", "fast", 0, 3, 1, 0, "no"), ("slow", "fast", 1, 1, 1, 2, "no")]
    matches += [("wide", "fast", 0, 1, 2, 1, "yes"), ("wide", "fast", 1, 0, 4, 0, "yes")]
    columns = ["change", "against", "seed", "wins", "draws", "losses", "kept"]
    facts = {"games": 4, "policy": "gumbel", "simulations": 32, "positions": 9000}
    facts |= {"measured": "in May"}
    frame = pd.DataFrame(matches, columns=columns)
    results.save(frame, tmp_path / "data" / "ablations" / "selfplay.csv", facts)
    page = "before\n<!-- ablations -->\nold\n<!-- /ablations -->\nafter\n"
    (tmp_path / "README.md").write_text(page)
    text = written(recorded, tmp_path, {})["ablations"]
    assert "| Change | Against | Seed 0 | Seed 1 | Elo | Kept |\n" in text
    slow, wide = (line for line in text.splitlines() if " | fast | " in line)
    assert slow.startswith("| slow | fast | 3, 1, 0 | 1, 1, 2 | +")
    assert wide.startswith("| wide | fast | 1, 2, 1 | 0, 4, 0 | +0 (-")
    assert wide.endswith(" | yes |")
    assert "9,000 positions" in text
    assert "in 4 games by Gumbel, 32 simulations a move" in text
    assert "95 % interval, in May (" in text


def test_changes_to_a_search_become_a_section(recorded, tmp_path):
    rows = [("deeper", "plain", 64, 150, 20, 30, "yes"), ("wider", "deeper", 8, 1, 2, 1, "no")]
    names = ["change", "against", "simulations", "wins", "draws", "losses", "kept"]
    path = tmp_path / "data" / "ablations" / "search.csv"
    results.save(pd.DataFrame(rows, columns=names), path, {"measured": "in May"})
    (tmp_path / "README.md").write_text("before\n<!-- searches -->\n<!-- /searches -->\nafter\n")
    text = written(recorded, tmp_path, {})["searches"]
    assert "| deeper | plain | 64 | 150, 20, 30 | 0.80 (0.74 to 0.85) | yes |" in text
    assert "| wider | deeper | 8 | 1, 2, 1 | 0.50 (0.15 to 0.85) | no |" in text
    assert "95 % intervals, in May (" in text


def test_strength_over_simulations_becomes_a_section(recorded, tmp_path):
    """Which rule is better is said only where the interval of their own match shows it."""
    rows = []
    equal = [*Evaluation(50, 100, 50).row().values()]
    for count, wins in ((4, 60), (64, 120), (256, None)):
        players = {policy: f"it, {policy}, {count}" for policy in ("gumbel", "puct")}
        for policy, player in players.items():
            rows += [(player, other, policy, count, *equal) for other in ("random", "weak")]
        if wins is not None:
            both = Evaluation(wins, 80, 120 - wins).row().values()
            rows.append((players["gumbel"], players["puct"], "gumbel", count, *both))
    strong = [*rating.ENGINES][-1]
    rows.append(("it, puct, 64", strong, "puct", 64, *Evaluation(20, 0, 180).row().values()))
    # Matches of two opponents are in the rating, and no row.
    rows += [("weak", other, None, None, *equal) for other in ("random", strong)]
    names = ["player", "opponent", "policy", "simulations", *Evaluation(1, 0, 0).row()]
    facts = {"agent": "it", "against": "weak", "engine": "Weak 1", "games": 200}
    path = tmp_path / "data" / "ablations" / "strength.csv"
    results.save(pd.DataFrame(rows, columns=names), path, facts)
    (tmp_path / "README.md").write_text("before\n<!-- strength -->\n<!-- /strength -->\nafter\n")
    text = written(recorded, tmp_path, {})["strength"]
    found = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    _, _, four, many, most, headings, _, stronger = found
    assert (four[0], *four[5:]) == ("4", "60, 80, 60", "within noise")
    assert (many[0], *many[5:]) == ("64", "120, 80, 0", "Gumbel")
    assert (most[0], *most[5:]) == ("256", "not played")
    assert four[1] == "0.50 (0.43 to 0.57)"
    assert int(many[2].split(" ")[0]) > int(four[2].split(" ")[0]) + 20
    assert "points a game against weak (Weak 1)" in text
    assert headings == ["Search", strong]
    assert stronger == ["PUCT, 64 simulations", "0.10 (0.07 to 0.15): 20, 0, 180"]


def test_a_recorded_waterfall_becomes_a_section(recorded, tmp_path):
    ideas = ["Python", "the step", "first", "bitboards", "C++"]
    columns = {"nanoseconds": 9.0, "relative": [1.0, 2, 3, 1, 0.5], "absolute": 1.0}
    table = pd.DataFrame({"racer": ideas, "idea": ideas} | columns)
    tables = {"17_waterfall.csv": table}
    text = written(recorded, tmp_path, tables, floor_nanoseconds=8.0, num_envs=512)["steps"]
    assert "2 versions in C++ of the same step. The largest single gain is 3×, by *first*" in text
    assert "| bitboards | 1× |" in text
    assert (tmp_path / "figures" / "steps.png").exists()


def test_recorded_learners_become_a_section(recorded, tmp_path):
    parts = {"generate": 0.001, "infer": 0.01, "backward": 0.1, "share": [0.05, 0.5]}
    columns = {"steps_per_second": [2e4, 2e5], "gain": [1.0, 10.0]} | parts
    rows = [
        (learner, seed, step, step / 1000, wins, 100)
        for learner, end in (("torch", 80), ("cpp", 95))
        for seed in (0, 1)
        for step, wins in ((10_000, 50), (20_000, end))
    ]
    names = ["learner", "seed", "steps", "seconds", "wins", "games"]
    tables = {
        "11_learners_table.csv": pd.DataFrame({"learner": ["torch", "cpp"]} | columns),
        "11_learners.csv": pd.DataFrame({"racer": ["torch"], "positions": 16384}),
        "11_curves.csv": pd.DataFrame(rows, columns=names),
    }
    text = written(recorded, tmp_path, tables)["learners-measured"]
    assert "updates of 16,384 steps" in text
    parts = "1 ms, 10 ms, 100 ms"
    assert f"| `torch` | 1× | 5.0% | {parts} |  | 80.0% (80.0% to 80.0%) |" in text
    assert f"| `cpp` | 10× | 50.0% | {parts} | 20 s, 2 of 2 seeds |" in text
    assert (tmp_path / "figures" / "wins.png").exists()


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


def ladder(folder, rates, **facts):
    rows = [(rung, 0, 8, "bool", int(rate), 1.0) for rung, rate in rates.items()]
    columns = ["racer", "repeat", "num_envs", "mask", "plies", "seconds"]
    results.save(pd.DataFrame(rows, columns=columns), folder / "07_race.csv", {})
    parameters = {"size": "full", "num_envs": 8, "mask": "bool"}
    results.save(pd.DataFrame({"rung": list(rates)}), folder / "07_ladder.csv", parameters)
    text = (folder / "07_ladder.csv").read_text()
    for name, value in facts.items():
        before = results.load(folder / "07_ladder.csv").attrs["provenance"][name]
        text = text.replace(f"# {name}: {before}\n", f"# {name}: {value}\n")
    (folder / "07_ladder.csv").write_text(text)


def test_machines_stand_side_by_side_and_the_readers_first(tmp_path):
    at = tmp_path / "data" / "recorded"
    ladder(at / "small", {"python": 5e3, "cpp": 5e6}, machine="Small", cores=2, gpu=None)
    ladder(at / "large", {"cpp": 2e7}, machine="Large", cores=64, gpu=None)
    gains = pd.DataFrame({"peer": ["Slow", "Slow"], "gain": [20.0, 10.0]})
    results.save(gains, at / "large" / "12_gains.csv", {})
    alone = machines.side_by_side(tmp_path)
    kind = f", {name}" if (name := describe()["microarchitecture"]) != "unknown" else ""
    assert f"| machine | 64 cores of Large{kind} | 2 cores of Small{kind} |" in alone
    assert "| `cpp`, plies/s | 20 M/s | 5 M/s |" in alone
    assert "| `python`, plies/s |  | 5 k/s |" in alone
    assert "| times as fast as Slow | 10× |  |" in alone
    ladder(tmp_path / "run" / "results", {"cpp": 1e7}, machine="Mine", cores=4, gpu=None)
    compared = machines.side_by_side(tmp_path, tmp_path / "run")
    assert "that of `small`, the recorded machine with the nearest number of cores" in compared
    assert "| `cpp`, plies/s | 10 M/s | 20 M/s | 5 M/s | 2× |" in compared
    own = slug_of(describe() | {"cores": 4})
    ladder(at / own, {"cpp": 2e7}, machine="Mine", cores=4, gpu=None)
    compared = machines.side_by_side(tmp_path, tmp_path / "run")
    assert f"that of `{own}`, the recorded machine with the same name" in compared
    page = machines.filled("a\n<!-- machines -->\nold\n<!-- /machines -->\nb\n", tmp_path)
    assert page.startswith("a\n<!-- machines -->\n| ")
    assert page.endswith("|\n<!-- /machines -->\nb\n")
    assert "old" not in page
