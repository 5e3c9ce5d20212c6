"""Plans: a transform of arrays of one shape and type, prepared once and executed many times."""

import contextlib
import warnings
from dataclasses import dataclass

import numpy as np

from . import _arrays, _lifting
from ._lifting import LiftingError
from ._wavelet import as_wavelet

_DTYPES = {"float16": "f16", "float32": "f32", "float64": "f64", "int16": "i16", "int32": "i32", "int64": "i64"}
_DTYPES |= {"bfloat16": "bf16", "complex64": "f32", "complex128": "f64"}
_NAMES = {short: name for name, short in _DTYPES.items() if not name.startswith("complex")}


def _dtype(dtype):
    """NumPy's type, and Lifting's name of it."""
    if isinstance(dtype, str):
        dtype = _NAMES.get(dtype, dtype)
        if dtype == "bfloat16":
            try:
                import ml_dtypes
            except ImportError as error:
                raise LiftingError("NumPy has no bfloat16 of its own: install ml_dtypes") from error
            dtype = ml_dtypes.bfloat16
    try:
        made = np.dtype(dtype)
    except TypeError as error:
        raise LiftingError(f"no type of samples: {error}") from error
    if made.name not in _DTYPES or not made.isnative:
        raise LiftingError(f"samples cannot be {made}: choose one of {', '.join(_DTYPES)}")
    return made, _DTYPES[made.name]


@dataclass(frozen=True)
class Subband:
    """Where a sub-band is in the coefficients."""

    name: str
    """As codecs name it: ``LL3``, ``HL1`` (horizontally high); a letter for each transformed axis, innermost first."""
    level: int
    """1 is the finest."""
    high: tuple
    """For each axis, whether the band is high along it."""
    offset: tuple
    """For each axis, the index of its first sample."""
    shape: tuple
    """For each axis, its samples."""
    step: tuple
    """For each axis, from one of its samples to the next."""

    @property
    def index(self):
        """What selects it: ``coefficients[band.index]`` is a view."""
        along = zip(self.offset, self.shape, self.step)
        return tuple(slice(o, o + (n - 1) * s + 1 if n else o, s) for o, n, s in along)


@dataclass(frozen=True)
class Tile:
    """A tile that knows nothing of the others."""

    offset: tuple
    """For each axis, the index of its first sample, in data and coefficients."""
    shape: tuple
    """For each axis, its samples."""
    subbands: dict
    """Its sub-bands by name, coarsest first, with their places in the coefficients."""


class Plan:
    """A multi-level transform of arrays of one shape and type of samples, checked and prepared.

    ``wavelet`` is a name, or what `lifting.wavelet` made. ``levels`` are for all axes or one for each; ``axes`` are
    those to transform, all if nothing is said, and the others are batch. ``dtype`` is one of float16, bfloat16 (of
    ml_dtypes), float32, float64, complex64, complex128 for real wavelets, int16, int32, int64 for integer ones, which
    are lossless; real and imaginary parts are transformed each by itself.
    ``tile`` cuts the data into tiles that know nothing of one another, each with borders of its own: a length for all
    transformed axes or one for each axis, multiples of 2^levels or the axis's own.
    ``boundary`` is ``whole-symmetric``, ``periodic``, ``edge`` or ``zero``, the wavelet's own if nothing is said;
    ``device`` is ``cpu``, ``cuda``, ``cuda:1``, ``best``, or ``interpreter``, which executes a GPU's kernels slowly.
    What is computed does not depend on it, to the bit.
    A border rule that makes the transform ill-conditioned (`condition`) is a warning above 100, and an error above
    10⁴ unless ``ill_conditioned=True``.

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

    Arrays are those of NumPy, PyTorch, CuPy or JAX, or anything with the buffer protocol or DLPack; views with strides
    are read and written as they are. Methods return new arrays of the same kind (NumPy's for kinds not named here), or
    write to ``out``, which may be the input of `forward` and `inverse`. Other Python threads run meanwhile.

    Plans with ``device="cuda"`` take arrays of PyTorch and CuPy on that GPU, contiguous ones, as well as arrays in this
    machine's memory. The work is queued on the library's current stream, or on ``stream``, and not waited for.
    """

    def __init__(
        self,
        shape,
        wavelet,
        levels=1,
        dtype=None,
        boundary=None,
        device="cpu",
        *,
        axes=None,
        axis_order=None,
        origins=None,
        profile=None,
        layout="mallat",
        pad=False,
        tile=None,
        threads=None,
        ill_conditioned=False,
    ):
        self.wavelet = as_wavelet(wavelet)
        self._made = {
            "shape": shape, "wavelet": self.wavelet, "levels": levels, "dtype": dtype, "boundary": boundary,
            "device": device, "axes": axes, "axis_order": axis_order, "origins": origins, "profile": profile,
            "layout": layout, "pad": pad, "tile": tile, "threads": threads,
            "ill_conditioned": ill_conditioned,
        }
        shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
        if dtype is None:
            dtype = "int32" if self.wavelet.domain == "integer" else "float32"
        self.dtype, self._kind = _dtype(dtype)
        #: NumPy makes it anew each time.
        self._name = self.dtype.name
        #: What Python's buffers call it: bfloat16 goes as bits.
        self._wire = np.dtype(np.uint16) if self._kind == "bf16" else None
        rank = len(shape)
        if isinstance(levels, (int, np.integer)):
            chosen = range(rank) if axes is None else [_axis(axis, rank) for axis in axes]
            if len(set(chosen)) != len(chosen):
                raise LiftingError(f"axes {tuple(axes)} name an axis twice")
            levels = [int(levels) if axis in chosen else 0 for axis in range(rank)]
        elif axes is not None:
            raise LiftingError("levels for each axis say which are transformed: give one number, or no axes")
        if any(n < 0 for n in [*shape, *levels]):
            raise LiftingError(f"shape {shape} and levels {levels} cannot be negative")
        if isinstance(tile, (int, np.integer)):
            tile = [int(tile) if levels[axis] else shape[axis] for axis in range(rank)]
        self.tile = None if tile is None else tuple(int(n) for n in tile)
        if any(n < 0 for n in self.tile or ()):
            raise LiftingError(f"lengths of tiles {self.tile} cannot be negative")
        axis_order = None if axis_order is None else [_axis(axis, rank) for axis in axis_order]
        # Complex samples are two real ones, along an axis more.
        parts = [2] if self.dtype.kind == "c" else []
        if parts and axis_order is not None:
            axis_order.append(rank)
        if parts and origins is not None:
            origins = [*origins, 0]
        self._native = _lifting.Plan(
            self.wavelet._scheme,
            [*shape, *parts],
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
        if not ill_conditioned:
            self._check_condition()
        self.shape = self._outer(self._native.shape)
        self.coefficient_shape = self._outer(self._native.coefficient_shape)
        self.levels = tuple(levels)

    def _check_condition(self):
        """Warns, or refuses, if the border rule does not suit the wavelet."""
        condition = self._native.condition
        if condition <= 100:
            return
        message = (
            f"`{self.wavelet.name}` under the border rule `{self.boundary}` has condition {condition:.2g}: coefficients "
            "at the borders may be as many times as large as the data, and reconstruction loses as many digits. Take "
            'boundary="periodic", or `lifting.wavedecn` in one of PyWavelets\' modes'
        )
        if condition > 1e4:
            raise LiftingError(f"{message}; `ill_conditioned=True` makes the plan all the same")
        warnings.warn(message, RuntimeWarning, stacklevel=3)

    @property
    def condition(self):
        """Growth of errors through analysis and synthesis: 1 to 20 if the border rule suits the wavelet."""
        return self._native.condition

    def __reduce__(self):
        return _remade, (self._made,)

    @property
    def boundary(self):
        """The border rule."""
        return self._native.boundary

    @property
    def device(self):
        """Where it executes."""
        return self._native.device

    @property
    def recipe(self):
        """What it does, and why, as text."""
        return self._native.recipe()

    @property
    def subbands(self):
        """All sub-bands by name, coarsest first; of a plan with tiles those of the first one."""
        return self._bands(self._native.subbands())

    @property
    def tiles(self):
        """The tiles, those of one shape together, full ones first. A plan without has one, the whole."""
        outer = self._outer
        return [Tile(outer(offset), outer(shape), self._bands(bands)) for offset, shape, bands in self._native.tiles()]

    def _bands(self, entries):
        bands = (Subband(*(self._outer(x) if isinstance(x, list) else x for x in band)) for band in entries)
        return {band.name: band for band in bands}

    def __getitem__(self, name):
        bands = self.subbands
        if name not in bands:
            raise KeyError(f"there is no sub-band {name!r}; there are {', '.join(bands)}")
        return bands[name]

    def band(self, coefficients, name):
        """A sub-band of coefficients of this plan, as a view."""
        if tuple(coefficients.shape) != self.coefficient_shape:
            expected, got = self.coefficient_shape, tuple(coefficients.shape)
            raise LiftingError(f"the coefficients must have shape {expected}, but the array has {got}")
        return coefficients[self[name].index]

    def bands(self, coefficients):
        """All sub-bands of coefficients by name, as views, coarsest first."""
        return {name: self.band(coefficients, name) for name in self.subbands}

    def level_shape(self, level):
        """Shape of the low band after so many levels."""
        return self._outer(self._native.level_shape(level))

    def forward(self, data, out=None, *, stream=None):
        """Analysis: the coefficients of data."""
        return self._run("forward", data, out, self.coefficient_shape, 0, stream)

    def inverse(self, coefficients, out=None, *, stream=None):
        """Synthesis: the data of coefficients."""
        return self._run("inverse", coefficients, out, self.shape, 0, stream)

    def inverse_to(self, level, coefficients, out=None, *, stream=None):
        """Synthesis down to a level and no further: the data at reduced resolution, of `level_shape`."""
        shape = self.shape if level == 0 else self.level_shape(level)
        return self._run("inverse", coefficients, out, shape, level, stream)

    def adjoint(self, coefficients, out=None, *, stream=None):
        """The adjoint (transpose) of `forward`: the gradient of a function of the coefficients, taken back to the data.
        Real wavelets only."""
        return self._run("adjoint", coefficients, out, self.shape, 0, stream)

    def inverse_adjoint(self, data, out=None, *, stream=None):
        """The adjoint of `inverse`."""
        return self._run("inverse_adjoint", data, out, self.coefficient_shape, 0, stream)

    def _run(self, name, source, out, shape, level, stream):
        library = _arrays.library(source)
        if library is None:
            library, source = _arrays.library(self._none), np.asarray(source).astype(self.dtype)
        source = self._aligned(source)
        self._check(library, source)
        if library.on_device(source):
            return self._on_device(library, name, source, out, shape, level, stream)
        if out is None:
            target = library.empty(shape, self.dtype, source)
            self._native.run(name, self._view(library, source), self._view(_arrays.library(target), target), level)
            return library.finished(target)
        kind = _arrays.library(out)
        if kind is None or not kind.mutable:
            raise LiftingError(f"`out` must be an array that can be written to, not a {type(out).__name__}")
        self._check(kind, out)
        target = self._aligned(out)
        self._native.run(name, self._view(library, source), self._view(kind, target), level)
        if target is not out:
            out[...] = target
        return out

    def _aligned(self, array):
        """The array; a copy of NumPy's if its samples do not begin at multiples of their size."""
        return array if not isinstance(array, np.ndarray) or array.flags.aligned else array.copy()

    #: An array, and nothing more.
    _none = np.empty(0)

    def _on_device(self, library, name, source, out, shape, level, stream):
        """Queues a transform on a stream of a GPU: the library's own, or the caller's."""
        if out is not None and _arrays.library(out) is not library:
            given, found = type(source).__name__, type(out).__name__
            raise LiftingError(f"`out` must be a {given}, as the array given, and not a {found}")
        if out is not None:
            self._check(library, out)
        if self._native.gpu is None:
            raise LiftingError(f"the array is on a GPU, and the plan on {self.device}: make it with device=\"cuda\"")
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

    def _check(self, library, array):
        if isinstance(array, np.ndarray) and array.dtype == self.dtype:
            return
        found = library.dtype(array)
        if found not in (None, self._name):
            raise LiftingError(f"the plan has samples {self.dtype}, and the array has {found}: convert it")

    def _outer(self, shape):
        """A shape, or what else there is for each axis, without the axis of real and imaginary parts."""
        return tuple(shape[:-1] if self.dtype.kind == "c" else shape)

    def __repr__(self):
        return f"<lifting.Plan {self.shape} {self.wavelet.name} levels={self.levels} {self.dtype} on {self.device}>"


def _remade(arguments):
    """A plan from a pickle or a copy: made again from its arguments, with the same bits."""
    return Plan(**arguments)


def _axis(axis, rank):
    """An axis counted from the first one."""
    if not -rank <= axis < rank:
        raise LiftingError(f"there is no axis {axis}: the data has {rank}")
    return int(axis) % rank
