"""Wavelet transforms as linear operators on vectors, with exact adjoints, for iterative solvers."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _dwt
from ._dwt import as_samples, dwtn, modes_per_axis, wavelets_per_axis
from ._lifting import LiftingError
from ._multilevel import _chosen, unravel_coeffs, wavedecn_shapes, waverecn


class WaveletOperator:
    """A linear operator on vectors: the analysis of `wavedecn`, or the synthesis of `waverecn`, and its adjoint.

    The adjoint is the exact transpose in all of PyWavelets' modes. Synthesis is the transpose of analysis only for
    orthogonal wavelets and periodized data. ``scipy.sparse.linalg.aslinearoperator`` and ``pylops.LinearOperator``
    take the operator as it is.

    Parameters
    ----------
    dims : sequence of int
        Shape of the data.
    wavelet : str or Wavelet, or sequence of them
        A wavelet, or one for each axis.
    mode : str, or sequence of str, optional
        A mode, or one for each axis.
    level : int, optional
        Number of levels, by default the largest useful one.
    axes : int or sequence of int, optional
        Axes to transform, all by default.
    dtype : dtype, optional
        Type of vectors: float32, float64, complex64 or complex128.
    synthesis : bool, optional
        Whether the operator maps coefficients to data, instead of data to coefficients.

    Attributes
    ----------
    shape : tuple of int
        Number of rows and of columns.
    dtype : numpy.dtype
        Type of vectors.
    dims, dimsd : tuple of int
        Shapes of the input and of the output: those of the data, and the number of coefficients.

    Raises
    ------
    LiftingError
        An axis has too few samples for the mode, or the type is not one of these four.
    ValueError
        The wavelet or the mode is unknown, or the level is negative.
    numpy.exceptions.AxisError
        An axis is out of range.

    Examples
    --------
    >>> operator = WaveletOperator((6, 9), "db2", "reflect", level=1)
    >>> operator.shape
    (96, 54)
    >>> x, y = np.arange(54.0), np.arange(96.0)
    >>> bool(np.isclose(operator.matvec(x) @ y, x @ operator.rmatvec(y)))
    True
    >>> operator.coefficients(y)[0].shape
    (4, 6)
    """

    def __init__(
        self,
        dims: int | Sequence[int],
        wavelet: Any,
        mode: Any = "symmetric",
        level: int | None = None,
        axes: int | Iterable[int] | None = None,
        dtype: DTypeLike = "float64",
        *,
        synthesis: bool = False,
    ) -> None:
        data = (int(dims),) if np.isscalar(dims) else tuple(int(n) for n in dims)
        self.dtype = np.dtype(dtype)
        if self.dtype.char not in "fdFD":
            raise LiftingError(f"unsupported type {self.dtype}: choose float32, float64, complex64 or complex128")
        self._axes = tuple(axis % len(data) for axis in _chosen(len(data), axes))
        self._wavelets = wavelets_per_axis(wavelet, self._axes)
        self._modes = modes_per_axis(mode, self._axes)
        self._check([data], ["zero"] * len(self._axes))
        low, *details = wavedecn_shapes(data, self._wavelets, self._modes, level, self._axes)
        #: Shapes of the data of each level, the finest first.
        self._levels = [data, *(next(iter(level.values())) for level in reversed(details))]
        self._check(self._levels[:-1], [mode.name for mode in self._modes])
        self._slices, self._shapes, end = [slice(math.prod(low))], [low], math.prod(low)
        for level in details:
            keys, size = sorted(level), math.prod(next(iter(level.values())))
            self._slices.append({key: slice(end + i * size, end + (i + 1) * size) for i, key in enumerate(keys)})
            self._shapes.append({key: level[key] for key in keys})
            end += len(keys) * size
        self._synthesis = synthesis
        self._data, self._size = data, end
        self.dims, self.dimsd = ((end,), data) if synthesis else (data, (end,))
        self.shape = (math.prod(self.dimsd), math.prod(self.dims))

    def __repr__(self) -> str:
        kind = "synthesis" if self._synthesis else "analysis"
        names = ", ".join(wavelet.name for wavelet in self._wavelets)
        return f"<{kind} of {self._data} by {names}: {self.shape[0]}×{self.shape[1]}, {self.dtype}>"

    def matvec(self, x: ArrayLike) -> NDArray:
        """The operator times a vector.

        Parameters
        ----------
        x : array_like
            Vector of ``shape[1]`` numbers.

        Returns
        -------
        numpy.ndarray
            Vector of ``shape[0]`` numbers.
        """
        x = self._vector(x, self.shape[1])
        return self._synthesise(x) if self._synthesis else self._analyse(x)

    def rmatvec(self, y: ArrayLike) -> NDArray:
        """The adjoint, the conjugate transpose, times a vector.

        Parameters
        ----------
        y : array_like
            Vector of ``shape[0]`` numbers.

        Returns
        -------
        numpy.ndarray
            Vector of ``shape[1]`` numbers.
        """
        y = self._vector(y, self.shape[0])
        return self._synthesise_adjoint(y) if self._synthesis else self._analyse_adjoint(y)

    # PyLops calls these.
    _matvec, _rmatvec = matvec, rmatvec

    def coefficients(self, vector: ArrayLike) -> list:
        """Views of the bands in a vector of coefficients, in the form of `wavedecn`.

        Parameters
        ----------
        vector : array_like
            Vector of coefficients.

        Returns
        -------
        list
            Bands.
        """
        vector = np.asarray(vector)
        if vector.shape != (self._size,):
            raise LiftingError(f"a vector of shape {vector.shape} does not fit {self._size} coefficients")
        return unravel_coeffs(vector, self._slices, self._shapes)

    def _check(self, shapes, modes):
        """Raises an error if a transformed axis is too short for its mode at some level."""
        for shape in shapes:
            for axis, mode in zip(self._axes, modes, strict=True):
                if shape[axis] < (2 if mode in ("reflect", "antireflect") else 1):
                    raise LiftingError(
                        f"axis {axis} has {shape[axis]} samples at a level, too few for mode {mode!r}: choose another "
                        "mode, or fewer levels"
                    )

    def _vector(self, x, size):
        x = as_samples(x)
        if x.size != size or x.ndim > 2:
            raise LiftingError(f"a vector of shape {x.shape} does not fit an operator of shape {self.shape}")
        return x.reshape(size).astype(np.result_type(x.dtype, self.dtype), copy=False)

    def _analyse(self, x):
        low, details = x.reshape(self._data), []
        for _ in self._levels[1:]:
            details.append(dwtn(low, self._wavelets, self._modes, self._axes))
            low = details[-1].pop("a" * len(self._axes))
        return self._joined(low, details[::-1], x.dtype)

    def _joined(self, low, details, dtype):
        """A vector of coefficients."""
        y = np.empty(self._size, dtype)
        views = self.coefficients(y)
        views[0][...] = low
        for targets, bands in zip(views[1:], details, strict=True):
            for key, target in targets.items():
                target[...] = bands[key]
        return y

    def _synthesise(self, y):
        if len(self._levels) == 1:
            return y.copy()
        x = waverecn(self.coefficients(y), self._wavelets, self._modes, self._axes)
        return x[tuple(map(slice, self._data))].ravel()

    def _analyse_adjoint(self, y):
        low, *details = self.coefficients(y)
        for bands, shape in zip(details, reversed(self._levels[:-1]), strict=True):
            bands = {**bands, "a" * len(self._axes): low}
            low = _join(bands, shape, list(zip(self._axes, self._wavelets, self._modes)))
        return low.ravel() if details else y.copy()

    def _synthesise_adjoint(self, x):
        low, details = x.reshape(self._data), []
        for shape in self._levels[1:]:
            bands = _split(low, shape, list(zip(self._axes, self._wavelets, self._modes)))
            low = bands.pop("a" * len(self._axes))
            details.append(bands)
        return self._joined(low, details[::-1], x.dtype)


def _prepared(shape, along, dtype, of_bands):
    """The native level of axes with one wavelet."""
    axes, wavelets, modes = zip(*along)
    modes = _dwt._modes_along(axes, modes, len(shape))
    engine = wavelets[0]._engine
    return _dwt._prepare(engine, tuple(shape), modes, _dwt._SAMPLES[dtype.char], of_bands, _dwt._threads)


def _is_native(along):
    axes, wavelets, _ = zip(*along)
    return _dwt._together(axes, wavelets)


def _join(bands, shape, along):
    """Adjoint of a level of analysis of data of that shape."""
    first = next(iter(bands.values()))
    if first.dtype.kind == "c":
        real, imaginary = ({key: getattr(band, part) for key, band in bands.items()} for part in ("real", "imag"))
        return _join(real, shape, along) + 1j * _join(imaginary, shape, along)
    if not first.size:
        return np.zeros(shape, first.dtype)
    if _is_native(along):
        data = np.empty(shape, first.dtype)
        given = [np.ascontiguousarray(bands[key]) for key in _dwt._letters(tuple(axis for axis, *_ in along))]
        _prepared(shape, along, first.dtype, False).adjoint(given, data)
        return data
    *others, (axis, _, _) = along
    partial = list(first.shape)
    partial[axis] = shape[axis]
    halves = {}
    for key in sorted({key[:-1] for key in bands}):
        halves[key] = _join({letter: bands[key + letter] for letter in "ad"}, partial, along[-1:])
    return _join(halves, shape, others)


def _split(data, shape, along):
    """Adjoint of a level of synthesis of bands of that shape, cut to the data."""
    if data.dtype.kind == "c":
        real, imaginary = (_split(part, shape, along) for part in (data.real, data.imag))
        return {key: real[key] + 1j * imaginary[key] for key in real}
    if _is_native(along):
        keys = _dwt._letters(tuple(axis for axis, *_ in along))
        if not data.size:
            return {key: np.zeros(shape, data.dtype) for key in keys}
        level = _prepared(shape, along, data.dtype, True)
        # The part that synthesis cuts off.
        whole = np.zeros(level.restored_shape, data.dtype)
        whole[tuple(map(slice, data.shape))] = data
        out = np.empty(level.extended, data.dtype)
        level.inverse_adjoint(whole, out)
        return {key: out[window] for key, window in zip(keys, level.windows, strict=True)}
    (axis, _, _), *others = along
    partial = list(data.shape)
    partial[axis] = shape[axis]
    halves = _split(data, partial, along[:1])
    return {letter + key: band for letter, half in halves.items() for key, band in _split(half, shape, others).items()}
