"""Multi-level transforms with PyWavelets' interface, and coefficients as one array."""

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.exceptions import AxisError
from numpy.typing import ArrayLike

from ._dwt import (
    as_array,
    dwt,
    dwt2,
    dwt_coeff_len,
    dwtn,
    idwt,
    idwt2,
    idwtn,
    is_array,
    max_level,
    modes_per_axis,
    wavelets_per_axis,
)
from ._types import Array, Format, ModeLike, ModesLike, WaveletLike, Wavelets
from ._wavelet import Modes, Wavelet, as_wavelet


#: PyWavelets' wording, which callers may match.
_UNEXPECTED = "Unexpected detail coefficient type"


def _levels(sizes, wavelets, level):
    """The requested number of levels, by default the largest useful one; warns above that."""
    most = min(max_level(n, w.dec_len) for n, w in zip(sizes, wavelets))
    if level is None:
        return most
    if level < 0:
        raise ValueError(f"invalid level {level}: it must be at least 0")
    if level > most:
        warnings.warn(
            f"Level value of {level} is too high: all coefficients will experience boundary effects.", stacklevel=3
        )
    return level


def _chosen(ndim, axes):
    """Axes as a tuple, checked for range and duplicates."""
    if ndim < 1:
        raise ValueError("data must have at least one axis")
    axes = tuple(range(ndim)) if axes is None else (axes,) if np.isscalar(axes) else tuple(axes)
    if len(axes) != len(set(axes)):
        raise ValueError(f"axes {axes} name an axis twice")
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise AxisError(f"axis {axis} is out of range for data with {ndim} dimensions")
    return axes


def wavedec(
    data: ArrayLike, wavelet: WaveletLike, mode: ModeLike = "symmetric", level: int | None = None, axis: int = -1
) -> list[Array]:
    """Several levels of analysis along an axis: ``[cAn, cDn, …, cD1]``.

    Parameters
    ----------
    data : array_like
        Data.
    wavelet : str or Wavelet
        Wavelet.
    mode : str or int, optional
        Extension of the data at its ends, one of `Modes.modes`.
    level : int, optional
        Number of levels, by default the largest useful one.
    axis : int, optional
        Axis to transform.

    Returns
    -------
    list of numpy.ndarray
        Coefficients ``[cAn, cDn, …, cD1]``.

    Examples
    --------
    >>> cA2, cD2, cD1 = wavedec([1, 2, 3, 4, 5, 6, 7, 8], "db1", level=2)
    >>> cA2.round(6).tolist()
    [5.0, 13.0]
    """
    a = as_array(data)
    wavelet = as_wavelet(wavelet)
    (axis,) = _chosen(a.ndim, axis)
    details = []
    for _ in range(_levels([a.shape[axis]], [wavelet], level)):
        a, d = dwt(a, wavelet, mode, axis)
        details.append(d)
    return [a, *reversed(details)]


def _sequence(coeffs):
    if not isinstance(coeffs, (list, tuple)) or len(coeffs) < 1:
        raise ValueError("coefficients must be a list or tuple with at least one array")
    return coeffs[0], coeffs[1:]


def waverec(coeffs: Sequence[Any], wavelet: WaveletLike, mode: ModeLike = "symmetric", axis: int = -1) -> Array:
    """Several levels of synthesis along an axis, from the result of `wavedec`. None means zeros.

    Parameters
    ----------
    coeffs : list
        Coefficients, as `wavedec` returns them. None means zeros.
    wavelet : str or Wavelet
        Wavelet.
    mode : str or int, optional
        Extension of the data at its ends, one of `Modes.modes`.
    axis : int, optional
        Axis to transform.

    Returns
    -------
    numpy.ndarray
        Data.

    Examples
    --------
    >>> waverec(wavedec([1, 2, 3, 4, 5, 6, 7, 8], "db2"), "db2").round(6).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    """
    a, details = _sequence(coeffs)
    for d in details:
        if d is not None and not is_array(d):
            raise ValueError(f"{_UNEXPECTED} {type(d)}: details must be arrays, as wavedec returns them")
        if a is not None and d is not None:
            a = as_array(a)
            if not -d.ndim <= axis < d.ndim:
                raise AxisError(f"axis {axis} is out of range for coefficients with {d.ndim} dimensions")
            if a.shape != d.shape:
                a = _cut(a, d.shape, (axis,))
        a = idwt(a, d, wavelet, mode, axis)
    return a


def _cut(a, shape, axes):
    """The approximation cut to the details' shape: it may have one extra sample along an axis."""
    for axis in axes:
        if not -a.ndim <= axis < a.ndim:
            raise AxisError(f"axis {axis} is out of range for coefficients with {a.ndim} dimensions")
        if a.ndim != len(shape) or a.shape[axis] - shape[axis] not in (0, 1):
            raise ValueError(f"an approximation of shape {a.shape} does not fit details of shape {tuple(shape)}")
    return a[tuple(slice(n) for n in shape)]


def wavedec2(
    data: ArrayLike,
    wavelet: Wavelets,
    mode: ModesLike = "symmetric",
    level: int | None = None,
    axes: Sequence[int] = (-2, -1),
) -> list[Any]:
    """Several levels of analysis along two axes: ``[cAn, (cHn, cVn, cDn), …, (cH1, cV1, cD1)]``.

    Parameters
    ----------
    data : array_like
        Data.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    mode : str or int, or sequence of them, optional
        Extension of the data at its ends, one of `Modes.modes`, or one for each axis.
    level : int, optional
        Number of levels, by default the largest useful one.
    axes : pair of int, optional
        The two axes to transform.

    Returns
    -------
    list
        Coefficients ``[cAn, (cHn, cVn, cDn), …, (cH1, cV1, cD1)]``.
    """
    a = as_array(data)
    if a.ndim < 2:
        raise ValueError(f"data must have at least two axes, not {a.ndim}")
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError(f"expected two axes, not {len(axes)}")
    axes = _chosen(a.ndim, axes)
    wavelets = wavelets_per_axis(wavelet, axes)
    details = []
    for _ in range(_levels([a.shape[axis] for axis in axes], wavelets, level)):
        a, d = dwt2(a, wavelets, mode, axes)
        details.append(d)
    return [a, *reversed(details)]


def waverec2(
    coeffs: Sequence[Any], wavelet: Wavelets, mode: ModesLike = "symmetric", axes: Sequence[int] = (-2, -1)
) -> Array:
    """Several levels of synthesis along two axes, from the result of `wavedec2`. None means zeros.

    Parameters
    ----------
    coeffs : list
        Coefficients, as `wavedec2` returns them. None means zeros.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    mode : str or int, or sequence of them, optional
        Extension of the data at its ends, one of `Modes.modes`, or one for each axis.
    axes : pair of int, optional
        The two axes to transform.

    Returns
    -------
    numpy.ndarray
        Data.

    Examples
    --------
    >>> coeffs = wavedec2(np.ones((4, 4)), "db1")
    >>> waverec2(coeffs, "db1").round(6).tolist()[0]
    [1.0, 1.0, 1.0, 1.0]
    """
    a, details = _sequence(coeffs)
    if len(axes) != len(set(axes)):
        raise ValueError(f"axes {axes} name an axis twice")
    if not details:
        return a
    for d in details:
        if not isinstance(d, (list, tuple)) or len(d) != 3:
            raise ValueError(f"{_UNEXPECTED} {type(d)}: each level needs three arrays, as wavedec2 returns them")
        shapes = {as_array(band).shape for band in d if band is not None}
        if len(shapes) > 1:
            raise ValueError(f"details of one level must have one shape, not {sorted(shapes)}")
        if a is not None and shapes:
            a = _cut(as_array(a), shapes.pop(), axes)
        a = idwt2((a, d), wavelet, mode, axes)
    return a


def wavedecn(
    data: ArrayLike,
    wavelet: Wavelets,
    mode: ModesLike = "symmetric",
    level: int | None = None,
    axes: int | Sequence[int] | None = None,
) -> list[Any]:
    """Several levels of analysis along several axes: ``[cAn, {details of level n}, …, {details of level 1}]``.

    Parameters
    ----------
    data : array_like
        Data.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    mode : str or int, or sequence of them, optional
        Extension of the data at its ends, one of `Modes.modes`, or one for each axis.
    level : int, optional
        Number of levels, by default the largest useful one.
    axes : sequence of int, optional
        Axes to transform, all by default.

    Returns
    -------
    list
        Approximation, and a dictionary of details for each level, coarsest first.

    Examples
    --------
    >>> [sorted(level) for level in wavedecn(np.ones((4, 4)), "haar")[1:]]
    [['ad', 'da', 'dd'], ['ad', 'da', 'dd']]
    """
    a = as_array(data)
    axes = _chosen(a.ndim, axes)
    wavelets = wavelets_per_axis(wavelet, axes)
    details = []
    for _ in range(_levels([a.shape[axis] for axis in axes], wavelets, level)):
        bands = dwtn(a, wavelets, mode, axes)
        a = bands.pop("a" * len(axes))
        details.append(bands)
    return [a, *reversed(details)]


def waverecn(
    coeffs: Sequence[Any], wavelet: Wavelets, mode: ModesLike = "symmetric", axes: int | Sequence[int] | None = None
) -> Array:
    """Several levels of synthesis along several axes, from the result of `wavedecn`.

    Parameters
    ----------
    coeffs : list
        Coefficients, as `wavedecn` returns them.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    mode : str or int, or sequence of them, optional
        Extension of the data at its ends, one of `Modes.modes`, or one for each axis.
    axes : sequence of int, optional
        Axes to transform, all by default.

    Returns
    -------
    numpy.ndarray
        Data.

    Examples
    --------
    >>> waverecn(wavedecn(np.ones((2, 4)), "db1"), "db1").round(6).tolist()
    [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]
    """
    a, details = _sequence(coeffs)
    if not details:
        return a
    if not all(isinstance(level, dict) for level in details):
        raise ValueError(f"{_UNEXPECTED} {type(details[0])}: details must be dictionaries, as wavedecn returns them")
    details = [_complete(level) for level in details]
    arrays = [as_array(band) for level in details for band in level.values()]
    arrays += [] if a is None else [as_array(a)]
    if not arrays:
        raise ValueError("all bands are None: give at least one array")
    if len({array.ndim for array in arrays}) != 1:
        raise ValueError("bands must all have the same number of axes")
    axes = _chosen(arrays[0].ndim, axes)
    for i, level in enumerate(details):
        if a is None and not level:
            continue
        if i > 0 and a is not None and level:
            a = _cut(a, next(iter(level.values())).shape, range(a.ndim))
        a = idwtn({**level, "a" * len(axes): a}, wavelet, mode, axes)
    return a


def _complete(level):
    """Details of a level as arrays, with valid keys and no None."""
    missing = [key for key, band in level.items() if band is None]
    if missing:
        raise ValueError(f"bands {missing} are None: give arrays of zeros, as numpy.zeros_like makes them")
    wrong = [key for key in level if set(key) - set("ad")]
    if wrong:
        raise ValueError(f"keys must consist of the letters a and d, not {wrong}")
    if len({len(key) for key in level}) > 1:
        raise ValueError(f"keys must have one length, not {sorted(level)}")
    return {key: as_array(band) for key, band in level.items()}


def dwtn_max_level(shape: Sequence[int], wavelet: Wavelets, axes: int | Sequence[int] | None = None) -> int:
    """The largest sensible number of levels for data of that shape.

    Parameters
    ----------
    shape : sequence of int
        Shape of the data.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    axes : sequence of int, optional
        Axes to transform, all by default.

    Returns
    -------
    int
        Number of levels.

    Examples
    --------
    >>> dwtn_max_level((64, 32), "db2")
    3
    """
    axes = _chosen(len(shape), axes)
    wavelets = wavelets_per_axis(wavelet, axes)
    return min(max_level(shape[axis], w.dec_len) for axis, w in zip(axes, wavelets))


def wavedecn_shapes(
    shape: Sequence[int],
    wavelet: Wavelets,
    mode: ModesLike = "symmetric",
    level: int | None = None,
    axes: int | Sequence[int] | None = None,
) -> list[Any]:
    """The shapes of the coefficients that `wavedecn` returns for data of that shape.

    Parameters
    ----------
    shape : sequence of int
        Shape of the data.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    mode : str or int, or sequence of them, optional
        Extension of the data at its ends, one of `Modes.modes`, or one for each axis.
    level : int, optional
        Number of levels, by default the largest useful one.
    axes : sequence of int, optional
        Axes to transform, all by default.

    Returns
    -------
    list
        Shape of the approximation, and shapes of the details by key, coarsest first.

    Examples
    --------
    >>> wavedecn_shapes((64, 32), "db2", level=3, axes=(0,))
    [(10, 32), {'d': (10, 32)}, {'d': (18, 32)}, {'d': (33, 32)}]
    """
    axes = _chosen(len(shape), axes)
    wavelets, modes = wavelets_per_axis(wavelet, axes), modes_per_axis(mode, axes)
    shape, details = list(shape), []
    for _ in range(_levels([shape[axis] for axis in axes], wavelets, level)):
        for axis, w, m in zip(axes, wavelets, modes):
            shape[axis] = dwt_coeff_len(shape[axis], w, m)
        keys = ("".join(key) for key in itertools.product("ad", repeat=len(axes)))
        details.append({key: tuple(shape) for key in keys if "d" in key})
    return [tuple(shape), *reversed(details)]


def wavedecn_size(shapes: Sequence[Any]) -> int:
    """Number of coefficients, from shapes or from coefficients.

    Parameters
    ----------
    shapes : list
        Shapes, as `wavedecn_shapes` returns them, or coefficients of `wavedecn`.

    Returns
    -------
    int
        Number of coefficients.

    Examples
    --------
    >>> wavedecn_size(wavedecn_shapes((64, 32), "db2", mode="periodization"))
    2048
    """

    def size(band):
        if band is None:
            raise ValueError("a band is None, which has no size: give an array or a shape")
        return band.size if isinstance(band, np.ndarray) else int(np.prod(band))

    return size(shapes[0]) + sum(size(band) for level in shapes[1:] for band in level.values())


def _as_wavedecn(coeffs, axes):
    """Coefficients of `wavedec`, `wavedec2` or `wavedecn` in `wavedecn`'s form, and the transformed axes."""
    if not isinstance(coeffs, list) or not coeffs:
        raise ValueError("coefficients must be a list, as wavedec, wavedec2 and wavedecn return it")
    if not isinstance(coeffs[0], np.ndarray):
        raise ValueError("the approximation must be an array: missing coefficients are not supported")
    ndim, made = coeffs[0].ndim, [as_array(coeffs[0])]
    for level in coeffs[1:]:
        if isinstance(coeffs[1], np.ndarray):
            if level is not None and level.ndim != 1:
                raise ValueError("details of wavedec must have one axis: use wavedecn for more")
            level = {"d": level}
        elif isinstance(coeffs[1], (tuple, list)):
            if not isinstance(level, (tuple, list)) or len(level) != 3:
                raise ValueError("details of wavedec2 must be tuples of three arrays")
            level = dict(zip(("da", "ad", "dd"), level))
        elif not isinstance(coeffs[1], dict):
            raise ValueError(f"details must be arrays, tuples or dictionaries, not {type(coeffs[1]).__name__}")
        if any(band is None for band in level.values()):
            raise ValueError("missing coefficients are not supported: pass arrays of zeros")
        made.append({key: as_array(band) for key, band in level.items()})
    if len(made) == 1:
        return made, axes
    letters = len(next(iter(made[1])))
    if axes is None:
        if letters < ndim:
            raise ValueError(f"keys have {letters} letters for {ndim} axes: pass the transformed axes as `axes`")
        axes = range(ndim)
    axes = tuple(int(axis) % ndim for axis in axes)
    if len(axes) != letters:
        raise ValueError(f"{len(axes)} axes, but keys have {letters} letters: one letter per axis is needed")
    if len(set(axes)) != len(axes):
        raise ValueError(f"axes {axes} name an axis twice")
    return made, axes


def coeffs_to_array(
    coeffs: Sequence[Any], padding: float | None = 0, axes: Sequence[int] | None = None
) -> tuple[Array, list[Any]]:
    """All coefficients in one array, in the Mallat layout, and the slices of each band.

    Gaps are filled with ``padding``; if that is None, gaps are an error.

    Parameters
    ----------
    coeffs : list
        Coefficients, as `wavedec`, `wavedec2` or `wavedecn` returns them.
    padding : float or None, optional
        Value of the gaps. None makes gaps an error.
    axes : sequence of int, optional
        Transformed axes, all by default.

    Returns
    -------
    array : numpy.ndarray, slices : list
        Coefficients, and slices of the bands.

    Examples
    --------
    >>> array, slices = coeffs_to_array(wavedec2(np.ones((8, 8)), "haar"))
    >>> array.shape, slices[1]["da"]
    ((8, 8), (slice(1, 2, None), slice(None, 1, None)))
    """
    coeffs, axes = _as_wavedecn(coeffs, axes)
    low = coeffs[0]
    if len(coeffs) == 1:
        return low, [(slice(None),) * low.ndim]
    ends, places = list(low.shape), [tuple(slice(n) for n in low.shape)]
    for level in coeffs[1:]:
        place = {}
        for key, band in level.items():
            index = [slice(None)] * low.ndim
            for letter, axis in zip(key, axes):
                n = band.shape[axis]
                if letter not in "ad":
                    raise ValueError(f"keys must consist of the letters a and d, not {key!r}")
                index[axis] = slice(n) if letter == "a" else slice(ends[axis], ends[axis] + n)
            place[key] = tuple(index)
        corner = level["d" * len(axes)].shape
        ends = [n + corner[axis] if axis in axes else n for axis, n in enumerate(ends)]
        places.append(place)
    if padding is None:
        if np.prod(ends) != wavedecn_size(coeffs):
            raise ValueError("the coefficients leave gaps in the array: give a padding")
        array = np.empty(ends, low.dtype)
    else:
        array = np.full(ends, padding, low.dtype)
    array[places[0]] = low
    for level, place in zip(coeffs[1:], places[1:]):
        for key, band in level.items():
            array[place[key]] = band
    return array, places


def _formatted(details, output_format):
    """Details of a level in the form of the function ``output_format``."""
    if output_format in ("wavedec", "swt"):
        return details["d"]
    if output_format in ("wavedec2", "swt2"):
        return details["da"], details["ad"], details["dd"]
    if output_format in ("wavedecn", "swtn"):
        return details
    raise ValueError(f"unknown format {output_format!r}; choose one of wavedec, wavedec2, wavedecn, swt, swt2, swtn")


def array_to_coeffs(arr: ArrayLike, coeff_slices: Sequence[Any], output_format: Format = "wavedecn") -> list[Any]:
    """Inverse of `coeffs_to_array`: views of the bands.

    Parameters
    ----------
    arr : array_like
        Array of coefficients.
    coeff_slices : list
        Slices of the bands.
    output_format : {'wavedec', 'wavedec2', 'wavedecn', 'swt', 'swt2', 'swtn'}, optional
        Function whose form the result has.

    Returns
    -------
    list
        Coefficients.
    """
    arr = np.asarray(arr)
    if len(coeff_slices) == 0:
        raise ValueError("the list of slices is empty")
    levels = ({key: arr[place] for key, place in level.items()} for level in coeff_slices[1:])
    return [arr[coeff_slices[0]], *(_formatted(level, output_format) for level in levels)]


def ravel_coeffs(coeffs: Sequence[Any], axes: Sequence[int] | None = None) -> tuple[Array, list[Any], list[Any]]:
    """All coefficients in one line, with the slices and shapes of the bands.

    Parameters
    ----------
    coeffs : list
        Coefficients, as `wavedec`, `wavedec2` or `wavedecn` returns them.
    axes : sequence of int, optional
        Transformed axes, all by default.

    Returns
    -------
    line : numpy.ndarray, slices, shapes : list
        Coefficients, and slices and shapes of the bands.

    Examples
    --------
    >>> line, slices, shapes = ravel_coeffs(wavedec([1.0, 2, 3, 4], "haar"))
    >>> len(line), slices[1]
    (4, {'d': slice(1, 2, None)})
    """
    coeffs, axes = _as_wavedecn(coeffs, axes)
    low = coeffs[0]
    pieces, slices, shapes, end = [low.ravel()], [slice(low.size)], [low.shape], low.size
    for level in coeffs[1:]:
        slices.append({})
        shapes.append({})
        for key in sorted(level):
            band = level[key]
            slices[-1][key] = slice(end, end + band.size)
            shapes[-1][key] = band.shape
            pieces.append(band.ravel())
            end += band.size
    return np.concatenate(pieces).astype(low.dtype, copy=False), slices, shapes


def unravel_coeffs(
    arr: ArrayLike, coeff_slices: Sequence[Any], coeff_shapes: Sequence[Any], output_format: Format = "wavedecn"
) -> list[Any]:
    """Inverse of `ravel_coeffs`: views of the bands.

    Parameters
    ----------
    arr : array_like
        Array of coefficients.
    coeff_slices : list
        Slices of the bands.
    coeff_shapes : list
        Shapes of the bands.
    output_format : {'wavedec', 'wavedec2', 'wavedecn', 'swt', 'swt2', 'swtn'}, optional
        Function whose form the result has.

    Returns
    -------
    list
        Coefficients.
    """
    arr = np.asarray(arr)
    if len(coeff_slices) == 0 or len(coeff_shapes) == 0:
        raise ValueError("the list of slices or of shapes is empty")
    if len(coeff_slices) != len(coeff_shapes):
        raise ValueError(f"{len(coeff_slices)} slices for {len(coeff_shapes)} shapes: the numbers must agree")
    levels = (
        {key: arr[place].reshape(shape[key]) for key, place in slices.items()}
        for slices, shape in zip(coeff_slices[1:], coeff_shapes[1:])
    )
    low = arr[coeff_slices[0]].reshape(coeff_shapes[0])
    return [low, *(_formatted(level, output_format) for level in levels)]


class FswavedecnResult:
    """Coefficients of a fully separable transform; ``result[(2, 1)]`` is the band with these levels per axis.

    Parameters
    ----------
    coeffs : numpy.ndarray
        All coefficients.
    coeff_slices : list
        Slices of the levels along each transformed axis.
    wavelets : list of Wavelet
        Wavelets of the transformed axes.
    mode_enums : list of Modes
        Modes of the transformed axes.
    axes : sequence of int
        Transformed axes.
    """

    def __init__(
        self,
        coeffs: Array,
        coeff_slices: list[list[slice]],
        wavelets: list[Any],
        mode_enums: list[Any],
        axes: Sequence[int],
    ) -> None:
        if not all(isinstance(w, Wavelet) for w in wavelets):
            raise ValueError("wavelets must be of the type lifting.Wavelet")
        if not all(isinstance(m, int) for m in mode_enums):
            raise ValueError("modes must be numbers")
        self._coeffs = coeffs
        self._slices = coeff_slices
        self._wavelets = wavelets
        self._modes = mode_enums
        self._axes = axes

    @property
    def coeffs(self) -> Array:
        """All coefficients in one array."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, coeffs: Array) -> None:
        if coeffs.shape != self._coeffs.shape:
            raise ValueError(f"coefficients must have shape {self._coeffs.shape}, not {coeffs.shape}")
        self._coeffs = coeffs

    @property
    def coeff_slices(self) -> list[list[slice]]:
        """Slices of the levels along each transformed axis, the approximation first."""
        return self._slices

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._coeffs.ndim

    @property
    def ndim_transform(self) -> int:
        """Number of transformed axes."""
        return len(self._axes)

    @property
    def axes(self) -> Sequence[int]:
        """The transformed axes."""
        return self._axes

    @property
    def levels(self) -> list[int]:
        """Number of levels along each transformed axis."""
        return [len(slices) - 1 for slices in self._slices]

    @property
    def wavelets(self) -> list[Wavelet]:
        """Wavelets of the transformed axes."""
        return self._wavelets

    @property
    def wavelet_names(self) -> list[str]:
        """Names of the wavelets of the transformed axes."""
        return [w.name for w in self._wavelets]

    @property
    def modes(self) -> list[str]:
        """Names of the modes of the transformed axes."""
        return [Modes(m).name for m in self._modes]

    def _index(self, levels):
        levels = tuple(levels)
        if len(levels) != len(self._axes):
            raise ValueError(f"{len(levels)} levels for {len(self._axes)} transformed axes: give one per axis")
        for level, most in zip(levels, self.levels):
            if not isinstance(level, (int, float, np.number)) or level % 1 or not 0 <= level <= most:
                raise ValueError(f"levels must be integers from 0 to {self.levels}, not {levels}")
        index = [slice(None)] * self.ndim
        for axis, slices, level in zip(self._axes, self._slices, levels):
            index[axis] = slices[int(level)]
        return tuple(index)

    def __getitem__(self, levels: Sequence[int]) -> Array:
        return self._coeffs[self._index(levels)]

    def __setitem__(self, levels: Sequence[int], band: Array) -> None:
        index = self._index(levels)
        current = self._coeffs[index]
        if current.shape != band.shape:
            raise ValueError(f"the band must have shape {current.shape}, not {band.shape}")
        if current.dtype != band.dtype:
            warnings.warn(f"dtype mismatch: the band is converted to {current.dtype}", stacklevel=2)
        self._coeffs[index] = band

    @property
    def approx(self) -> Array:
        """The approximation, the band of level 0 along each axis."""
        return self[(0,) * len(self._axes)]

    @approx.setter
    def approx(self, band: Array) -> None:
        self[(0,) * len(self._axes)] = band

    def detail_keys(self) -> list[tuple[int, ...]]:
        """Keys of all detail bands: tuples of levels."""
        return [key for key in itertools.product(*(range(n + 1) for n in self.levels)) if any(key)]


def fswavedecn(
    data: ArrayLike,
    wavelet: Wavelets,
    mode: ModesLike = "symmetric",
    levels: int | Sequence[int | None] | None = None,
    axes: int | Sequence[int] | None = None,
) -> FswavedecnResult:
    """Fully separable (hyperbolic) transform: all levels along one axis, then all along the next.

    Parameters
    ----------
    data : array_like
        Data.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    mode : str or int, or sequence of them, optional
        Extension of the data at its ends, one of `Modes.modes`, or one for each axis.
    levels : int, or sequence of int, optional
        Number of levels, or one for each axis; by default the largest useful ones.
    axes : sequence of int, optional
        Axes to transform, all by default.

    Returns
    -------
    FswavedecnResult
        Coefficients.

    Examples
    --------
    >>> result = fswavedecn(np.ones((8, 8)), "haar", levels=(2, 3))
    >>> result.approx.round(6).tolist(), fswaverecn(result).shape
    ([[5.656854], [5.656854]], (8, 8))
    """
    array = np.asarray(data)
    axes = tuple(range(array.ndim)) if axes is None else axes
    _check_separable(array, axes)
    levels = [levels] * len(axes) if levels is None or np.isscalar(levels) else levels
    if len(levels) != len(axes):
        raise ValueError(f"{len(levels)} levels for {len(axes)} axes: give one number, or one per axis")
    modes, wavelets = modes_per_axis(mode, axes), wavelets_per_axis(wavelet, axes)
    slices = []
    for axis, level, w, m in zip(axes, levels, wavelets, modes):
        coeffs = wavedec(array, w, m, level, axis)
        ends = np.cumsum([0, *(c.shape[axis] for c in coeffs)]).tolist()
        slices.append([slice(a, b) for a, b in zip(ends, ends[1:])])
        array = np.concatenate(coeffs, axis)
    return FswavedecnResult(array, slices, wavelets, modes, axes)


def _check_separable(array, axes):
    if len(axes) != len(set(axes)):
        raise AxisError(f"axes {axes} name an axis twice")
    for axis in axes:
        if not -array.ndim <= axis < array.ndim:
            raise AxisError(f"axis {axis} is out of range for data with {array.ndim} dimensions")


def fswaverecn(fswavedecn_result: FswavedecnResult) -> Array:
    """Inverse of `fswavedecn`.

    Parameters
    ----------
    fswavedecn_result : FswavedecnResult
        Coefficients.

    Returns
    -------
    numpy.ndarray
        Data.
    """
    result = fswavedecn_result
    array = result.coeffs
    _check_separable(array, result.axes)
    if len(result.axes) != len(result.coeff_slices):
        raise ValueError(f"{len(result.coeff_slices)} lists of slices for {len(result.axes)} axes")
    for axis, slices, w, m in zip(result.axes, result.coeff_slices, result.wavelets, result.modes):
        index = [slice(None)] * array.ndim
        coeffs = []
        for piece in slices:
            index[axis] = piece
            coeffs.append(array[tuple(index)])
        array = waverec(coeffs, w, m, axis)
    return array
