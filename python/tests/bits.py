"""Bits of arrays: of what is no number each processor has its own, and one stands for all here."""

import numpy as np


def bits(array):
    """The bytes of an array of real samples."""
    array = np.array(array)
    array[np.isnan(array)] = np.nan
    return array.tobytes()


def same(ours, theirs):
    """Whether arrays have the same type, shape and bits: a zero has a sign."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return ours.dtype == theirs.dtype and ours.shape == theirs.shape and bits(ours) == bits(theirs)
