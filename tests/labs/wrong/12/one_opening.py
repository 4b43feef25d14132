# says: plies until a bug of peer 0 was found: expected at most 5,000, but it is more
# Games that are all the same find what one of them would.
def find(ours, peer, rng):
    while True:
        ours.reset()
        peer.reset()
        moves = []
        while ours.legal and len(moves) < 20:
            moves.append(ours.legal[0])
            ours.step(moves[-1])
            peer.step(moves[-1])
            if (ours.board, ours.legal, ours.result) != (peer.board, peer.legal, peer.result):
                return moves
