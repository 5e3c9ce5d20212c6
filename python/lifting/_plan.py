"""Plans: transforms for arrays of one shape and type, prepared once and executed many times."""

import contextlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from . import _arrays, _lifting
from ._cache import cached
from ._lifting import LiftingError
from ._types import WaveletLike
from ._wavelet import as_wavelet

_DTYPES = {"float16": "f16", "float32": "f32", "float64": "f64", "int16": "i16", "int32": "i32", "int64": "i64"}
_DTYPES |= {"bfloat16": "bf16", "complex64": "f32", "complex128": "f64"}
#: Conditions of borders above which plans warn, and above which they refuse.
_WARNS, _REFUSES = 100, 1e4
#: Operations on data; the others are on coefficients.
_OF_DATA = ("forward", "inverse_adjoint")
_NAMES = {short: name for name, short in _DTYPES.items() if not name.startswith("complex")}


def _dtype(dtype):
    """NumPy's type, and Lifting's name for it."""
    if isinstance(dtype, str):
        dtype = _NAMES.get(dtype, dtype)
        if dtype == "bfloat16":
            try:
                import ml_dtypes
            except ImportError as error:
                raise LiftingError("bfloat16 needs the package ml_dtypes: install it") from error
            dtype = ml_dtypes.bfloat16
    try:
        made = np.dtype(dtype)
    except TypeError as error:
        raise LiftingError(f"invalid sample type: {error}") from error
    if made.name not in _DTYPES or not made.isnative:
        raise LiftingError(f"unsupported sample type {made}: choose one of {', '.join(_DTYPES)}")
    return made, _DTYPES[made.name]


@dataclass(frozen=True)
class Subband:
    """Position of a sub-band in the coefficients."""

    name: str
    """Name in codecs: ``LL3``, ``HL1`` (horizontally high); a letter for each transformed axis, innermost first."""
    level: int
    """Level; 1 is the finest."""
    high: tuple[bool, ...]
    """Whether the band is high, for each axis."""
    offset: tuple[int, ...]
    """Index of the first sample, for each axis."""
    shape: tuple[int, ...]
    """Number of samples, for each axis."""
    step: tuple[int, ...]
    """Distance between samples, for each axis."""

    @property
    def index(self) -> tuple[slice, ...]:
        """Index of the sub-band: ``coefficients[band.index]`` is a view."""
        along = zip(self.offset, self.shape, self.step)
        return tuple(slice(o, o + (n - 1) * s + 1 if n else o, s) for o, n, s in along)


@dataclass(frozen=True)
class Tile:
    """An independent tile."""

    offset: tuple[int, ...]
    """Index of the first sample in data and coefficients, for each axis."""
    shape: tuple[int, ...]
    """Number of samples, for each axis."""
    subbands: dict[str, Subband]
    """Sub-bands by name, coarsest first, with their positions in the coefficients."""


class Plan:
    """A multi-level transform for arrays of one shape and sample type.

    Arrays are those of NumPy, PyTorch, CuPy or JAX, or any object with the buffer protocol or DLPack. Strided views are
    read and written in place; unaligned arrays are copied. Methods return new arrays of the input's kind (NumPy's for
    other objects), or write to ``out``, which may be the input of `forward` and `inverse`. Execution releases the GIL.

    Plans with ``device="cuda"`` take contiguous arrays of PyTorch and CuPy on that GPU, and arrays in host memory. Work
    on GPU arrays is queued on the library's current stream, or on ``stream``, without waiting.

    Parameters
    ----------
    shape : int, or sequence of int
        Shape of the data.
    wavelet : str or Wavelet
        Wavelet.
    levels : int, or sequence of int, optional
        Number of levels, or one for each axis.
    dtype : dtype, optional
        float16, bfloat16 (of ml_dtypes), float32 (default), float64, complex64 or complex128 for real wavelets.
        int16, int32 (default) or int64 for integer wavelets, which are lossless. Real and imaginary parts are
        transformed separately.
    boundary : str, optional
        Border rule: ``whole-symmetric``, ``half-symmetric``, ``periodic``, ``edge`` or ``zero``; by default the
        wavelet's own.
    device : str, optional
        ``cpu``, ``cuda``, ``cuda:1``, ``best``, or ``interpreter``, which runs GPU kernels slowly on the CPU.
        All devices compute the same bits.
    axes : sequence of int, optional
        Transformed axes, all by default. The others are batch.
    axis_order : sequence of int, optional
        Order of the axes within a level, by default innermost first.
    origins : sequence of int, optional
        Position of the first sample, for each axis.
    profile : str, optional
        Format whose conventions the transform has, one of `Wavelet.profiles`.
    layout : str, optional
        Places of the coefficients: ``mallat`` or ``interleaved``.
    pad : bool, optional
        Whether the coefficients of odd lengths are padded.
    tile : int, or sequence of int, optional
        Length of independent tiles, each with its own borders: for all transformed axes or for each axis, a
        multiple of ``2**levels`` or the axis's length.
    threads : int, optional
        Number of threads, all by default.
    ill_conditioned : bool, optional
        Whether a border rule may multiply errors (`condition`) by more than 10⁴, which is otherwise an error.
        Above 100 it is a warning.

    Examples
    --------
    >>> import numpy
    >>> plan = Plan((5, 7), "cdf97", levels=2)
    >>> image = numpy.random.default_rng(1).normal(size=(5, 7)).astype("float32")
    >>> coefficients = plan.forward(image)
    >>> plan["LL2"].shape, plan.band(coefficients, "LL2").base is coefficients
    ((2, 2), True)
    >>> bool(abs(plan.inverse(coefficients) - image).max() < 1e-5)
    True
    >>> plan.inverse_to(1, coefficients).shape
    (3, 4)
    """

    def __init__(
        self,
        shape: int | Sequence[int],
        wavelet: WaveletLike,
        levels: int | Sequence[int] = 1,
        dtype: DTypeLike | None = None,
        boundary: str | None = None,
        device: str = "cpu",
        *,
        axes: Sequence[int] | None = None,
        axis_order: Sequence[int] | None = None,
        origins: Sequence[int] | None = None,
        profile: str | None = None,
        layout: str = "mallat",
        pad: bool = False,
        tile: int | Sequence[int] | None = None,
        threads: int | None = None,
        ill_conditioned: bool | str = False,
    ) -> None:
        self.wavelet = as_wavelet(wavelet)
        if not isinstance(shape, (int, np.integer)):
            shape = tuple(shape)
        #: Condition of the borders: 1 is as good as the periodic rule, and each factor of ten costs a digit.
        self.condition = 1.0
        self._made = {
            "shape": shape, "wavelet": self.wavelet, "levels": levels, "dtype": dtype, "boundary": boundary,
            "device": device, "axes": axes, "axis_order": axis_order, "origins": origins, "profile": profile,
            "layout": layout, "pad": pad, "tile": tile, "threads": threads,
            "ill_conditioned": True,
        }
        shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
        if dtype is None:
            dtype = "int32" if self.wavelet.domain == "integer" else "float32"
        self.dtype, self._kind = _dtype(dtype)
        #: Kept because NumPy builds the name on each access.
        self._name = self.dtype.name
        #: Type for Python's buffers, which lack bfloat16: its bits.
        self._wire = np.dtype(np.uint16) if self._kind == "bf16" else None
        rank = len(shape)
        if isinstance(levels, (int, np.integer)):
            chosen = range(rank) if axes is None else [_axis(axis, rank) for axis in axes]
            if len(set(chosen)) != len(chosen):
                raise LiftingError(f"axes {tuple(axes)} name an axis twice")
            levels = [int(levels) if axis in chosen else 0 for axis in range(rank)]
        elif axes is not None:
            raise LiftingError("levels per axis already select the axes: give one number, or leave out axes")
        levels = list(levels)
        if any(n < 0 for n in [*shape, *levels]):
            raise LiftingError(f"shape {shape} and levels {levels} must not be negative")
        if isinstance(tile, (int, np.integer)):
            tile = [int(tile) if levels[axis] else shape[axis] for axis in range(rank)]
        self.tile = None if tile is None else tuple(int(n) for n in tile)
        if any(n < 0 for n in self.tile or ()):
            raise LiftingError(f"tile lengths {self.tile} cannot be negative")
        axis_order = None if axis_order is None else [_axis(axis, rank) for axis in axis_order]
        # Complex samples are pairs of real ones along an additional last axis.
        parts = [2] if self.dtype.kind == "c" else []
        if parts and axis_order is not None:
            axis_order.append(rank)
        if parts and origins is not None:
            origins = [*origins, 0]
        #: Axes of a batch without elements; the native plan has one.
        self._empties = [axis for axis in range(rank) if shape[axis] == 0 and levels[axis : axis + 1] == [0]]
        self._is_empty = bool(self._empties)
        self._native = _lifting.Plan(
            self.wavelet._scheme,
            [*(max(n, axis in self._empties) for axis, n in enumerate(shape)), *parts],
            [*levels, *(0 for _ in parts)],
            self._kind,
            boundary=boundary,
            axis_order=axis_order,
            origins=origins,
            profile=profile,
            layout=layout,
            pad=bool(pad),
            tile=None if self.tile is None else [*self.tile, *parts],
            device=device,
            threads=threads,
        )
        self.shape: tuple[int, ...] = self._outer(self._native.shape, True)
        self.coefficient_shape: tuple[int, ...] = self._outer(self._native.coefficient_shape, True)
        self.levels: tuple[int, ...] = tuple(levels)
        self._check_condition(ill_conditioned, origins)

    def __reduce__(self):
        return _remade, (self._made,)

    @property
    def boundary(self) -> str:
        """The border rule."""
        return self._native.boundary

    @property
    def device(self) -> str:
        """Name of the device."""
        return self._native.device

    @property
    def recipe(self) -> str:
        """The plan's decisions and their reasons, as text."""
        return self._native.recipe()

    @property
    def subbands(self) -> dict[str, Subband]:
        """All sub-bands by name, coarsest first; for a tiled plan, those of the first tile."""
        return self._bands(self._native.subbands())

    @property
    def tiles(self) -> list[Tile]:
        """The tiles, grouped by shape, full ones first; an untiled plan has a single one."""
        outer = self._outer
        tiles = self._native.tiles()
        return [Tile(outer(offset), outer(shape, True), self._bands(bands)) for offset, shape, bands in tiles]

    def _bands(self, entries):
        outer = self._outer
        bands = (
            Subband(name, level, outer(high), outer(offset), outer(shape, True), outer(step))
            for name, level, high, offset, shape, step in entries
        )
        return {band.name: band for band in bands}

    def __getitem__(self, name: str) -> Subband:
        bands = self.subbands
        if name not in bands:
            raise KeyError(f"unknown sub-band {name!r}; choose one of {', '.join(bands)}")
        return bands[name]

    def band(self, coefficients: Any, name: str) -> Any:
        """A view of a sub-band of this plan's coefficients.

        Parameters
        ----------
        coefficients : array
            Coefficients of this plan.
        name : str
            Name of the sub-band, such as ``HL1``.

        Returns
        -------
        array
            View.
        """
        if tuple(coefficients.shape) != self.coefficient_shape:
            expected, got = self.coefficient_shape, tuple(coefficients.shape)
            raise LiftingError(f"the coefficients must have shape {expected}, but the array has {got}")
        return coefficients[self[name].index]

    def bands(self, coefficients: Any) -> dict[str, Any]:
        """Views of all sub-bands of this plan's coefficients by name, coarsest first.

        Parameters
        ----------
        coefficients : array
            Coefficients of this plan.

        Returns
        -------
        dict
            Views by name.
        """
        return {name: self.band(coefficients, name) for name in self.subbands}

    def level_shape(self, level: int) -> tuple[int, ...]:
        """Shape of the low band after ``level`` levels.

        Parameters
        ----------
        level : int
            Level, at least 0 for `inverse_to`; 1 is the finest.

        Returns
        -------
        tuple of int
            Shape.
        """
        return self._outer(self._native.level_shape(level), True)

    def forward(self, data: Any, out: Any = None, *, stream: Any = None) -> Any:
        """Analysis: the coefficients of data.

        Parameters
        ----------
        data : array
            Array of the plan's shape.
        out : array, optional
            Array for the result, by default a new one.
        stream : stream, optional
            Stream of a GPU, by default the current one of the library.

        Returns
        -------
        array
            Result, of the input's library.
        """
        return self._run("forward", data, out, self.coefficient_shape, 0, stream)

    def inverse(self, coefficients: Any, out: Any = None, *, stream: Any = None) -> Any:
        """Synthesis: the data of coefficients.

        Parameters
        ----------
        coefficients : array
            Coefficients of this plan.
        out : array, optional
            Array for the result, by default a new one.
        stream : stream, optional
            Stream of a GPU, by default the current one of the library.

        Returns
        -------
        array
            Result, of the input's library.
        """
        return self._run("inverse", coefficients, out, self.shape, 0, stream)

    def inverse_to(self, level: int, coefficients: Any, out: Any = None, *, stream: Any = None) -> Any:
        """Synthesis that stops at a level: data at reduced resolution, of shape `level_shape`.

        Parameters
        ----------
        level : int
            Level, at least 0 for `inverse_to`; 1 is the finest.
        coefficients : array
            Coefficients of this plan.
        out : array, optional
            Array for the result, by default a new one.
        stream : stream, optional
            Stream of a GPU, by default the current one of the library.

        Returns
        -------
        array
            Result, of the input's library.
        """
        shape = self.shape if level == 0 else self.level_shape(level)
        return self._run("inverse", coefficients, out, shape, level, stream)

    def adjoint(self, coefficients: Any, out: Any = None, *, stream: Any = None) -> Any:
        """The adjoint (transpose) of `forward`: maps a gradient from coefficients to data; real wavelets only.

        Parameters
        ----------
        coefficients : array
            Coefficients of this plan.
        out : array, optional
            Array for the result, by default a new one.
        stream : stream, optional
            Stream of a GPU, by default the current one of the library.

        Returns
        -------
        array
            Result, of the input's library.
        """
        return self._run("adjoint", coefficients, out, self.shape, 0, stream)

    def inverse_adjoint(self, data: Any, out: Any = None, *, stream: Any = None) -> Any:
        """The adjoint (transpose) of `inverse`; real wavelets only.

        Parameters
        ----------
        data : array
            Array of the plan's shape.
        out : array, optional
            Array for the result, by default a new one.
        stream : stream, optional
            Stream of a GPU, by default the current one of the library.

        Returns
        -------
        array
            Result, of the input's library.
        """
        return self._run("inverse_adjoint", data, out, self.coefficient_shape, 0, stream)

    def _run(self, name, source, out, shape, level, stream):
        library = _arrays.library(source)
        if library is None:
            library, source = _arrays.library(self._none), np.asarray(source).astype(self.dtype)
        if isinstance(source, np.ndarray):
            source = _arrays.numbers(source).astype(self.dtype) if source.dtype == object else _arrays.native(source)
        self._check(library, source)
        if self._is_empty:
            return self._empty(library, name, source, out, shape)
        if library.on_device(source):
            return self._on_device(library, name, source, out, shape, level, stream)
        if out is None:
            self._check_shape(name, source)
            target = library.empty(shape, self.dtype, source)
            self._native.run(name, self._view(library, source), self._view(_arrays.library(target), target), level)
            return library.finished(target)
        kind = _arrays.library(out)
        if kind is None or not kind.mutable:
            raise LiftingError(f"`out` must be a writable array, not a {type(out).__name__}")
        self._check(kind, out)
        target = out
        if isinstance(out, np.ndarray) and not out.flags.aligned:
            target = np.empty(out.shape, out.dtype)
        self._native.run(name, self._view(library, source), self._view(kind, target), level)
        if target is not out:
            out[...] = target
        return out

    def _empty(self, library, name, source, out, shape):
        """The result of a plan whose batch has no elements."""
        expected = self.shape if name in _OF_DATA else self.coefficient_shape
        for array, wanted in ((source, expected), (out, shape)):
            if array is not None and tuple(array.shape) != tuple(wanted):
                raise LiftingError(f"an array of shape {tuple(wanted)} is needed, not {tuple(array.shape)}")
        return library.finished(library.empty(shape, self.dtype, source)) if out is None else out

    #: Selects NumPy's adapter for lists.
    _none = np.empty(0)

    def _on_device(self, library, name, source, out, shape, level, stream):
        """Queues a transform on a GPU stream: the library's current one, or the caller's."""
        if out is not None and _arrays.library(out) is not library:
            given, found = type(source).__name__, type(out).__name__
            raise LiftingError(f"`out` must be a {given} like the input, not a {found}")
        if out is not None:
            self._check(library, out)
        if self._native.gpu is None:
            raise LiftingError(f"the array is on a GPU, the plan on {self.device}: make it with device=\"cuda\"")
        handle = library.stream(source) if stream is None else _arrays.handle(stream)
        given = None if stream is None else handle
        views = [library.view(source, given), None if out is None else library.view(out, given)]
        with library.on(source, handle) if stream is not None else contextlib.nullcontext():
            if out is None:
                out = library.empty(shape, self.dtype, source)
                views[1] = library.view(out)
            size = self._native.scratch_bytes(name, level)
            memory, address = library.scratch(size, source) if size else (None, 0)
            self._native.run(name, *views, level, handle, address)
            del memory
        return out

    def _view(self, library, array):
        if self._wire is not None and isinstance(array, np.ndarray):
            return array.view(self._wire)
        return library.view(array)

    def _check_shape(self, name, source):
        """Checks the shape before results are allocated."""
        of_data = name in _OF_DATA
        expected = list(self.shape if of_data else self.coefficient_shape)
        found = list(getattr(source, "shape", expected))
        if found != expected:
            what = "data" if of_data else "coefficients"
            raise LiftingError(f"the {what} must have shape {expected}, but the array has {found}")

    def _check(self, library, array):
        if isinstance(array, np.ndarray) and array.dtype == self.dtype:
            return
        found = library.dtype(array)
        if found not in (None, self._name):
            raise LiftingError(f"the plan takes samples {self.dtype}, but the array has {found}: convert it")

    def _check_condition(self, ill_conditioned, origins):
        """Warns of borders that amplify errors, and refuses those that leave no digits, unless told to ``"warn"``."""
        if self.wavelet.domain == "integer" or self.boundary == "periodic":
            return
        scheme, most = self.wavelet._scheme, 1.0
        tiles = [self.coefficient_shape] if self.tile is None else {tile.shape for tile in self.tiles}
        for shape in tiles:
            axes = zip(shape, origins or [0] * len(shape), self.levels)
            product = 1.0
            for n, origin, levels in axes:
                product *= _condition(scheme, self.boundary, n, int(origin), levels) if levels else 1.0
            most = max(most, product)
        self.condition = most
        if most <= _WARNS or ill_conditioned is True:
            return
        message = (
            f"border rule {self.boundary} does not suit wavelet {self.wavelet.name}: near the borders of shape "
            f"{self.shape} coefficients are up to {most:.1e} times too large, and rounding errors with them. Use "
            "boundary=\"periodic\", or the modes of lifting.wavedec, wavedec2 and wavedecn"
        )
        if most > _REFUSES and not ill_conditioned:
            raise LiftingError(f"{message}; ill_conditioned=True makes the plan all the same")
        warnings.warn(message, RuntimeWarning, stacklevel=3)

    def _outer(self, values, is_shape=False):
        """Values for each axis, without those of the axis of real and imaginary parts."""
        values = tuple(values[:-1] if self.dtype.kind == "c" else values)
        if is_shape and self._is_empty:
            values = tuple(0 if axis in self._empties else n for axis, n in enumerate(values))
        return values

    def __repr__(self):
        return f"<lifting.Plan {self.shape} {self.wavelet.name} levels={self.levels} {self.dtype} on {self.device}>"


@cached()
def _condition(scheme, boundary, n, origin, levels):
    """Condition of an axis under a border rule, relative to the periodic rule."""
    return scheme.condition(boundary, n, origin, levels)


def _remade(arguments):
    """A plan from a pickle or a copy, rebuilt from its arguments."""
    return Plan(**arguments)


def _axis(axis, rank):
    """An axis as a non-negative number."""
    if not -rank <= axis < rank:
        raise LiftingError(f"invalid axis {axis}: the data has {rank}")
    return int(axis) % rank
