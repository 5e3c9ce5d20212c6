"""Multiresolution analysis: data as a sum of each level's contribution."""

from functools import reduce

import numpy as np

from ._dwt import as_array, as_samples, normal_axes, wavelets_per_axis
from ._multilevel import wavedec, wavedec2, wavedecn, waverec, waverec2, waverecn
from ._swt import iswt, iswt2, iswtn, swt, swt2, swt_max_level, swtn, warn_norm


def _forms(transform, stationary, decimated, mode, wavelets):
    """The pair of transforms, the arguments of both, and those of the forward one only."""
    names = (stationary[0].__name__, stationary[0].__name__.replace("swt", "dwt"))
    if transform not in names:
        raise ValueError(f"unknown transform {transform!r}; choose one of {', '.join(names)}")
    if transform == names[0]:
        if mode != "periodization":
            raise ValueError(f"{transform} supports only the mode periodization, not {mode!r}")
        if not all(w.orthogonal for w in wavelets):
            warn_norm(wavelets, stacklevel=5)
        return (*stationary, {"norm": True}, {"trim_approx": True})
    return (*decimated, {"mode": mode}, {})


def mra(data, wavelet, level=None, axis=-1, transform="swt", mode="periodization"):
    """Splits data along an axis into a list of arrays, coarsest first; `imra` adds them up again.

    >>> bool(np.allclose(imra(mra([1.0, 2, 3, 5, 8, 13, 21, 34], "db2", 2)), [1, 2, 3, 5, 8, 13, 21, 34]))
    True
    """
    data = as_samples(data)
    wavelets = wavelets_per_axis(wavelet, (axis,))
    forward, inverse, both, ahead = _forms(transform, (swt, iswt), (wavedec, waverec), mode, wavelets)
    coeffs = forward(data, wavelets[0], level=level, axis=axis, **both, **ahead)
    cut = tuple(slice(n) for n in data.shape)
    alone = [[c if i == j else np.zeros_like(c) for j, c in enumerate(coeffs)] for i in range(len(coeffs))]
    return [inverse(one, wavelets[0], axis=axis, **both)[cut] for one in alone]


def _sum(parts):
    return reduce(lambda total, part: total + part, map(as_array, parts))


def imra(mra_coeffs):
    """Inverse of `mra`: the sum of its arrays."""
    return _sum(mra_coeffs)


def mra2(data, wavelet, level=None, axes=(-2, -1), transform="swt2", mode="periodization"):
    """Multiresolution analysis along two axes: ``[cA, (cH, cV, cD), …]``, each an array of the data's shape."""
    data = as_samples(data)
    wavelets = wavelets_per_axis(wavelet, axes)
    forward, inverse, both, ahead = _forms(transform, (swt2, iswt2), (wavedec2, waverec2), mode, wavelets)
    if level is None and transform == "swt2":
        level = _stationary_levels(data, axes)
    coeffs = forward(data, wavelets, level=level, axes=axes, **both, **ahead)
    cut = tuple(slice(n) for n in data.shape)
    zeros = [np.zeros_like(coeffs[0])] + [tuple(np.zeros_like(c) for c in level) for level in coeffs[1:]]

    def alone(place, part, value):
        one = list(zeros)
        one[place] = value if part is None else tuple(value if i == part else z for i, z in enumerate(zeros[place]))
        return inverse(one, wavelets, axes=axes, **both)[cut]

    details = [tuple(alone(i, p, c) for p, c in enumerate(level)) for i, level in enumerate(coeffs[1:], 1)]
    return [alone(0, None, coeffs[0]), *details]


def imra2(mra_coeffs):
    """Inverse of `mra2`: the sum of its arrays."""
    return _sum([mra_coeffs[0], *(part for level in mra_coeffs[1:] for part in level)])


def mran(data, wavelet, level=None, axes=None, transform="swtn", mode="periodization"):
    """Multiresolution analysis along several axes: ``[cA, {'ad': …}, …]``, each an array of the data's shape."""
    data = as_samples(data)
    axes = tuple(range(data.ndim) if axes is None else axes)
    wavelets = wavelets_per_axis(wavelet, axes)
    forward, inverse, both, ahead = _forms(transform, (swtn, iswtn), (wavedecn, waverecn), mode, wavelets)
    if level is None and transform == "swtn":
        level = _stationary_levels(data, axes)
    coeffs = forward(data, wavelets, level=level, axes=axes, **both, **ahead)
    cut = tuple(slice(n) for n in data.shape)
    zeros = [np.zeros_like(coeffs[0])] + [{k: np.zeros_like(c) for k, c in level.items()} for level in coeffs[1:]]

    def alone(place, key, value):
        one = list(zeros)
        one[place] = value if key is None else {**zeros[place], key: value}
        return inverse(one, wavelets, axes=axes, **both)[cut]

    details = [{key: alone(i, key, c) for key, c in level.items()} for i, level in enumerate(coeffs[1:], 1)]
    return [alone(0, None, coeffs[0]), *details]


def imran(mra_coeffs):
    """Inverse of `mran`: the sum of its arrays."""
    return _sum([mra_coeffs[0], *(part for level in mra_coeffs[1:] for part in level.values())])


def _stationary_levels(data, axes):
    return min(swt_max_level(data.shape[axis]) for axis in normal_axes(axes, data.ndim))
