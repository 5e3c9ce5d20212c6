"""The integer wavelet transform of CCSDS 122.0-B-2, section 3.3: the equations as printed, with their own equations for
the ends of a line. Rows first, then columns; sides are even at every level."""

from fractions import Fraction as F
from math import floor

import numpy as np


def line(x):
    """Low then high coefficients of 2N samples."""
    n = len(x) // 2
    half = F(1, 2)
    d = [0] * n
    d[0] = x[1] - floor(F(9, 16) * (x[0] + x[2]) - F(1, 16) * (x[2] + x[4]) + half)
    for j in range(1, n - 2):
        d[j] = x[2 * j + 1] - floor(F(9, 16) * (x[2 * j] + x[2 * j + 2]) - F(1, 16) * (x[2 * j - 2] + x[2 * j + 4]) + half)
    d[n - 2] = x[2 * n - 3] - floor(F(9, 16) * (x[2 * n - 4] + x[2 * n - 2]) - F(1, 16) * (x[2 * n - 6] + x[2 * n - 2]) + half)
    d[n - 1] = x[2 * n - 1] - floor(F(9, 8) * x[2 * n - 2] - F(1, 8) * x[2 * n - 4] + half)
    c = [x[0] - floor(-F(1, 2) * d[0] + half)]
    c += [x[2 * j] - floor(-F(1, 4) * (d[j - 1] + d[j]) + half) for j in range(1, n)]
    return c + d


def analysis(picture, depth):
    out = np.array(picture, dtype=np.int64)
    h, w = out.shape
    for _ in range(depth):
        for y in range(h):
            out[y, :w] = line(out[y, :w].tolist())
        for x in range(w):
            out[:h, x] = line(out[:h, x].tolist())
        h, w = h // 2, w // 2
    return out
