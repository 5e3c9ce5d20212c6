"""VC-2 wavelets as SMPTE ST 2042-1 defines them (section 15.4): by the lifting stages of SYNTHESIS.

Written from the standard's own pseudocode: stage types 1 to 4, taps with a length L and a start D, the position clamped to the
line, vertical synthesis before horizontal, the filter bit shift last. Analysis undoes it stage by stage, backwards.
"""

import numpy as np

# Stages (type, S, L, D, taps) in the order of synthesis, and the filter bit shift: Table 15.* of the standard.
FILTERS = {
    "dd97": ([(2, 2, 2, 0, [1, 1]), (3, 4, 4, -1, [-1, 9, 9, -1])], 1),
    "legall53_vc2": ([(2, 2, 2, 0, [1, 1]), (3, 1, 2, 0, [1, 1])], 1),
    "dd137": ([(2, 5, 4, -1, [-1, 9, 9, -1]), (3, 4, 4, -1, [-1, 9, 9, -1])], 1),
    "haar_vc2_0": ([(2, 1, 1, 1, [1]), (3, 0, 1, 0, [1])], 0),
    "haar_vc2_1": ([(2, 1, 1, 1, [1]), (3, 0, 1, 0, [1])], 1),
    "fidelity": ([(3, 8, 8, -3, [-2, 10, -25, 81, 81, -25, 10, -2]),
                  (2, 8, 8, -3, [-8, 21, -46, 161, 161, -46, 21, -8])], 0),
    "daubechies97": ([(2, 12, 2, 0, [1817, 1817]), (4, 12, 2, 0, [3616, 3616]),
                      (1, 12, 2, 0, [217, 217]), (3, 12, 2, 0, [6497, 6497])], 1),
}


def stage(a, kind, s, length, d, taps):
    """One stage on a list in place. Types 1 and 2 change even samples (+, −), types 3 and 4 odd ones (+, −)."""
    for n in range(len(a) // 2):
        total = 0
        for i in range(d, length + d):
            if kind in (1, 2):
                at = max(min(2 * (n + i) - 1, len(a) - 1), 1)
            else:
                at = max(min(2 * (n + i), len(a) - 2), 0)
            total += taps[i - d] * a[at]
        if s > 0:
            total += 1 << (s - 1)
        total >>= s
        target = 2 * n if kind in (1, 2) else 2 * n + 1
        a[target] += total if kind in (1, 3) else -total


def line_synthesis(a, stages):
    for kind, *rest in stages:
        stage(a, kind, *rest)


def line_analysis(a, stages):
    for kind, *rest in reversed(stages):
        stage(a, {1: 2, 2: 1, 3: 4, 4: 3}[kind], *rest)


def each_row(image, f, stages):
    for y in range(image.shape[0]):
        row = [int(v) for v in image[y]]
        f(row, stages)
        image[y] = row


def synthesis(coefficients, name, depth):
    """From Mallat layout to the picture."""
    stages, shift = FILTERS[name]
    out = np.array(coefficients, dtype=np.int64)
    for level in reversed(range(depth)):
        h, w = out.shape[0] >> level, out.shape[1] >> level
        bands = out[:h, :w]
        a = np.zeros((h, w), dtype=np.int64)
        a[0::2, 0::2], a[0::2, 1::2] = bands[: h // 2, : w // 2], bands[: h // 2, w // 2:]
        a[1::2, 0::2], a[1::2, 1::2] = bands[h // 2:, : w // 2], bands[h // 2:, w // 2:]
        each_row(a.T, line_synthesis, stages)
        each_row(a, line_synthesis, stages)
        if shift:
            a = (a + (1 << (shift - 1))) >> shift
        out[:h, :w] = a
    return out


def analysis(picture, name, depth):
    """From the picture, whose sides are multiples of 2^depth, to Mallat layout."""
    stages, shift = FILTERS[name]
    out = np.array(picture, dtype=np.int64)
    for level in range(depth):
        h, w = out.shape[0] >> level, out.shape[1] >> level
        a = out[:h, :w] << shift
        each_row(a, line_analysis, stages)
        each_row(a.T, line_analysis, stages)
        out[: h // 2, : w // 2], out[: h // 2, w // 2: w] = a[0::2, 0::2], a[0::2, 1::2]
        out[h // 2: h, : w // 2], out[h // 2: h, w // 2: w] = a[1::2, 0::2], a[1::2, 1::2]
    return out
