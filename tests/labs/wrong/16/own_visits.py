# says: the score of move 0 of node 0, where every move was visited
import numpy as np


def scores(prior, visits, value_sum, c):
    return value_sum / np.maximum(visits, 1) + c * prior * np.sqrt(visits) / (1 + visits)
