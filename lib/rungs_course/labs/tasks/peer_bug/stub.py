def find(ours, peer, rng):
    """Returns the moves after which two games differ for the first time."""
    # One game at random, and only who won is compared.
    moves = []
    while ours.legal:
        moves.append(rng.choice(ours.legal))
        ours.step(moves[-1])
        peer.step(moves[-1])
        if ours.result != peer.result:
            break
    return moves
