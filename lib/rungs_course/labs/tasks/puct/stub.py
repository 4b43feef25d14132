def scores(prior, visits, value_sum, c):
    """Returns the score of every move of every node, (N, K)."""
    # As if a node had been visited only by way of the move itself.
    return value_sum / visits + c * prior * visits**0.5 / (1 + visits)
