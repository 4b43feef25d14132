import numpy as np


def scores(prior, visits, value_sum, c):
    """Returns the score of every move of every node, (N, K)."""
    wish = prior / (1 + visits)
    wish *= c * np.sqrt(visits.sum(axis=1, keepdims=True))
    wish += value_sum / np.maximum(visits, 1)  # both are 0 where there were no visits
    return wish
