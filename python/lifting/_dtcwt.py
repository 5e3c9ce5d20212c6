"""Dual-tree complex wavelet transforms of NumPy arrays."""

import itertools
import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._dtcwt_banks import Biort, QShift, blocks, matrices
from ._dtcwt_levels import (
    PLACES,
    Arrays,
    Pyramid,
    analysis,
    check_banks,
    check_level,
    check_shape,
    halves,
    pyramid_parts,
    synthesis,
)
from ._dwt import as_samples, normal_axes
from ._lifting import LiftingError


class _NumPyArrays(Arrays):
    """The operations with windows as views, which BLAS takes as they are, and without temporary arrays."""

    def split(self, x, axis, edges, *bank):
        made = blocks(bank[0], False)
        whole, n = _extended([x], axis, edges, made)
        return [_product(whole, axis, made, matrix, n) for matrix in matrices(*bank, False)]

    def merge(self, bands, axis, *bank):
        made = blocks(bank[0], True)
        whole, n = _extended(bands, axis, (0, 0), made)
        # The samples of bands alternate.
        matrix = np.stack(matrices(*bank, True), 1).reshape(-1, made.made)
        return _product(whole, axis, made, matrix, n)

    def pack(self, bands, dims):
        places = PLACES[dims]
        first = next(iter(bands.values()))
        lead = first.ndim - dims
        half = (n // 2 for n in first.shape[lead:])
        shape = (sum(map(len, places.values())), *first.shape[:lead], *half)
        # Each sub-band is contiguous.
        whole = np.empty(shape, np.result_type(first, np.complex64))
        for key, at in places.items():
            parts = [halves(bands[key], -1)]
            for axis in range(-2, -dims, -1):
                parts = _combined(parts, axis, itertools.repeat((None, None)))
            targets = [(whole[i].real, whole[i].imag) for i in at]
            if dims == 1:
                targets[0][0][...], targets[0][1][...] = parts[0]
            else:
                _combined(parts, -dims, targets)
        return whole[0] if dims == 1 else np.moveaxis(whole, 0, -1)

    def unpack(self, subbands, dims):
        lead = subbands.ndim - (dims if dims == 1 else dims + 1)
        shape = list(subbands.shape[: lead + dims])
        bands = {}
        for key, at in PLACES[dims].items():
            each = [subbands if dims == 1 else subbands[..., i] for i in at]
            parts = [(z.real, z.imag) for z in each]
            made = list(shape)
            for axis in range(-dims, -1):
                made[axis] *= 2
                half = len(parts) // 2
                pairs = zip(parts[:half], parts[half:])
                parts = [_separated(*pair, axis, np.empty((2, *made), parts[0][0].dtype)) for pair in pairs]
            made[-1] *= 2
            band = bands[key] = np.empty(made, parts[0][0].dtype)
            for target, part in zip(halves(band, -1), parts[0]):
                target[...] = part
        return bands


_ARRAYS = _NumPyArrays()


def _extended(bands, axis, edges, made):
    """Half-sample symmetric extensions along an axis for all windows, alternating along the axis, and the length before
    extension. That includes the outermost samples, which are first repeated where ``edges`` says so."""
    x = bands[0]
    n = x.shape[axis] + sum(edges)
    total = (_count(n, made) - 1) * made.step + made.window
    whole = np.empty((*x.shape[:axis], total, len(bands), *x.shape[axis + 1 :]), x.dtype)
    lines = np.moveaxis(whole, (axis, axis + 1), (0, 1))
    start, stop = made.halo, made.halo + n
    for i, band in enumerate(bands):
        lines[start + edges[0] : stop - edges[1], i] = np.moveaxis(band, axis, 0)
    if edges[0]:
        lines[start] = lines[start + 1]
    if edges[1]:
        lines[stop - 1] = lines[stop - 2]
    while stop < total:
        size = min(total - stop, stop - start)
        lines[stop : stop + size] = lines[stop - size : stop][::-1]
        stop += size
    stop -= (stop - start) % n
    while start:
        size = min(start, stop - start)
        lines[start - size : start] = lines[start : start + size][::-1]
        start -= size
    return whole, n


def _count(n, made):
    """Number of windows."""
    return -(-n // made.step)


def _product(whole, axis, made, matrix, n):
    """Windows of an array along an axis times a matrix."""
    matrix = matrix.astype(whole.dtype, copy=False)
    before, after, count = whole.shape[:axis], whole.shape[axis + 2 :], _count(n, made)
    lead, trail = math.prod(before), math.prod(after)
    row = trail * whole.itemsize
    line = row * whole.shape[axis + 1]
    out = np.empty((lead, count, made.made, trail), whole.dtype)
    if not out.size:
        pass
    elif trail == 1:
        strides = (made.step * line, whole.shape[axis] * line, row)
        windows = np.ndarray((count, lead, len(matrix)), whole.dtype, whole, 0, strides)
        np.matmul(windows, matrix, out=out[..., 0].swapaxes(0, 1))
    else:
        strides = (whole.shape[axis] * line, made.step * line, row, whole.itemsize)
        windows = np.ndarray((lead, count, len(matrix), trail), whole.dtype, whole, 0, strides)
        np.matmul(matrix.T, windows, out=out)
    length = n * made.made // made.step
    return out.reshape(lead, count * made.made, trail)[:, :length].reshape(*before, length, *after)


def _combined(parts, axis, targets):
    """Complex numbers u0 ± j·u1 of even and odd samples along an axis, as pairs of real and imaginary parts."""
    sums = ((np.subtract, np.add), (np.add, np.subtract))
    samples = [(*halves(re, axis), *halves(im, axis)) for re, im in parts]
    return [
        (real(re0, im1, out=re), imaginary(im0, re1, out=im))
        for ((real, imaginary), (re0, re1, im0, im1)), (re, im) in zip(itertools.product(sums, samples), targets)
    ]


def _separated(plus, minus, axis, out):
    """Transpose of `_combined` for two complex numbers; the results are interleaved along the axis."""
    (even_re, odd_re), (even_im, odd_im) = (halves(part, axis) for part in out)
    np.add(plus[0], minus[0], out=even_re)
    np.subtract(plus[1], minus[1], out=odd_re)
    np.add(plus[1], minus[1], out=even_im)
    np.subtract(minus[0], plus[0], out=odd_im)
    return out


def _axes(axes, ndim):
    """Axes to transform as non-negative numbers."""
    if ndim < 1:
        raise LiftingError("the data has no axes: at least one is required")
    axes = range(ndim) if axes is None else axes if isinstance(axes, Iterable) else [axes]
    axes = normal_axes(axes, ndim)
    if len(set(axes)) != len(axes):
        raise LiftingError(f"axes {axes} name an axis twice")
    if not 1 <= len(axes) <= 3:
        raise LiftingError(
            f"{len(axes)} axes to transform: choose 1 to 3 of the {ndim} with `axes`, others are a batch"
        )
    return axes


def _real_samples(data, what):
    data = as_samples(data)
    if data.dtype.kind == "c":
        raise LiftingError(f"{what} is complex: transform its real and imaginary parts separately")
    return data


def dtcwt(
    data: ArrayLike,
    level: int = 3,
    biort: Biort = "near_sym_a",
    qshift: QShift = "qshift_a",
    axes: int | Iterable[int] | None = None,
    *,
    include_scale: bool = False,
    discard_level_1: bool = False,
) -> Pyramid:
    """Dual-tree complex wavelet transform along one, two or three axes.

    Parameters
    ----------
    data : array_like
        Real data. Integers are transformed in double precision, half precision in single.
    level : int, optional
        Number of levels, at least 0.
    biort : str, optional
        Filter bank of the first level: ``antonini``, ``legall``, ``near_sym_a``, ``near_sym_b`` or ``near_sym_b_bp``.
    qshift : str, optional
        Filter bank of all other levels: ``qshift_06``, ``qshift_a``, ``qshift_b``, ``qshift_c``, ``qshift_d`` or
        ``qshift_b_bp``. Banks ``_bp`` are for two axes. Their filter for diagonals makes the directions more alike,
        and the inverse is not exact.
    axes : int or iterable of int, optional
        One to three axes to transform; the others are a batch. All axes by default.
    include_scale : bool, optional
        Whether to return the low-pass coefficients of each level as ``scales``.
    discard_level_1 : bool, optional
        Whether to leave out the complex sub-bands of the first level. They are most of the coefficients; without them
        the inverse is not exact. ``highpasses[0]`` is then None.

    Returns
    -------
    Pyramid
        A named tuple ``(lowpass, highpasses, scales)``. ``highpasses[j]`` has the complex coefficients of level
        j + 1: half as many along each transformed axis as ``scales[j]`` has. With two axes, 6 directions are along a
        new last axis: 15°, 45°, 75°, 105°, 135° and 165°. With three axes there are 28. Precision is that of the data.

    Raises
    ------
    LiftingError
        A bank is unknown, the level count is negative, the data is complex, an axis has no samples, or there are not 1
        to 3 axes.
    numpy.exceptions.AxisError
        An axis is out of range.

    Notes
    -----
    N. Kingsbury, "Complex wavelets for shift invariant analysis and filtering of signals", Appl. Comput. Harmon.
    Anal. 10 (2001); I. Selesnick, R. Baraniuk and N. Kingsbury, "The dual-tree complex wavelet transform", IEEE Signal
    Process. Mag. 22 (2005). Results are those of the ``dtcwt`` package within rounding, with its order of sub-bands.

    Borders are reflected with the outermost sample repeated. An odd length is first extended by its last sample.
    Before later levels, lengths that are not a multiple of 4 are extended by the outermost sample at both ends.

    Samples are multiplied by matrices in blocks, so an infinity or NaN reaches up to 64 neighbours in each level.

    Examples
    --------
    >>> image = np.arange(48.0).reshape(6, 8)
    >>> lowpass, highpasses, _ = dtcwt(image, level=2)
    >>> lowpass.shape, [subbands.shape for subbands in highpasses]
    ((4, 4), [(3, 4, 6), (2, 2, 6)])
    >>> bool(abs(idtcwt((lowpass, highpasses)) - image).max() < 1e-12)
    True
    """
    data = _real_samples(data, "the data")
    axes, level = _axes(axes, data.ndim), check_level(level)
    dims = len(axes)
    check_banks(biort, qshift, dims)
    last = range(data.ndim - dims, data.ndim)
    moved = np.moveaxis(data, axes, last)
    check_shape(data.shape, axes)
    if not level:
        return Pyramid(data.copy(), ())
    made = analysis(moved, level, biort, qshift, dims, _ARRAYS, include_scale, discard_level_1)
    lowpass, *scales = (np.moveaxis(x, last, axes) for x in (made.lowpass, *made.scales))
    highpasses = (None if x is None else np.moveaxis(x, last, axes) for x in made.highpasses)
    return Pyramid(lowpass, tuple(highpasses), tuple(scales))


def idtcwt(
    pyramid: Pyramid | tuple,
    biort: Biort = "near_sym_a",
    qshift: QShift = "qshift_a",
    axes: int | Iterable[int] | None = None,
) -> NDArray:
    """Inverse of `dtcwt`.

    Parameters
    ----------
    pyramid : Pyramid or tuple
        Result of `dtcwt`, or ``(lowpass, highpasses)``. None in place of the sub-bands of a level stands for zeros.
    biort, qshift : str, optional
        Filter banks of `dtcwt`.
    axes : int or iterable of int, optional
        Axes of `dtcwt`. All axes of ``lowpass`` by default.

    Returns
    -------
    numpy.ndarray
        The data. Where its length was odd, its last sample is repeated.

    Raises
    ------
    LiftingError
        A bank is unknown, ``lowpass`` is complex, sub-bands do not fit the low-pass coefficients of their level, or
        there are not 1 to 3 axes.
    numpy.exceptions.AxisError
        An axis is out of range.

    Examples
    --------
    >>> lowpass, highpasses, _ = dtcwt([3.0, 7, 1, 1, -2, 5, 4], level=2)
    >>> idtcwt((lowpass, highpasses)).round(6).tolist()
    [3.0, 7.0, 1.0, 1.0, -2.0, 5.0, 4.0, 4.0]
    >>> idtcwt((lowpass, [None, None])).round(2).tolist()
    [3.9, 3.03, 2.66, 1.81, 1.81, 2.71, 3.09, 3.99]
    """
    lowpass, highpasses = pyramid_parts(pyramid)
    lowpass = _real_samples(lowpass, "lowpass")
    axes = _axes(axes, lowpass.ndim)
    dims = len(axes)
    check_banks(biort, qshift, dims)
    check_shape(lowpass.shape, axes)
    highpasses = [None if x is None else as_samples(x) for x in highpasses]
    dtype = np.result_type(lowpass, *(x.real.dtype for x in highpasses if x is not None))
    last = range(lowpass.ndim - dims, lowpass.ndim)
    moved = [x if x is None or x.ndim < lowpass.ndim else np.moveaxis(x, axes, last) for x in highpasses]
    low = np.moveaxis(lowpass.astype(dtype, copy=not highpasses), axes, last)
    return np.moveaxis(synthesis(low, moved, biort, qshift, dims, _ARRAYS), last, axes)
