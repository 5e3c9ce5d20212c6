"""Multiresolution analysis: data as a sum of each level's contribution."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._dwt import as_array, as_samples, normal_axes, wavelets_per_axis
from ._multilevel import wavedec, wavedec2, wavedecn, waverec, waverec2, waverecn
from ._swt import iswt, iswt2, iswtn, swt, swt2, swt_max_level, swtn, warn_norm
from ._types import Array, ModeLike, ModesLike, WaveletLike, Wavelets


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


def mra(
    data: ArrayLike,
    wavelet: WaveletLike,
    level: int | None = None,
    axis: int = -1,
    transform: str = "swt",
    mode: ModeLike = "periodization",
) -> list[Array]:
    """Splits data along an axis into a list of arrays, coarsest first; `imra` adds them up again.

    Parameters
    ----------
    data : array_like
        Data.
    wavelet : str or Wavelet
        Wavelet.
    level : int, optional
        Number of levels, by default the largest useful one.
    axis : int, optional
        Axis to transform.
    transform : {'swt', 'dwt'}, optional
        Stationary or decimated transform.
    mode : str or int, optional
        Extension of the data; stationary transforms take only ``periodization``.

    Returns
    -------
    list of numpy.ndarray
        Parts of the data's shape, coarsest first.

    Examples
    --------
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


def imra(mra_coeffs: Sequence[Any]) -> Array:
    """Inverse of `mra`: the sum of its arrays.

    Parameters
    ----------
    mra_coeffs : list
        Arrays, as the forward function returns them.

    Returns
    -------
    numpy.ndarray
        Data.
    """
    return _sum(mra_coeffs)


def mra2(
    data: ArrayLike,
    wavelet: Wavelets,
    level: int | None = None,
    axes: Sequence[int] = (-2, -1),
    transform: str = "swt2",
    mode: ModesLike = "periodization",
) -> list[Any]:
    """Multiresolution analysis along two axes: ``[cA, (cH, cV, cD), …]``, each an array of the data's shape.

    Parameters
    ----------
    data : array_like
        Data.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    level : int, optional
        Number of levels, by default the largest useful one.
    axes : pair of int, optional
        The two axes to transform.
    transform : {'swt2', 'dwt2'}, optional
        Stationary or decimated transform.
    mode : str or int, or sequence of them, optional
        Extension of the data; stationary transforms take only ``periodization``.

    Returns
    -------
    list
        Parts of the data's shape, in the form of `wavedec2`.
    """
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


def imra2(mra_coeffs: Sequence[Any]) -> Array:
    """Inverse of `mra2`: the sum of its arrays.

    Parameters
    ----------
    mra_coeffs : list
        Arrays, as the forward function returns them.

    Returns
    -------
    numpy.ndarray
        Data.
    """
    return _sum([mra_coeffs[0], *(part for level in mra_coeffs[1:] for part in level)])


def mran(
    data: ArrayLike,
    wavelet: Wavelets,
    level: int | None = None,
    axes: int | Sequence[int] | None = None,
    transform: str = "swtn",
    mode: ModesLike = "periodization",
) -> list[Any]:
    """Multiresolution analysis along several axes: ``[cA, {'ad': …}, …]``, each an array of the data's shape.

    Parameters
    ----------
    data : array_like
        Data.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    level : int, optional
        Number of levels, by default the largest useful one.
    axes : sequence of int, optional
        Axes to transform, all by default.
    transform : {'swtn', 'dwtn'}, optional
        Stationary or decimated transform.
    mode : str or int, or sequence of them, optional
        Extension of the data; stationary transforms take only ``periodization``.

    Returns
    -------
    list
        Parts of the data's shape, in the form of `wavedecn`.
    """
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


def imran(mra_coeffs: Sequence[Any]) -> Array:
    """Inverse of `mran`: the sum of its arrays.

    Parameters
    ----------
    mra_coeffs : list
        Arrays, as the forward function returns them.

    Returns
    -------
    numpy.ndarray
        Data.
    """
    return _sum([mra_coeffs[0], *(part for level in mra_coeffs[1:] for part in level.values())])


def _stationary_levels(data, axes):
    return min(swt_max_level(data.shape[axis]) for axis in normal_axes(axes, data.ndim))
