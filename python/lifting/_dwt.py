"""One level of PyWavelets' transforms, in all nine modes."""

import functools
import itertools
import math
import os
from collections.abc import Iterable, Sequence
from numbers import Number
from typing import Any, Literal

import numpy as np
from numpy.exceptions import AxisError
from numpy.typing import ArrayLike

from . import _arrays, _lifting
from ._cache import cached, quick, remember
from ._lifting import LiftingError
from ._types import Array, Bands, Level2D, ModeLike, ModesLike, SomeBands, WaveletLike, Wavelets
from ._wavelet import Modes, Wavelet, as_wavelet

_SAMPLES = {"f": "f32", "d": "f64"}
#: Largest number of samples whose level is found by the arguments alone.
_FEW = 1 << 12
_threads = os.cpu_count() or 1


def set_threads(count: int | None = None) -> int:
    """Sets the number of threads of PyWavelets' functions, all by default. Returns the previous number. Plans have
    their own argument ``threads``.

    Parameters
    ----------
    count : int, optional
        Number of threads, all by default.

    Returns
    -------
    int
        The previous number.

    Examples
    --------
    >>> before = set_threads(1)
    >>> set_threads(before)
    1
    """
    global _threads
    before = _threads
    _threads = max(1, int(count if count is not None else os.cpu_count() or 1))
    quick.clear()
    return before


def check_dtype(data):
    """PyWavelets' computation type for data: single for half and single, else double; complex stays complex."""
    dtype = as_array(data).dtype
    if dtype in (np.float32, np.float64, np.complex64, np.complex128):
        return dtype.newbyteorder("=")
    if dtype == np.float16:
        return np.dtype(np.float32)
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


def as_array(data):
    """Data as a NumPy array of numbers; arrays on a GPU stay as they are."""
    if hasattr(data, "__cuda_array_interface__"):
        return data
    array = np.asarray(data)
    return _arrays.numbers(array) if array.dtype == np.dtype("object") and array.ndim else array


def is_array(data):
    """Whether the data is already an array."""
    return isinstance(data, np.ndarray) or hasattr(data, "__cuda_array_interface__")


def as_samples(data, on_gpu=False):
    """Data as an array of its `check_dtype`, of NumPy, or of CuPy with ``on_gpu``."""
    array = as_array(data)
    is_cupys = type(array).__module__.partition(".")[0] == "cupy"
    if not isinstance(array, np.ndarray) and not (on_gpu and is_cupys):
        raise LiftingError(
            f"the data is a {type(data).__name__} on a GPU: `dwt`, `wavedec` and their 2-D and n-D forms take CuPy "
            "arrays; for PyTorch and JAX use `lifting.torch` and `lifting.jax`"
        )
    array = array.astype(check_dtype(array), copy=False)
    return _arrays.native(array)


def per_axis(given, axes, single, what):
    """A list with an entry for each axis, from one value or from one for each axis."""
    if isinstance(given, (str, int, Wavelet)) or hasattr(given, "filter_bank"):
        return [single(given)] * len(axes)
    if not isinstance(given, Iterable):
        raise ValueError(f"{what} must be a single one, or one for each axis, not {type(given).__name__}")
    given = list(given)
    if len(given) == 1:
        return [single(given[0])] * len(axes)
    if len(given) != len(axes):
        raise ValueError(f"{len(given)} {what} for {len(axes)} axes: pass one, or one for each axis")
    return [single(one) for one in given]


def wavelets_per_axis(wavelet, axes):
    """Wavelets of the axes."""
    return per_axis(wavelet, axes, as_wavelet, "wavelets")


def modes_per_axis(mode, axes):
    """Modes of the axes."""
    if mode is None:
        raise TypeError("a mode must be a name or a number, not None")
    return per_axis(mode, axes, Modes.from_object, "modes")


def normal_axes(axes, ndim, what="data"):
    """Axes as non-negative numbers."""
    axes = tuple(axis + ndim if axis < 0 else axis for axis in axes)
    for axis in axes:
        if not 0 <= axis < ndim:
            raise AxisError(f"axis {axis} is out of range for {what} with {ndim} dimensions")
    return axes


def _device(array):
    """Name of an array's GPU, for `_plan`; None for host memory, where native levels run."""
    return f"cuda:{array.device.id}" if hasattr(array, "__cuda_array_interface__") else None


def check_steps(engine):
    """Raises an error for a filter bank that is executed by convolution, which GPUs lack."""
    if isinstance(engine, _lifting.Bank):
        raise LiftingError(
            "the filter bank has no lifting steps, which GPUs need: pass `lifting.factor(bank)`, or data in host memory"
        )


@cached(lambda level, device: level[1])
def _plan(level, device):
    """A level as a device plan, its direction, and the scratch memory of that direction in bytes."""
    check_steps(level[0])
    plan = _lifting.level_plan(*level, device)
    way = "inverse" if level[-1] else "forward"
    return plan, way, plan.scratch_bytes(way, 0) if plan.gpu is not None else 0


def _queue(level, device, given, out):
    """Runs a level on a device, from one contiguous array to another."""
    library = _arrays.library(given)
    plan, way, size = _plan(level, device)
    if plan.gpu is None:
        # The interpreter of GPU kernels takes arrays in host memory.
        return plan.run(way, given, out)
    memory, address = library.scratch(size, given) if size else (None, 0)
    plan.run(way, library.view(given), library.view(out), 0, library.stream(given), address)
    del memory


class _Prepared:
    """A native level with its shapes and windows as Python tuples."""

    __slots__ = (
        "adjoint",
        "band_shape",
        "crop",
        "extended",
        "forward",
        "inverse",
        "inverse_adjoint",
        "level",
        "restored_shape",
        "windows",
    )

    def __init__(self, engine, shape, modes, samples, of_bands, threads):
        self.level = (engine, shape, modes, samples, of_bands)
        if isinstance(engine, _lifting.Bank):
            level = _lifting.BankLevel(engine, shape, modes, samples, of_bands)
        else:
            level = _lifting.Level(engine, shape, modes, samples, of_bands, threads)
        self.forward, self.inverse = level.forward, level.inverse
        self.adjoint, self.inverse_adjoint = level.adjoint, level.inverse_adjoint
        self.extended = tuple(level.extended_shape)
        self.band_shape = tuple(level.band_shape)
        self.windows = [_window(offset, self.band_shape) for offset in level.offsets]
        self.restored_shape = tuple(level.restored_shape)
        self.crop = _window(level.first, self.restored_shape)

    def split(self, data):
        """Analysis into one array; `windows` selects the bands."""
        whole = _arrays.library(data).empty(self.extended, data.dtype, data)
        if device := _device(data):
            _queue(self.level, device, _dense(data), whole)
        else:
            self.forward(data, whole)
        return whole

    def join(self, bands):
        """Synthesis of bands; None stands for zeros."""
        first = next(band for band in bands if band is not None)
        library = _arrays.library(first)
        whole = library.empty(self.extended, first.dtype, first)
        device = _device(first)
        if device is None:
            self.inverse(bands, whole)
            return whole[self.crop]
        whole[...] = 0
        for band, window in zip(bands, self.windows):
            if band is not None:
                whole[window] = band
        out = library.empty(self.restored_shape, first.dtype, first)
        _queue(self.level, device, whole, out)
        return out


def _dense(array):
    return array if array.flags.c_contiguous else array.copy()


def _window(offset, shape):
    return tuple(slice(o, o + n) for o, n in zip(offset, shape))


_prepare = cached(lambda engine, shape, *others: shape)(_Prepared)


def _modes_along(axes, modes, ndim):
    along = [None] * ndim
    for axis, mode in zip(axes, modes):
        along[axis] = mode.name
    return tuple(along)


def _together(axes, wavelets):
    """Whether one native level covers all axes."""
    return len(set(axes)) == len(axes) and all(w._engine is wavelets[0]._engine for w in wavelets)


def _letters(axes):
    """Keys of a native level's bands: letters in the order of ``axes``, bands in the order of ascending axes."""
    ascending = sorted(axes)
    places = [ascending.index(axis) for axis in axes]
    return ["".join("ad"[band[place]] for place in places) for band in itertools.product((0, 1), repeat=len(axes))]


_letters = functools.lru_cache(maxsize=512)(_letters)


def _analyse(data, wavelets, modes, axes):
    """All bands by key."""
    for mode, axis in zip(modes, axes):
        if data.shape[axis] == 1 and mode in (Modes.reflect, Modes.antireflect):
            raise ValueError(f"axis {axis} has one sample, but mode {mode.name} needs two: choose another mode")
    if not axes:
        return {"": data.copy()}
    if _is_empty(data.shape, axes):
        shape = list(data.shape)
        for axis, wavelet, mode in zip(axes, wavelets, modes):
            shape[axis] = dwt_coeff_len(shape[axis], wavelet, mode)
        library = _arrays.library(data)
        keys = ("".join(letters) for letters in itertools.product("ad", repeat=len(axes)))
        return {key: library.empty(tuple(shape), data.dtype, data) for key in keys}
    if _together(axes, wavelets):
        along = _modes_along(axes, modes, data.ndim)
        level = _prepare(wavelets[0]._engine, data.shape, along, _SAMPLES[data.real.dtype.char], False, _threads)
        whole = level.split(data) if data.dtype.kind != "c" else _complex(level.split, data)
        bands = dict(zip(_letters(axes), level.windows))
        return {key: whole[bands[key]] for key in sorted(bands)}
    bands = {"": data}
    for axis, wavelet, mode in zip(axes, wavelets, modes):
        one = [_analyse(band, [wavelet], [mode], (axis,)) for band in bands.values()]
        bands = {key + letter: halves[letter] for key, halves in zip(bands, one) for letter in "ad"}
    return bands


def _is_empty(shape, axes):
    """Whether a batch of data has no elements."""
    return 0 in shape and all(shape[axis] for axis in axes)


def _complex(transform, data):
    """A real transform of real and imaginary parts. One array holds the result: many would cost as many page faults."""
    real = transform(data.real)
    made = _arrays.library(data).empty(real.shape, data.dtype, data)
    made.real = real
    del real
    made.imag = transform(data.imag)
    return made


def _synthesise(bands, shape, dtype, wavelets, modes, axes):
    """Data from bands by key: arrays of one shape and type, or None."""
    if _is_empty(shape, axes):
        restored = list(shape)
        for axis, wavelet, mode in zip(axes, wavelets, modes):
            more = 0 if mode == Modes.periodization else wavelet.dec_len - 2
            restored[axis] = max(2 * restored[axis] - more, 0)
        first = next(band for band in bands.values() if band is not None)
        return _arrays.library(first).empty(tuple(restored), dtype, first)
    if _together(axes, wavelets):
        along = _modes_along(axes, modes, len(shape))
        samples = _SAMPLES[np.empty(0, dtype).real.dtype.char]
        level = _prepare(wavelets[0]._engine, shape, along, samples, True, _threads)
        given = [bands.get(key) for key in _letters(axes)]
        if dtype.kind != "c":
            return level.join(given)
        first = next(band for band in given if band is not None)
        real, imaginary = ([None if b is None else getattr(b, part) for b in given] for part in ("real", "imag"))
        made = _arrays.library(first).empty(level.restored_shape, dtype, first)
        made.real = level.join(real)
        made.imag = level.join(imaginary)
        return made
    for axis, wavelet, mode in reversed(list(zip(axes, wavelets, modes))):
        joined = {}
        for key in sorted({key[:-1] for key in bands}):
            halves = {letter: bands.get(key + letter) for letter in "ad"}
            present = [half for half in halves.values() if half is not None]
            if present:
                joined[key] = _synthesise(halves, present[0].shape, dtype, [wavelet], [mode], (axis,))
        bands = joined
    return bands[""]


def dwt_max_level(data_len: int, filter_len: int | WaveletLike) -> int:
    """The largest number of levels at which some coefficient is free of border effects.

    Parameters
    ----------
    data_len : int
        Number of samples.
    filter_len : int, str or Wavelet
        Length of the filters, or the wavelet.

    Returns
    -------
    int
        Number of levels.

    Examples
    --------
    >>> dwt_max_level(1000, "sym5"), dwt_max_level(1000, 10)
    (6, 6)
    """
    filter_len = _filter_length(filter_len)
    if not (isinstance(filter_len, Number) and filter_len % 1 == 0):
        raise ValueError("a filter length must be an integer, or a wavelet")
    if filter_len < 2:
        raise ValueError(f"invalid filter length {filter_len}: it must be at least 2")
    return max_level(int(data_len), int(filter_len))


def _filter_length(given):
    """The length of a wavelet's filters, or what is given instead of a wavelet."""
    is_wavelet = isinstance(given, str) or hasattr(given, "filter_bank")
    return as_wavelet(given).dec_len if is_wavelet else given


def max_level(data_len, filter_len):
    """⌊log₂(data_len/(filter_len − 1))⌋, at least 0."""
    if data_len < 0:
        raise ValueError(f"invalid data length {data_len}: it must be at least 0")
    return max(0, (data_len // (filter_len - 1)).bit_length() - 1)


def dwt_coeff_len(data_len: int, filter_len: int | WaveletLike, mode: ModeLike) -> int:
    """Number of coefficients in a band of ``data_len`` samples.

    Parameters
    ----------
    data_len : int
        Number of samples.
    filter_len : int, str or Wavelet
        Length of the filters, or the wavelet.
    mode : str or int
        Extension of the data.

    Returns
    -------
    int
        Number of coefficients.

    Examples
    --------
    >>> dwt_coeff_len(9, "db2", "symmetric"), dwt_coeff_len(9, 4, "periodization")
    (6, 5)
    """
    filter_len = _filter_length(filter_len)
    if data_len < 1:
        raise ValueError(f"invalid data length {data_len}: it must be at least 1")
    if filter_len < 1:
        raise ValueError(f"invalid filter length {filter_len}: it must be at least 1")
    if Modes.from_object(mode) == Modes.periodization:
        return (data_len + 1) // 2
    return (data_len + filter_len - 1) // 2


def dwt(data: ArrayLike, wavelet: WaveletLike, mode: ModeLike = "symmetric", axis: int = -1) -> tuple[Array, Array]:
    """One level of analysis along an axis: ``(cA, cD)``.

    Parameters
    ----------
    data : array_like
        Data.
    wavelet : str or Wavelet
        Wavelet.
    mode : str or int, optional
        Extension of the data at its ends, one of `Modes.modes`.
    axis : int, optional
        Axis to transform.

    Returns
    -------
    cA, cD : numpy.ndarray
        Low and high band.

    Examples
    --------
    >>> [c.round(4).tolist() for c in dwt([1, 2, 3, 4, 5, 6], "db1")]
    [[2.1213, 4.9497, 7.7782], [-0.7071, -0.7071, -0.7071]]
    """
    if type(data) is np.ndarray and (level := _known(wavelet, mode, axis, data)) is not None:
        whole = np.empty(level.extended, data.dtype)
        level.forward(data, whole)
        return whole[level.windows[0]], whole[level.windows[1]]
    given, data = (wavelet, mode, axis, data), as_samples(data, on_gpu=True)
    mode = Modes.from_object(mode)
    wavelet = as_wavelet(wavelet)
    axes = normal_axes([axis], data.ndim)
    bands = _analyse(data, [wavelet], [mode], axes)
    _know(given, [data], wavelet, mode, axes)
    return bands["a"], bands["d"]


def _known(wavelet, mode, axis, *arrays):
    """The native level of these arguments if `_know` has stored it."""
    try:
        level = quick.get((wavelet, mode, axis, *((array.shape, array.dtype) for array in arrays)))
    except TypeError:
        # Arguments without a hash.
        return None
    return level if level is None or all(array.flags.aligned for array in arrays) else None


def _know(given, arrays, wavelet, mode, axes):
    """Stores the native level of a call with few samples, so that `_known` finds it without the checks."""
    wavelets, modes, axis, *data = given
    shape, dtype = arrays[0].shape, arrays[0].dtype
    small = 0 < arrays[0].size <= _FEW and dtype.char in _SAMPLES
    if not small or any(type(x) is not np.ndarray or x.dtype != dtype for x in data):
        return
    # Old names warn each time.
    if isinstance(modes, str) and modes not in Modes.__members__:
        return
    along = _modes_along(axes, [mode], len(shape))
    level = _prepare(wavelet._engine, shape, along, _SAMPLES[dtype.char], len(data) == 2, _threads)
    try:
        remember((wavelets, modes, axis, *((array.shape, array.dtype) for array in data)), level)
    except TypeError:
        pass


def idwt(
    cA: ArrayLike | None, cD: ArrayLike | None, wavelet: WaveletLike, mode: ModeLike = "symmetric", axis: int = -1
) -> Array:
    """One level of synthesis along an axis. One band may be None, which means zeros.

    Parameters
    ----------
    cA : array_like or None
        Low band; None means zeros.
    cD : array_like or None
        High band; None means zeros.
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
    >>> idwt(*dwt([1, 2, 3, 4, 5, 6], "db2", "smooth"), "db2", "smooth").round(6).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    if type(cA) is type(cD) is np.ndarray and (level := _known(wavelet, mode, axis, cA, cD)) is not None:
        whole = np.empty(level.extended, cA.dtype)
        level.inverse([cA, cD], whole)
        return whole[level.crop]
    if cA is None and cD is None:
        raise ValueError("cA and cD are both None: give at least one of them")
    given = (wavelet, mode, axis, cA, cD)
    mode, wavelet = Modes.from_object(mode), as_wavelet(wavelet)
    bands = {"a": cA, "d": cD}
    shape, dtype, bands = _common(bands)
    axes = normal_axes([axis], len(shape), "coefficients")
    made = _synthesise(bands, shape, dtype, [wavelet], [mode], axes)
    if cA is not None and cD is not None:
        _know(given, [bands["a"]], wavelet, mode, axes)
    return made


def _common(bands):
    """Bands as arrays of one shape and one type."""
    arrays = {key: None if band is None else as_samples(band, on_gpu=True) for key, band in bands.items()}
    present = [array for array in arrays.values() if array is not None]
    shapes = {array.shape for array in present}
    if len(shapes) != 1:
        raise ValueError(f"bands of one level must have one shape, not {', '.join(map(str, sorted(shapes)))}")
    dtype = np.result_type(*(array.dtype for array in present))
    return present[0].shape, dtype, {k: None if a is None else a.astype(dtype, copy=False) for k, a in arrays.items()}


def dwtn(
    data: ArrayLike, wavelet: Wavelets, mode: ModesLike = "symmetric", axes: int | Sequence[int] | None = None
) -> Bands:
    """One level of analysis along several axes: a dictionary of bands. A key has a letter for each axis, ``a`` for low
    and ``d`` for high. Wavelets and modes may be given for each axis.

    Parameters
    ----------
    data : array_like
        Data.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    mode : str or int, or sequence of them, optional
        Extension of the data at its ends, one of `Modes.modes`, or one for each axis.
    axes : sequence of int, optional
        Axes to transform, all by default.

    Returns
    -------
    dict
        Bands by key.

    Examples
    --------
    >>> sorted(dwtn(np.ones((4, 4)), "haar"))
    ['aa', 'ad', 'da', 'dd']
    """
    data = as_samples(data, on_gpu=True)
    if data.ndim < 1:
        raise ValueError("data must have at least one axis")
    axes = range(data.ndim) if axes is None else axes
    axes = normal_axes(axes, data.ndim)
    return _analyse(data, wavelets_per_axis(wavelet, axes), modes_per_axis(mode, axes), axes)


def idwtn(
    coeffs: SomeBands, wavelet: Wavelets, mode: ModesLike = "symmetric", axes: int | Sequence[int] | None = None
) -> Array:
    """One level of synthesis along several axes, from a dictionary as `dwtn` returns it; missing bands are zero.

    Parameters
    ----------
    coeffs : dict
        Bands by key, as `dwtn` returns them. Missing bands and None are zero.
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
    """
    coeffs = fix_keys(coeffs)
    coeffs = {key: band for key, band in coeffs.items() if band is not None}
    if not coeffs:
        raise ValueError("all bands are None: give at least one array")
    shape, dtype, coeffs = _common(coeffs)
    count = max(len(key) for key in coeffs)
    axes = range(count if axes is None else len(shape)) if axes is None else axes
    if axes is not None and len(axes) > len(shape):
        raise AxisError(f"bands have {len(shape)} dimensions, but {len(axes)} axes are given")
    axes = normal_axes(axes, len(shape), "bands")
    if any(len(key) != len(axes) for key in coeffs):
        raise ValueError(f"keys must have {len(axes)} letters, one per axis, not {sorted(coeffs)}")
    return _synthesise(coeffs, shape, dtype, wavelets_per_axis(wavelet, axes), modes_per_axis(mode, axes), axes)


def fix_keys(coeffs):
    """A copy of the bands, once their keys have valid letters and one length."""
    missing = [key for key, band in coeffs.items() if band is None]
    if missing and len(missing) < len(coeffs) and len(coeffs) > 1 << max(map(len, coeffs)):
        raise ValueError(f"too many bands: {sorted(coeffs)}")
    wrong = [key for key in coeffs if set(key) - set("ad")]
    if wrong:
        raise ValueError(f"keys must consist of the letters a and d, not {sorted(wrong)}")
    if len({len(key) for key in coeffs}) > 1:
        raise ValueError(f"keys must have one length, not {sorted(coeffs)}")
    return dict(coeffs)


def _two(axes):
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError(f"expected two axes, not {len(axes)}")
    return axes


def dwt2(data: ArrayLike, wavelet: Wavelets, mode: ModesLike = "symmetric", axes: Sequence[int] = (-2, -1)) -> Level2D:
    """One level of analysis along two axes: ``(cA, (cH, cV, cD))``.

    Parameters
    ----------
    data : array_like
        Data.
    wavelet : str or Wavelet, or sequence of them
        Wavelet, or one for each axis.
    mode : str or int, or sequence of them, optional
        Extension of the data at its ends, one of `Modes.modes`, or one for each axis.
    axes : pair of int, optional
        The two axes to transform.

    Returns
    -------
    cA, (cH, cV, cD) : numpy.ndarray
        Low band, and horizontal, vertical and diagonal details.

    Examples
    --------
    >>> cA, (cH, cV, cD) = dwt2(np.ones((4, 4)), "haar")
    >>> cA.round(6).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    axes = _two(axes)
    data = as_samples(data, on_gpu=True)
    if data.ndim < len(set(axes)):
        raise ValueError(f"data has {data.ndim} axes, but needs at least the {len(set(axes))} to transform")
    bands = dwtn(data, wavelet, mode, axes)
    return bands["aa"], (bands["da"], bands["ad"], bands["dd"])


def idwt2(
    coeffs: tuple[Any, tuple[Any, Any, Any]],
    wavelet: Wavelets,
    mode: ModesLike = "symmetric",
    axes: Sequence[int] = (-2, -1),
) -> Array:
    """One level of synthesis along two axes, from a result of `dwt2`.

    Parameters
    ----------
    coeffs : tuple
        Bands ``(cA, (cH, cV, cD))``; None means zeros.
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
    """
    low, (horizontal, vertical, diagonal) = coeffs
    bands = {"aa": low, "da": horizontal, "ad": vertical, "dd": diagonal}
    return idwtn(bands, wavelet, mode, _two(axes))


def downcoef(
    part: Literal['a', 'd'], data: ArrayLike, wavelet: WaveletLike, mode: ModeLike = "symmetric", level: int = 1
) -> Array:
    """The band ``a`` or ``d`` of level ``level``, along the only axis.

    Parameters
    ----------
    part : {'a', 'd'}
        Band: approximation or details.
    data : array_like
        Data with one axis.
    wavelet : str or Wavelet
        Wavelet.
    mode : str or int, optional
        Extension of the data at its ends, one of `Modes.modes`.
    level : int, optional
        Level of the band.

    Returns
    -------
    numpy.ndarray
        Band.

    Examples
    --------
    >>> downcoef("a", [1, 2, 3, 4], "haar", level=2).round(6).tolist()
    [5.0]
    """
    data = as_samples(data)
    if data.ndim > 1:
        raise ValueError("downcoef takes data with one axis")
    if part not in ("a", "d"):
        raise ValueError(f"invalid part {part!r}: choose 'a' or 'd'")
    if level < 1:
        raise ValueError(f"invalid level {level}: it must be at least 1")
    for _ in range(level - 1):
        data = dwt(data, wavelet, mode)[0]
    return dwt(data, wavelet, mode)["ad".index(part)]


def upcoef(part: Literal['a', 'd'], coeffs: ArrayLike, wavelet: WaveletLike, level: int = 1, take: int = 0) -> Array:
    """Several levels of synthesis from one band, in full, or the middle ``take`` samples of it.

    Parameters
    ----------
    part : {'a', 'd'}
        Band: approximation or details.
    coeffs : array_like
        Coefficients of the band, with one axis.
    wavelet : str or Wavelet
        Wavelet.
    level : int, optional
        Level of the band.
    take : int, optional
        Number of samples to return from the middle; 0 returns all.

    Returns
    -------
    numpy.ndarray
        Samples.

    Examples
    --------
    >>> data = [1, 2, 3, 4, 5, 6]
    >>> cA, cD = dwt(data, "db2", "smooth")
    >>> (upcoef("a", cA, "db2", take=6) + upcoef("d", cD, "db2", take=6)).round(6).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    coeffs = as_samples(coeffs)
    if coeffs.ndim > 1:
        raise ValueError("upcoef takes coefficients with one axis")
    if part not in ("a", "d"):
        raise ValueError(f"invalid part {part!r}: choose 'a' or 'd'")
    if level < 1:
        raise ValueError(f"invalid level {level}: it must be at least 1")
    made = wavelet if hasattr(wavelet, "rec_lo") else as_wavelet(wavelet)
    values, filter = coeffs, made.rec_lo if part == "a" else made.rec_hi
    for _ in range(level):
        spread = np.zeros(2 * len(values) - 1, coeffs.dtype)
        spread[::2] = values
        values = np.convolve(spread, np.asarray(filter, coeffs.real.dtype))
        filter = made.rec_lo
    if 0 < take < len(values):
        first = (len(values) - take) // 2
        values = values[first : first + take]
    return values


def pad(x: ArrayLike, pad_widths: ArrayLike, mode: ModeLike) -> Array:
    """Data extended along each axis by ``pad_widths`` samples before and after, in a mode.

    Parameters
    ----------
    x : array_like
        Data.
    pad_widths : int, or pairs of int
        Numbers of samples before and after: for all axes, or a pair for each.
    mode : str or int
        Extension of the data at its ends, one of `Modes.modes`.

    Returns
    -------
    numpy.ndarray
        Extended data.

    Examples
    --------
    >>> pad([1, 2, 3], 2, "antireflect").tolist()
    [-1, 0, 1, 2, 3, 4, 5]
    """
    x = x if isinstance(x, np.ndarray) and x.dtype != np.dtype("object") else as_array(x)
    widths = np.asarray(pad_widths)
    if widths.dtype.kind != "i" and widths.dtype.kind != "u" and (widths != np.round(widths)).any():
        raise ValueError("widths must be integers")
    widths = np.round(widths).astype(np.intp, copy=False)
    if widths.min(initial=0) < 0:
        raise ValueError(f"invalid widths {pad_widths}: they must be at least 0")
    try:
        widths = np.broadcast_to(widths, (x.ndim, 2))
    except ValueError as error:
        raise ValueError(f"widths {pad_widths} do not fit {x.ndim} axes: give one pair per axis") from error
    mode, widths = Modes.from_object(mode), widths.tolist()
    if mode == Modes.periodization:
        # Repeats the last of an odd number of samples.
        widths = [(before, behind + n % 2) for (before, behind), n in zip(widths, x.shape)]
    shape = [n + before + behind for n, (before, behind) in zip(x.shape, widths)]
    if math.prod(shape) > np.iinfo(np.intp).max // max(1, x.itemsize):
        raise ValueError(f"widths {pad_widths} are too large for an array")
    padded = np.empty_like(x, shape=shape)
    places = [slice(before, before + n) for n, (before, _) in zip(x.shape, widths)]
    padded[tuple(places)] = x
    for axis, (before, behind) in enumerate(widths):
        if before or behind:
            places[axis] = slice(None)
            _fill(padded[tuple(places)].swapaxes(0, axis), x.shape[axis], before, behind, mode)
    return padded


def _fill(lines, n, before, behind, mode):
    """Extends ``n`` samples along the first axis to ``before`` others before them, and ``behind`` after them."""
    i = np.concatenate([np.arange(-before, 0), np.arange(n, n + behind)])
    margins = [slice(before), slice(before + n, None)]
    if mode == Modes.zero:
        for margin in margins:
            lines[margin] = 0
        return
    if n == 0:
        raise ValueError(f"an axis without samples cannot be extended in mode {mode.name}: choose the mode zero")
    first, last = lines[before], lines[before + n - 1]
    column = (len(i), *(1,) * (lines.ndim - 1))
    factor = offset = None
    if mode in (Modes.periodic, Modes.periodization):
        index = np.minimum(i % (n + n % 2 if mode == Modes.periodization else n), n - 1)
    elif mode in (Modes.symmetric, Modes.antisymmetric):
        index = i % (2 * n)
        if mode == Modes.antisymmetric:
            factor = np.where(index >= n, -1, 1).astype(lines.dtype)
        index = np.minimum(index, 2 * n - 1 - index)
    elif mode == Modes.constant or n == 1:
        index = np.clip(i, 0, n - 1)
    elif mode == Modes.smooth:
        index = np.where(i < 0, 1, n - 2)
        beyond = np.where(i < 0, -i, i - n + 1).reshape(column)
        ends = np.where((i < 0).reshape(column), first, last)
        factor, offset = -beyond.astype(lines.dtype), (1 + beyond).astype(lines.dtype) * ends
    else:
        turns, there = np.divmod(i, 2 * n - 2)
        is_back = there >= n
        index = np.minimum(there, 2 * n - 2 - there)
        if mode == Modes.antireflect:
            # There and back again, the line has risen by twice the difference of its ends.
            factor, turns, is_back = (
                array.astype(lines.dtype).reshape(column) for array in (np.where(is_back, -1, 1), turns, is_back)
            )
            offset = 2 * (turns + is_back) * last - 2 * turns * first
    made = lines[before + index]
    if factor is not None:
        made *= factor.reshape(column)
    if offset is not None:
        made += offset
    for margin, part in zip(margins, (made[:before], made[before:])):
        lines[margin] = part
