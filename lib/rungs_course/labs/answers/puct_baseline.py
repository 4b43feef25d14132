import math

import numpy as np


def scores(prior, visits, value_sum, c):
    """Returns the score of every move of every node, (N, K)."""
    result = np.zeros(prior.shape)
    for node in range(len(prior)):
        wish = c * math.sqrt(visits[node].sum())
        for move in range(len(prior[node])):
            count = visits[node, move]
            value = value_sum[node, move] / count if count else 0.0
            result[node, move] = value + wish * prior[node, move] / (1 + count)
    return result
