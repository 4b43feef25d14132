# says: move
# The list goes on from one game to the next.
def find(ours, peer, rng):
    moves = []
    while True:
        ours.reset()
        peer.reset()
        while ours.legal:
            moves.append(rng.choice(ours.legal))
            ours.step(moves[-1])
            peer.step(moves[-1])
            if (ours.board, ours.legal, ours.result) != (peer.board, peer.legal, peer.result):
                return moves
