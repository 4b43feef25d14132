"""Faults in the versions of one step."""

from tests.mutants.mutant import Mutant

TREES = ("tests/chess/test_steps.py::TestVersion::test_it_counts_trees_as_published",)
ENDS = ("tests/chess/test_steps.py::test_mate_and_stalemate_are_told",)

MUTANTS = [
    Mutant(
        "version-castles-through-attack",
        "cpp/course/step_mailbox.hpp",
        "return !hangs(passed) && is_safe(Move::between(move.from, (move.from + move.to) / 2));",
        "return !hangs(passed);",
        "on a mailbox a king castles over an attacked square",
        TREES,
    ),
    Mutant(
        "version-looks-for-pawns-behind",
        "cpp/course/step_mailbox.hpp",
        "beside(square, east, by_black ? 1 : -1)",
        "beside(square, east, by_black ? -1 : 1)",
        "pawns attack backwards",
        TREES,
    ),
    Mutant(
        "version-captured-en-passant-stays",
        "cpp/course/step_bitboards.hpp",
        "if (type == PAWN && move.to == en_passant) theirs[PAWN] &= ~(black ? to << 8 : to >> 8);",
        "",
        "a pawn that was taken en passant stays on the board",
        TREES,
    ),
    Mutant(
        "version-ray-from-the-wrong-end",
        "cpp/course/step_bitboards.hpp",
        "const bool up = way <= chess::E || way == chess::NW;",
        "const bool up = way <= chess::NE || way == chess::NW;",
        "to the east the last piece of a line stops a slider, not the first",
        TREES,
    ),
    Mutant(
        "version-pin-ignored",
        "cpp/course/step_bitboards.hpp",
        "return pinned >> from & 1 ? check_mask & line[from] : check_mask;",
        "return check_mask;",
        "a pinned piece leaves its line",
        TREES,
    ),
    Mutant(
        "version-king-shields-itself",
        "cpp/course/step_planes.hpp",
        "attacks |= behind;",
        "",
        "a king in check steps back along the line of the check",
        TREES,
    ),
    Mutant(
        "version-rights-stay-when-turned",
        "cpp/course/step_planes.hpp",
        "rights = static_cast<std::uint8_t>(rights >> 2 | (rights & 3) << 2);",
        "",
        "rights to castle don't change hands with the board",
        TREES,
    ),
    Mutant(
        "version-mate-untold",
        "cpp/course/step_planes.hpp",
        "env::write_mask(legal, env::MaskFormat::BOOL, false, mask);\n"
        "    return outcome(found.any, found.check);",
        "env::write_mask(legal, env::MaskFormat::BOOL, false, mask);\n"
        "    return outcome(true, found.check);",
        "a game without legal moves goes on",
        ENDS,
    ),
]
