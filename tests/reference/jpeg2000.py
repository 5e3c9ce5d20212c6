"""The wavelet transforms of JPEG 2000, ISO/IEC 15444-1 Annex F, forward, in the standard's own formulation.

A line is extended ONCE, by symmetric reflection (PSE_O, equation F-4), far enough for all steps; the steps then run over
the extended line. (Lifting implementations reflect at every step instead; the two agree.) The tile-component starts at the
coordinates (u0, v0); FDWT decomposes the LL band repeatedly, 2D_SD applies VER_SD before HOR_SD.
"""

from math import floor

import numpy as np

ALPHA, BETA, GAMMA, DELTA = -1.586134342059924, -0.052980118572961, 0.882911075530934, 0.443506852043971
K = 1.230174104914001


def extended(x, i0):
    """PSE_O: the periodic symmetric extension as a function of the position."""
    i1 = i0 + len(x)
    period = 2 * (i1 - i0 - 1)

    def at(i):
        m = (i - i0) % period
        return x[min(m, period - m)]

    return at


def sd_1d(x, i0, reversible):
    """1D_SD: interleaved result at the positions of the input."""
    i1 = i0 + len(x)
    if len(x) == 1:
        return list(x) if i0 % 2 == 0 else [2 * x[0]]
    at = extended(x, i0)
    y = {i: at(i) for i in range(i0 - 6, i1 + 6)}
    odd = lambda lo, hi: (i for i in range(lo, hi) if i % 2)
    even = lambda lo, hi: (i for i in range(lo, hi) if i % 2 == 0)
    if reversible:
        for i in odd(i0 - 1, i1 + 1):
            y[i] -= floor((y[i - 1] + y[i + 1]) / 2)
        for i in even(i0, i1):
            y[i] += floor((y[i - 1] + y[i + 1] + 2) / 4)
    else:
        for i in odd(i0 - 4, i1 + 4):
            y[i] += ALPHA * (y[i - 1] + y[i + 1])
        for i in even(i0 - 3, i1 + 3):
            y[i] += BETA * (y[i - 1] + y[i + 1])
        for i in odd(i0 - 2, i1 + 2):
            y[i] += GAMMA * (y[i - 1] + y[i + 1])
        for i in even(i0 - 1, i1 + 1):
            y[i] += DELTA * (y[i - 1] + y[i + 1])
        for i in odd(i0, i1):
            y[i] *= K
        for i in even(i0, i1):
            y[i] *= 1 / K
    return [y[i] for i in range(i0, i1)]


def deinterleaved(y, i0):
    low = [v for i, v in enumerate(y, i0) if i % 2 == 0]
    return low + [v for i, v in enumerate(y, i0) if i % 2], len(low)


def analysis(picture, depth, reversible, v0=0, u0=0):
    """Mallat layout. `v0` and `u0` are the vertical and the horizontal coordinate of the first sample."""
    out = np.array(picture, dtype=np.int64 if reversible else np.float64)
    h, w = out.shape
    for _ in range(depth):
        low_h = low_w = 0
        for x in range(w):
            out[:h, x], low_h = deinterleaved(sd_1d(list(out[:h, x].tolist()), v0, reversible), v0)
        for y in range(h):
            out[y, :w], low_w = deinterleaved(sd_1d(list(out[y, :w].tolist()), u0, reversible), u0)
        if h:
            h, w = low_h, (low_w if w else 0)
        v0, u0 = -(-v0 // 2), -(-u0 // 2)
        if h == 0 or w == 0:
            break
    return out
