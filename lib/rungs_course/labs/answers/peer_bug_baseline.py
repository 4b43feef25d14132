def find(ours, peer, rng):
    """Returns the moves after which two games differ for the first time."""
    while True:
        ours.reset()
        peer.reset()
        moves = []
        while ours.legal:
            moves.append(rng.choice(ours.legal))
            ours.step(moves[-1])
            peer.step(moves[-1])
            if state(ours) != state(peer):
                return moves


def state(game):
    """Returns all that there is to compare."""
    return game.board, game.legal, game.result
