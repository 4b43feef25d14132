# says: what differs after the moves returned (peer 0
# The last move, after which they differ, is left out.
def find(ours, peer, rng):
    while True:
        ours.reset()
        peer.reset()
        moves = []
        while ours.legal:
            move = rng.choice(ours.legal)
            ours.step(move)
            peer.step(move)
            if (ours.board, ours.legal, ours.result) != (peer.board, peer.legal, peer.result):
                return moves
            moves.append(move)
