import chess


def find(ours, peer, rng):
    """Returns the moves after which two games differ for the first time."""
    while True:
        ours.reset()
        peer.reset()
        moves = []
        # Short games: what is rare in this one may come soon in the next.
        while ours.legal and len(moves) < 60:
            moves.append(chosen(ours, rng))
            ours.step(moves[-1])
            peer.step(moves[-1])
            if state(ours) != state(peer):
                return moves


def state(game):
    """Returns all that there is to compare."""
    return game.board, game.legal, game.result


def chosen(game, rng):
    """Returns a move at random, such as special rules are about the likelier."""
    board = chess.Board(game.board)
    weights = []
    for move in map(chess.Move.from_uci, game.legal):
        piece = board.piece_type_at(move.from_square)
        weight = 5.0 if piece == chess.PAWN else 1.0  # en passant, promotions
        if board.is_capture(move):
            weight *= 4  # open lines, and games that end
        if piece == chess.KING and board.castling_rights:
            weight *= 0.2  # who has moved can't castle
        weights.append(weight)
    return rng.choices(game.legal, weights)[0]
