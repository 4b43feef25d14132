# says: the ply after which our game and that of peer 4 first differ
# What stands on the board is not compared: a bishop for a knight is noticed too late.
def find(ours, peer, rng):
    while True:
        ours.reset()
        peer.reset()
        moves = []
        while ours.legal:
            moves.append(rng.choice(ours.legal))
            ours.step(moves[-1])
            peer.step(moves[-1])
            if ours.legal != peer.legal:
                return moves
