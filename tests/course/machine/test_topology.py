"""What the system reports, read from a system of our own."""

import pytest

from rungs._src.machine.known import microarchitecture
from rungs_course.machine.topology import Cache, caches, topology


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")


def cache(level, kind, size, ways, shared):
    return {
        f"cache/index{level}{kind[0]}/{name}": value
        for name, value in {
            "level": level,
            "type": kind,
            "size": f"{size}K",
            "ways_of_associativity": ways,
            "coherency_line_size": 64,
            "shared_cpu_list": shared,
        }.items()
    }


def test_caches_for_data_nearest_first(tmp_path):
    write(tmp_path, cache(3, "Unified", 32768, 16, "0-7,16-23"))
    write(tmp_path, cache(1, "Instruction", 32, 8, "0,16"))
    write(tmp_path, cache(1, "Data", 32, 8, "0,16"))
    assert caches(tmp_path) == [
        Cache(1, 32 * 1024, 8, 64, 2),
        Cache(3, 32 * 1024 * 1024, 16, 64, 16),
    ]


def test_a_cache_of_which_too_little_is_reported_is_left_out(tmp_path):
    write(tmp_path, cache(1, "Data", 32, 8, "0"))
    write(tmp_path, cache(2, "Unified", 1024, 16, "0"))
    (tmp_path / "cache/index2U/ways_of_associativity").unlink()
    assert [each.level for each in caches(tmp_path)] == [1]


def test_what_is_not_reported_is_unknown(tmp_path):
    facts = topology(tmp_path).set_index("fact")
    assert facts.loc["clock governor", "value"] == "unknown"
    assert facts.loc["threads per core", "value"] == "unknown"
    assert int(facts.loc["cores this process may use", "value"]) >= 1
    assert not any("cache" in fact for fact in facts.index)
    write(tmp_path, {"cpufreq/scaling_governor": "performance"})
    assert topology(tmp_path).set_index("fact").loc["clock governor", "value"] == "performance"


@pytest.mark.parametrize(
    ("vendor", "family", "model", "name", "flops"),
    [
        ("AuthenticAMD", 0x17, 0x01, "Zen", None),
        ("AuthenticAMD", 0x17, 0x31, "Zen 2", 4),
        ("AuthenticAMD", 0x19, 0x01, "Zen 3", 4),
        ("AuthenticAMD", 0x19, 0x11, "Zen 4", 2),
        ("AuthenticAMD", 0x1A, 0x02, "Zen 5", 4),
        ("AuthenticAMD", 0x1A, 0x24, "Zen 5", None),
        ("GenuineIntel", 6, 0x3F, "Haswell", 4),
        ("GenuineIntel", 6, 0x4F, "Broadwell", 4),
        ("GenuineIntel", 6, 0x8F, "Sapphire Rapids", 4),
    ],
)
def test_processors_that_are_known(vendor, family, model, name, flops):
    identity = {"cpu_vendor": vendor, "cpu_family": family, "cpu_model": model}
    known = microarchitecture(identity)
    assert (known.name, known.flops_per_lane) == (name, flops)


@pytest.mark.parametrize(
    "identity",
    [("GenuineIntel", 6, 1), ("AuthenticAMD", 6, 0x8F), (None, None, None)],
)
def test_a_processor_that_is_not_known_is_not_guessed_at(identity):
    names = ("cpu_vendor", "cpu_family", "cpu_model")
    assert microarchitecture(dict(zip(names, identity, strict=True))) is None
