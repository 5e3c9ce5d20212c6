"""Levels of dual-tree transforms for any library of arrays.

A level splits data along each axis into real bands (`Arrays.split`), and combines blocks of 2, 2×2 or 2×2×2 samples of
the high-pass bands into complex numbers (`Arrays.pack`). `Arrays` has the operations in terms of few functions of a
library, so that its derivatives apply.
"""

import operator
from typing import Any, NamedTuple

from . import _dtcwt_banks as banks
from ._dtcwt_banks import DIAGONAL, HIGH, LOW
from ._lifting import LiftingError

#: Real bands of a level by number of axes, with the places of their complex sub-bands along the last axis.
PLACES = {
    1: {(HIGH,): (0,)},
    2: {(HIGH, LOW): (0, 5), (HIGH, HIGH): (1, 4), (LOW, HIGH): (2, 3)},
    3: {
        key: tuple(range(4 * i, 4 * i + 4))
        for i, key in enumerate([(0, 1, 0), (1, 0, 0), (1, 1, 0), (0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)])
    },
}


class Pyramid(NamedTuple):
    """Coefficients of a dual-tree transform, finest level first.

    ``lowpass`` has the low-pass coefficients of the last level. ``highpasses`` has an array of complex sub-bands for
    each level, or None for zeros. ``scales`` has the low-pass coefficients of each level, if they were asked for.
    """

    lowpass: Any
    highpasses: tuple[Any, ...]
    scales: tuple[Any, ...] = ()


class Arrays:
    """Operations on the arrays of a library.

    Subclasses name its functions ``moveaxis``, ``stack``, ``matmul``, ``complex``, ``real`` and ``imag``, and for the
    last axis ``concatenate`` and ``flip``. ``matrix`` is `banks.joined` for arrays like the first argument.
    """

    def split(self, x, axis, edges, *bank):
        """Bands of data along an axis, which is first extended by its outermost samples where ``edges`` says so."""
        x = self._reflected(self.moveaxis(x, axis, -1), *edges, x.shape[axis])
        n, made = x.shape[-1], banks.blocks(bank[0], False)
        y = self.matmul(self._windows(x, made), self.matrix(x, *bank, False))
        parts = (y[..., i : i + made.made] for i in range(0, y.shape[-1], made.made))
        return [self.moveaxis(self._line(part, n * made.made // made.step), -1, axis) for part in parts]

    def merge(self, bands, axis, *bank):
        """Data from bands along an axis."""
        n, made = bands[0].shape[axis], banks.blocks(bank[0], True)
        windows = [self._windows(self.moveaxis(band, axis, -1), made) for band in bands]
        y = self.matmul(self.concatenate(windows), self.matrix(bands[0], *bank, True))
        return self.moveaxis(self._line(y, n * made.made // made.step), -1, axis)

    def _windows(self, x, made):
        """Windows along the last axis of the extension: of shape (…, count, window)."""
        n, (window, halo, step, _) = x.shape[-1], made
        count, blocks = -(-n // step), -(-window // step)
        x = self._reflected(x, halo, (count + blocks - 1) * step - halo - n, n)
        x = x.reshape(*x.shape[:-1], count + blocks - 1, step)
        return self.concatenate([x[..., i : i + count, : window - i * step] for i in range(blocks)])

    def _line(self, y, length):
        """Blocks in a line."""
        return y.reshape(*y.shape[:-2], y.shape[-2] * y.shape[-1])[..., :length]

    def _reflected(self, x, before, after, period):
        """Half-sample symmetric extension along the last axis of data with that many samples per reflection."""
        while before or after:
            size = x.shape[-1]
            most = size // period * period
            left, right = min(before, most), min(after, most)
            parts = [self.flip(x[..., :left])] * (left > 0) + [x]
            parts += [self.flip(x[..., size - right :])] * (right > 0)
            x = self.concatenate(parts)
            before, after = before - left, after - right
        return x

    def pack(self, bands, dims):
        """Complex sub-bands of real bands, along a new last axis if there are several axes."""
        made = {}
        for key, places in PLACES[dims].items():
            parts = [halves(bands[key], -1)]
            for axis in range(-2, -dims - 1, -1):
                samples = [(*halves(re, axis), *halves(im, axis)) for re, im in parts]
                # u0 ± j·u1 of even samples u0 and odd samples u1.
                parts = [(re0 - im1, im0 + re1) for re0, re1, im0, im1 in samples]
                parts += [(re0 + im1, im0 - re1) for re0, re1, im0, im1 in samples]
            made |= zip(places, (self.complex(*part) for part in parts))
        return made[0] if dims == 1 else self.stack([made[i] for i in sorted(made)], -1)

    def unpack(self, subbands, dims):
        """Real bands of complex sub-bands: the transpose of `pack`."""
        bands = {}
        for key, places in PLACES[dims].items():
            each = [subbands if dims == 1 else subbands[..., i] for i in places]
            parts = [(self.real(z), self.imag(z)) for z in each]
            for axis in range(-dims, -1):
                half = len(parts) // 2
                parts = [
                    (self._interleaved(a + c, b - d, axis), self._interleaved(b + d, c - a, axis))
                    for (a, b), (c, d) in zip(parts[:half], parts[half:])
                ]
            bands[key] = self._interleaved(*parts[0], -1)
        return bands

    def _interleaved(self, even, odd, axis):
        shape = list(even.shape)
        shape[axis] *= 2
        return self.stack([even, odd], axis).reshape(shape)


def halves(x, axis):
    """Even and odd samples along an axis, counted from the last."""
    rest = (slice(None),) * (-axis - 1)
    return x[(..., slice(0, None, 2), *rest)], x[(..., slice(1, None, 2), *rest)]


def check_banks(biort, qshift, dims):
    """Raises an error for unknown banks."""
    for name, known, what in ((biort, banks.FIRST, "first level"), (qshift, banks.LATER, "levels after the first")):
        if name not in known:
            raise LiftingError(f"unknown bank {name!r} of the {what}; choose one of {', '.join(known)}")
        if dims != 2 and banks.has_diagonal(name):
            raise LiftingError(
                f"bank {name!r} has a filter for the diagonals of two axes, but {dims} are transformed: choose "
                f"{name.removesuffix('_bp')!r}"
            )


def pyramid_parts(pyramid):
    """Low-pass coefficients and sub-bands of a `Pyramid`, of an object alike, or of a pair."""
    if hasattr(pyramid, "lowpass"):
        return pyramid.lowpass, tuple(pyramid.highpasses)
    try:
        lowpass, highpasses, *_ = pyramid
    except (TypeError, ValueError):
        raise LiftingError(f"a pyramid must be a result of `dtcwt`, not a {type(pyramid).__name__}") from None
    return lowpass, tuple(highpasses)


def check_level(level):
    """Number of levels."""
    try:
        level = operator.index(level)
    except TypeError:
        raise LiftingError(f"a level count must be an integer, not {type(level).__name__}") from None
    if level < 0:
        raise LiftingError(f"invalid level count {level}: it must be at least 0")
    return level


def check_shape(shape, axes):
    """Raises an error if an axis to transform has no samples."""
    for axis in axes:
        if not shape[axis]:
            raise LiftingError(f"data of shape {tuple(shape)} has no samples along axis {axis}: at least 1 is required")


def check_batch(shape, biort, qshift, dims, what):
    """Raises an error unless these banks transform the last axes of such a batch; ``what`` names its kind."""
    if not 1 <= dims <= min(len(shape), 3):
        raise LiftingError(f"invalid dims={dims}: this {what} allows 1 to {min(len(shape), 3)}")
    check_banks(biort, qshift, dims)
    check_shape(shape, range(len(shape) - dims, len(shape)))


def _factor(key, dims):
    """Factor of a band after the last axis, for which `Arrays.pack` preserves energy."""
    return 2.0 ** ((1 - dims) / 2) if len(key) == dims and any(key) else 1.0


def _keys(key, dims, diagonal):
    """Bands of a band, split along the next axis."""
    if diagonal and key:
        kept = {LOW: (LOW, HIGH), HIGH: (LOW,), DIAGONAL: (DIAGONAL,)}[key[0]]
    else:
        kept = (LOW, HIGH, DIAGONAL) if diagonal else (LOW, HIGH)
    return [(*key, band) for band in kept]


def analysis(x, level, biort, qshift, dims, arrays, include_scale, discard_level_1):
    """Levels of analysis along the last ``dims`` axes."""
    low = (LOW,) * dims
    highpasses, scales = [], []
    for number in range(level):
        name = qshift if number else biort
        bands = {(): x}
        for axis in range(x.ndim - dims, x.ndim):
            n = x.shape[axis]
            # Even lengths for the first level, multiples of 4 for others.
            edges = (n % 4 // 2,) * 2 if number else (0, n % 2)
            made = {}
            for key, band in bands.items():
                keys = _keys(key, dims, banks.has_diagonal(name))
                if discard_level_1 and not number:
                    keys = keys[:1]
                wanted = tuple((key[-1], _factor(key, dims)) for key in keys)
                made |= zip(keys, arrays.split(band, axis, edges, name, wanted))
            bands = made
        x = bands.pop(low)
        if (DIAGONAL, DIAGONAL) in bands:
            bands[HIGH, HIGH] = bands.pop((DIAGONAL, DIAGONAL))
        highpasses.append(arrays.pack(bands, dims) if bands else None)
        if include_scale:
            scales.append(x)
    return Pyramid(x, tuple(highpasses), tuple(scales))


def synthesis(x, highpasses, biort, qshift, dims, arrays):
    """Levels of synthesis along the last ``dims`` axes."""
    low = (LOW,) * dims
    lengths = _lengths(highpasses, x.ndim, dims)
    for number in reversed(range(len(highpasses))):
        name = qshift if number else biort
        bands = {low: x}
        _check_subbands(highpasses[number], number, x.shape, dims)
        if highpasses[number] is not None:
            bands |= arrays.unpack(highpasses[number], dims)
            if banks.has_diagonal(name):
                bands[DIAGONAL, DIAGONAL] = bands.pop((HIGH, HIGH))
        for axis in reversed(range(x.ndim - dims, x.ndim)):
            made = {}
            for key in sorted({key[:-1] for key in bands}):
                keys = sorted(one for one in bands if one[:-1] == key)
                wanted = tuple((one[-1], _factor(one, dims)) for one in keys)
                made[key] = arrays.merge([bands[one] for one in keys], axis, name, wanted)
            bands = made
        x = bands[()]
        if number and lengths[number - 1] is not None:
            for axis, length in zip(range(x.ndim - dims, x.ndim), lengths[number - 1]):
                if x.shape[axis] == length + 2:
                    x = x[(slice(None),) * axis + (slice(1, -1),)]
    return x


def _lengths(highpasses, ndim, dims):
    """Lengths of each level's low-pass coefficients, or None for levels before the first sub-bands that are given."""
    lengths, known = [], None
    for subbands in highpasses:
        if subbands is not None:
            known = [2 * n for n in subbands.shape[ndim - dims : ndim]]
        elif known is not None:
            known = [(n + n % 4) // 2 for n in known]
        lengths.append(known)
    return lengths


def _check_subbands(subbands, number, shape, dims):
    """Raises an error if sub-bands of a level do not fit its low-pass coefficients."""
    batch, lengths = shape[: len(shape) - dims], shape[len(shape) - dims :]
    if any(n % 2 for n in lengths):
        raise LiftingError(
            f"low-pass coefficients of shape {tuple(shape)} have an odd length along {dims} axes: pass a result of "
            "`dtcwt`, with the same axes"
        )
    last = () if dims == 1 else (sum(map(len, PLACES[dims].values())),)
    fit = (*batch, *(n // 2 for n in lengths), *last)
    if subbands is not None and tuple(subbands.shape) != fit:
        raise LiftingError(
            f"highpasses[{number}] of shape {tuple(subbands.shape)} does not fit low-pass coefficients of shape "
            f"{tuple(shape)} along {dims} axes, which need {fit}: pass a result of `dtcwt`, with the same axes"
        )
