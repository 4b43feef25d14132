"""Faults in self-play: outcomes, what is kept, ratings, matches."""

from tests.mutants.mutant import Mutant

GAMES = ("tests/selfplay/test_games.py",)
BUFFER = ("tests/selfplay/test_buffer.py",)
ELO = ("tests/selfplay/test_elo.py",)
MATCHES = ("tests/selfplay/test_matches.py",)
LEARNING = ("tests/selfplay/test_learning.py",)

MUTANTS = [
    Mutant(
        "outcome-of-the-other-side",
        "lib/rungs/selfplay/games.py",
        "mine = (ply[last] - waiting.ply) % 2 == 0",
        "mine = (ply[last] - waiting.ply) % 2 == 1",
        "who lost is told that it won",
        GAMES,
    ),
    Mutant(
        "outcome-of-the-next-game",
        "lib/rungs/selfplay/games.py",
        "found = np.searchsorted(keys, waiting.board * far + waiting.ply)",
        'found = np.searchsorted(keys, waiting.board * far + waiting.ply, "right")',
        "a game's last position has the outcome of the next game",
        GAMES,
    ),
    Mutant(
        "outcome-of-another-board",
        "lib/rungs/selfplay/games.py",
        "over = (found < len(order)) & (board[last] == waiting.board)",
        "over = found < len(order)",
        "a game that goes on has the outcome of another board's",
        GAMES,
    ),
    Mutant(
        "waiting-positions-forgotten",
        "lib/rungs/selfplay/games.py",
        "parts, ends, counts = [self._waiting], [], Counter",
        "parts, ends, counts = [], [], Counter",
        "a game's positions before this update are lost",
        GAMES,
    ),
    Mutant(
        "checksum-not-looked-at",
        "lib/rungs/selfplay/buffer.py",
        "if hashlib.sha256(data).digest() != found:",
        "if len(data) == 0:",
        "a changed shard is believed",
        BUFFER,
    ),
    Mutant(
        "lost-updates-kept",
        "lib/rungs/selfplay/buffer.py",
        "self._forget(lambda number: not first <= number <= updates)",
        "self._forget(lambda number: number < first)",
        "positions of lost updates stay",
        BUFFER,
    ),
    Mutant(
        "window-one-longer",
        "lib/rungs/selfplay/buffer.py",
        "self.shards.pop(self.updates - self.window, None)",
        "self.shards.pop(self.updates - self.window - 1, None)",
        "an update more is learnt from than was asked for",
        BUFFER,
    ),
    Mutant(
        "prior-to-one-side",
        "lib/rungs/selfplay/elo.py",
        "won = points + prior / 2",
        "won = points + np.triu(prior)",
        "the prior's draws are wins of whoever was named first",
        ELO,
    ),
    Mutant(
        "intervals-without-curvature",
        "lib/rungs/selfplay/elo.py",
        "weight = games * share * share.T",
        "weight = games * share",
        "ratings come out the same, and intervals too narrow",
        ELO,
    ),
    Mutant(
        "black-is-paid-for-white",
        "lib/rungs/selfplay/matches.py",
        "points = (1 + sign * float(reward[game])) / 2",
        "points = (1 + float(reward[game])) / 2",
        "who mates as Black has lost",
        MATCHES,
    ),
    Mutant(
        "entropy-left-in",
        "lib/rungs/selfplay/learning.py",
        "- torch.special.entr(target).sum(1)",
        "+ 0 * torch.special.entr(target).sum(1)",
        "the loss says how uncertain search was, too",
        LEARNING,
    ),
    Mutant(
        "search-is-not-learnt",
        "cpp/learn/search_loss.hpp",
        "(likely.probability[i] - target[i]) * each",
        "likely.probability[i] * each",
        "C++ learns to play nothing, whatever search found",
        LEARNING,
    ),
    Mutant(
        "values-learn-half",
        "cpp/learn/search_loss.hpp",
        "static_cast<T>(2 * batch_.vf_coef)",
        "static_cast<T>(batch_.vf_coef)",
        "in C++ the value's error counts for half of what was asked",
        LEARNING,
    ),
    Mutant(
        "ranks-keep-their-weights",
        "lib/rungs/selfplay/together.py",
        "network.load_state_dict(self.ranks.agree(network.state_dict))",
        "self.ranks.agree(network.state_dict)",
        "other ranks play by weights that have learnt nothing",
        ("tests/selfplay/test_together.py",),
    ),
]
