# says: where there are three nodes
import numpy as np


def scores(prior, visits, value_sum, c):
    return value_sum / np.maximum(visits, 1) + c * prior * np.sqrt(visits.sum()) / (1 + visits)
