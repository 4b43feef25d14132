# says: where a move was not visited yet
import numpy as np


def scores(prior, visits, value_sum, c):
    with np.errstate(all="ignore"):
        value = value_sum / visits
    return value + c * prior * np.sqrt(visits.sum(axis=1, keepdims=True)) / (1 + visits)
