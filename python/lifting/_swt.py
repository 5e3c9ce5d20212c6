"""Stationary (undecimated) transforms: decimated transforms of all shifts.

Coefficient i of a level is coefficient ⌊i/2⌋ of the periodized transform that starts at sample i mod 2. At level j the
same holds for every 2^(j−1)-th sample.
"""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.exceptions import AxisError
from numpy.typing import ArrayLike

from . import _dwt
from ._cache import cached
from ._dwt import as_samples, check_dtype, normal_axes, wavelets_per_axis
from ._lifting import Bank, BankStationaryLevel, StationaryLevel
from ._types import Array, WaveletLike, Wavelets
from ._wavelet import as_wavelet


def swt_max_level(input_len: int) -> int:
    """The largest number of levels for data of that length: how often it can be halved.

    Parameters
    ----------
    input_len : int
        Number of samples.

    Returns
    -------
    int
        Number of levels.

    Examples
    --------
    >>> swt_max_level(24)
    3
    """
    if input_len < 1:
        raise ValueError(f"invalid data length {input_len}: it must be at least 1")
    level = int(input_len & -input_len).bit_length() - 1
    if level == 0:
        warnings.warn(f"No levels of stationary wavelet decomposition are possible: {input_len} is odd.", stacklevel=2)
    return level


def warn_norm(wavelets, stacklevel):
    """Warns that the transform does not preserve energy."""
    which = "wavelet is" if len(wavelets) == 1 else "wavelets used are"
    why = "\tThe conditions for energy preservation are not satisfied."
    warnings.warn(f"norm=True, but the {which} not orthogonal: \n{why}", stacklevel=stacklevel)


@cached()
def _level(engine, samples):
    kind = BankStationaryLevel if isinstance(engine, Bank) else StationaryLevel
    return kind(engine, samples)


def _on_lines(x, wavelet, axis, level):
    """The level for these samples, and the lines that it takes of an array along an axis."""
    pair = 2 if x.dtype.kind == "c" else 1
    lines = [math.prod(x.shape[:axis]), x.shape[axis], pair * math.prod(x.shape[axis + 1 :]), 1 << level]
    return _level(wavelet._engine, _dwt._SAMPLES[x.real.dtype.char]), lines


def _real(x):
    """A view of the real numbers of a contiguous array."""
    return x.view(x.real.dtype)


def _forward(data, wavelets, axes, level, gain, scratch):
    """Bands of one level along all axes: windows of one array, whose pages are large. ``scratch`` keeps arrays between
    axes for the next level."""
    bands = {"": np.ascontiguousarray(data)}
    for number, (axis, wavelet) in enumerate(zip(axes, wavelets), 1):
        shape = (2 * len(bands), *data.shape)
        whole = np.empty(shape, data.dtype) if number == len(axes) else scratch.get(number)
        if whole is None:
            whole = scratch[number] = np.empty(shape, data.dtype)
        made, lines = _on_lines(data, wavelet, axis, level)
        halves = {}
        for i, (key, x) in enumerate(bands.items()):
            halves[key + "a"], halves[key + "d"] = whole[2 * i], whole[2 * i + 1]
            made.forward(_real(x), [_real(half) for half in whole[2 * i : 2 * i + 2]], lines, gain, _dwt._threads)
        bands = halves
    return bands


def _inverse(a, d, wavelet, axis, level, gain):
    """Synthesis of one level along an axis: the mean over both shifts."""
    made, lines = _on_lines(a, wavelet, axis, level)
    x = np.empty(a.shape, a.dtype)
    made.inverse([_real(np.ascontiguousarray(band)) for band in (a, d)], _real(x), lines, gain, _dwt._threads)
    return x


def _check(n, axis, level, start_level):
    if n % 2:
        raise ValueError(f"axis {axis} has {n} samples, but a stationary transform needs an even number")
    most = swt_max_level(n)
    if not 0 <= start_level < most:
        raise ValueError(f"invalid start_level {start_level}: axis {axis} of {n} samples allows 0 to {most - 1}")
    if not 0 <= level <= most - start_level:
        rest = most - start_level
        raise ValueError(f"invalid level {level}: axis {axis} of {n} samples allows 0 to {rest} from {start_level} on")


def _gain(wavelets, norm, root):
    if norm and not all(w.orthogonal for w in wavelets):
        warn_norm(wavelets, stacklevel=5)
    return root if norm else 1.0


def swtn(
    data: ArrayLike,
    wavelet: Wavelets,
    level: int,
    start_level: int = 0,
    axes: int | Sequence[int] | None = None,
    trim_approx: bool = False,
    norm: bool = False,
) -> list[Any]:
    """Stationary transform along several axes: dictionaries of bands, coarsest first, each of the data's shape.

    With ``trim_approx``, only the last approximation is returned, as first element. The bands of a level are windows of
    one array.

    Parameters
    ----------
    data : array_like
        Data, whose transformed axes have a multiple of ``2**level`` samples.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    level : int
        Number of levels.
    start_level : int, optional
        Level of the data: 0 is data itself.
    axes : sequence of int, optional
        Axes to transform, all by default.
    trim_approx : bool, optional
        Whether only the last approximation is returned.
    norm : bool, optional
        Whether bands are scaled so that the energy stays the same. Needs an orthogonal wavelet.

    Returns
    -------
    list of dict
        Bands of each level by key, coarsest first.

    Examples
    --------
    >>> [sorted(bands) for bands in swtn(np.ones((4, 4)), "haar", 1)]
    [['aa', 'ad', 'da', 'dd']]
    """
    data = as_samples(data)
    if data.ndim < 1:
        raise ValueError("data must have at least one axis")
    axes = normal_axes(range(data.ndim) if axes is None else axes, data.ndim)
    if len(axes) != len(set(axes)):
        raise ValueError(f"axes {axes} name an axis twice")
    wavelets = wavelets_per_axis(wavelet, axes)
    gain = _gain(wavelets, norm, 2**-0.5)
    for axis in axes:
        _check(data.shape[axis], axis, level, start_level)
    low = "a" * len(axes)
    made, scratch = [], {}
    for i in range(start_level, start_level + level):
        bands = _forward(data, wavelets, axes, i, gain, scratch)
        data = bands.pop(low) if trim_approx else bands[low]
        made.append(bands)
    return ([data] if trim_approx else []) + made[::-1]


def iswtn(
    coeffs: Sequence[Any], wavelet: Wavelets, axes: int | Sequence[int] | None = None, norm: bool = False
) -> Array:
    """Inverse of `swtn`.

    Parameters
    ----------
    coeffs : list
        Coefficients, as `swtn` returns them.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    axes : sequence of int, optional
        Axes to transform, all by default.
    norm : bool, optional
        Whether bands are scaled so that the energy stays the same. Needs an orthogonal wavelet.

    Returns
    -------
    numpy.ndarray
        Data.
    """
    trimmed = not isinstance(coeffs[0], dict)
    letters = max(len(key) for key in coeffs[-1])
    low = "a" * letters
    a = as_samples(coeffs[0] if trimmed else coeffs[0][low])
    levels = coeffs[1:] if trimmed else coeffs
    axes = normal_axes(range(a.ndim) if axes is None else axes, a.ndim)
    if len(axes) != len(set(axes)):
        raise ValueError(f"axes {axes} name an axis twice")
    if letters != len(axes):
        raise ValueError(f"{len(axes)} axes, but keys have {letters} letters: one letter per axis is needed")
    wavelets = wavelets_per_axis(wavelet, axes)
    gain = 2**0.5 if norm else 1.0
    for j, level in enumerate(levels):
        details = {key: as_samples(band) for key, band in level.items() if key != low}
        if len({band.shape for band in details.values()}) != 1:
            raise RuntimeError("Mismatch in shape of intermediate coefficient arrays")
        dtype = np.result_type(a, *details.values())
        bands = {key: np.ascontiguousarray(band, dtype) for key, band in (details | {low: a}).items()}
        for axis, w in reversed(list(zip(axes, wavelets))):
            keys = sorted({key[:-1] for key in bands})
            bands = {k: _inverse(bands[k + "a"], bands[k + "d"], w, axis, len(levels) - j - 1, gain) for k in keys}
        a = bands[""]
    return a.copy() if not levels else a


def swt(
    data: ArrayLike,
    wavelet: WaveletLike,
    level: int | None = None,
    start_level: int = 0,
    axis: int = -1,
    trim_approx: bool = False,
    norm: bool = False,
) -> list[Any]:
    """Stationary transform along an axis: ``[(cAn, cDn), …, (cA1, cD1)]``, each of the data's shape.

    With ``trim_approx``: ``[cAn, cDn, …, cD1]``.

    Parameters
    ----------
    data : array_like
        Data, whose transformed axes have a multiple of ``2**level`` samples.
    wavelet : str or Wavelet
        Wavelet.
    level : int, optional
        Number of levels, by default the largest useful one.
    start_level : int, optional
        Level of the data: 0 is data itself.
    axis : int, optional
        Axis to transform.
    trim_approx : bool, optional
        Whether only the last approximation is returned.
    norm : bool, optional
        Whether bands are scaled so that the energy stays the same. Needs an orthogonal wavelet.

    Returns
    -------
    list
        Pairs ``(cA, cD)``, coarsest first, or ``[cAn, cDn, …, cD1]``.

    Examples
    --------
    >>> (cA2, cD2), (cA1, cD1) = swt([3, 7, 1, 3, -2, 6, 4, 6], "db1", level=2)
    >>> cA2.round(6).tolist()
    [7.0, 4.5, 4.0, 5.5, 7.0, 9.5, 10.0, 8.5]
    """
    data = as_samples(data)
    (axis,) = normal_axes([axis], data.ndim)
    if level is None:
        level = swt_max_level(data.shape[axis]) - start_level
    if level < 1:
        raise ValueError(f"invalid level {level}: it must be at least 1")
    bands = swtn(data, [as_wavelet(wavelet)], level, start_level, (axis,), trim_approx, norm)
    if trim_approx:
        return [bands[0], *(level["d"] for level in bands[1:])]
    return [(level["a"], level["d"]) for level in bands]


def iswt(coeffs: Sequence[Any], wavelet: WaveletLike, norm: bool = False, axis: int = -1) -> Array:
    """The inverse of `swt`.

    Parameters
    ----------
    coeffs : list
        Coefficients, as `swt` returns them.
    wavelet : str or Wavelet
        Wavelet.
    norm : bool, optional
        Whether bands are scaled so that the energy stays the same. Needs an orthogonal wavelet.
    axis : int, optional
        Axis to transform.

    Returns
    -------
    numpy.ndarray
        Data.

    Examples
    --------
    >>> iswt(swt([1, 2, 3, 4, 5, 6, 7, 8], "db2", level=2), "db2").round(6).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    """
    trimmed = not isinstance(coeffs[0], (tuple, list))
    a = np.asarray(coeffs[0] if trimmed else coeffs[0][0])
    if not -a.ndim <= axis < a.ndim:
        raise AxisError(f"axis {axis} is out of range for coefficients with {a.ndim} dimensions")
    details = coeffs[1:] if trimmed else [d for _, d in coeffs]
    return iswtn([a, *({"d": np.asarray(d)} for d in details)], [as_wavelet(wavelet)], (axis,), norm)


def swt2(
    data: ArrayLike,
    wavelet: Wavelets,
    level: int,
    start_level: int = 0,
    axes: Sequence[int] = (-2, -1),
    trim_approx: bool = False,
    norm: bool = False,
) -> list[Any]:
    """Stationary transform along two axes: ``[(cAn, (cHn, cVn, cDn)), …]``, each of the data's shape.

    With ``trim_approx``: ``[cAn, (cHn, cVn, cDn), …]``.

    Parameters
    ----------
    data : array_like
        Data, whose transformed axes have a multiple of ``2**level`` samples.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    level : int
        Number of levels.
    start_level : int, optional
        Level of the data: 0 is data itself.
    axes : pair of int, optional
        The two axes to transform.
    trim_approx : bool, optional
        Whether only the last approximation is returned.
    norm : bool, optional
        Whether bands are scaled so that the energy stays the same. Needs an orthogonal wavelet.

    Returns
    -------
    list
        Levels ``(cA, (cH, cV, cD))``, coarsest first.
    """
    axes, data = tuple(axes), np.asarray(data)
    if len(axes) != 2 or len(set(axes)) != 2:
        raise ValueError(f"expected two different axes, not {axes}")
    if data.ndim < 2:
        raise ValueError(f"data must have at least two axes, not {data.ndim}")
    bands = swtn(data, wavelet, level, start_level, axes, trim_approx, norm)
    details = [(b["da"], b["ad"], b["dd"]) for b in (bands[1:] if trim_approx else bands)]
    if trim_approx:
        return [bands[0], *details]
    return [(b["aa"], d) for b, d in zip(bands, details)]


def iswt2(coeffs: Sequence[Any], wavelet: Wavelets, norm: bool = False, axes: Sequence[int] = (-2, -1)) -> Array:
    """Inverse of `swt2`.

    Parameters
    ----------
    coeffs : list
        Coefficients, as `swt2` returns them.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    norm : bool, optional
        Whether bands are scaled so that the energy stays the same. Needs an orthogonal wavelet.
    axes : pair of int, optional
        The two axes to transform.

    Returns
    -------
    numpy.ndarray
        Data.
    """
    trimmed = not isinstance(coeffs[0], (tuple, list))
    a = coeffs[0] if trimmed else coeffs[0][0]
    details = coeffs[1:] if trimmed else [d for _, d in coeffs]
    made = [dict(zip(("da", "ad", "dd"), map(np.asarray, d))) for d in details]
    return iswtn([np.asarray(a), *made], wavelet, axes, norm)


def swt_axis(data, wavelet, level, start_level=0, axis=0, trim_approx=False):
    """Synonym of `swt` with PyWavelets' older name."""
    return swt(np.asarray(data, check_dtype(data)), wavelet, level, start_level, axis, trim_approx)
