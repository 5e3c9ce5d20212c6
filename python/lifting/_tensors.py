"""Functions of tensors with the names of PyWavelets and ptwt, for `lifting.torch` and `lifting.jax`.

They consist of two functions for one level of a library: `split` from a tensor to bands by key, and `join` back, both
along the last axes. So they are differentiable as these are.
"""

import collections
import itertools
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ._dwt import dwt_max_level
from ._lifting import LiftingError
from ._linear import analysis, synthesis
from ._multilevel import _sequence
from ._packets import _gray
from ._swt import swt_max_level
from ._types import ModesLike, WaveletLike
from ._wavelet import as_wavelet

#: A mode whose transforms of orthogonal wavelets are orthogonal matrices.
_SQUARE = "periodization"

#: Names of the public functions and classes.
NAMES = "wavedecn waverecn wavedec waverec wavedec2 waverec2 wavedec3 waverec3 swt iswt WaveletPacket WaveletPacket2D"
NAMES += " fswavedec2 fswaverec2 fswavedec3 fswaverec3 MatrixWavedec MatrixWaverec MatrixWavedec2 MatrixWaverec2"
NAMES = sorted(f"{NAMES} MatrixWavedec3 MatrixWaverec3".split())


@dataclass(frozen=True)
class Library:
    """A library's operations."""

    #: Bands by key of ``x``: `split(x, wavelet, mode, dims)`.
    split: Callable[..., dict[str, Any]]
    #: A tensor from bands by key: `join(bands, wavelet, mode, dims)`.
    join: Callable[..., Any]
    #: The number of levels: `levels(x, wavelet, mode, dims, level)`.
    levels: Callable[..., int]
    #: Checks and converts an argument.
    tensor: Callable[[Any], Any]
    #: Like those of NumPy.
    moveaxis: Callable[..., Any]
    roll: Callable[..., Any]
    stack: Callable[..., Any]

    def last(self, x: Any, axes: tuple[int, ...]) -> Any:
        """The tensor with these axes last."""
        return x if x is None or _are_last(axes) else self.moveaxis(x, axes, _places(axes))

    def back(self, x: Any, axes: tuple[int, ...]) -> Any:
        """Inverse of `last`."""
        return x if x is None or _are_last(axes) else self.moveaxis(x, _places(axes), axes)


def _places(axes):
    return tuple(range(-len(axes), 0))


def _are_last(axes):
    return axes == _places(axes)


def _checked(axes, count, ndim):
    """Axes as negative numbers."""
    axes = (axes,) if isinstance(axes, int) else tuple(axes)
    if count is not None and len(axes) != count:
        raise LiftingError(f"{len(axes)} axes, but the function transforms {count}")
    if not all(-ndim <= axis < ndim for axis in axes):
        raise LiftingError(f"axes {axes} are out of range for a tensor with {ndim} axes")
    made = tuple(axis if axis < 0 else axis - ndim for axis in axes)
    if len(set(made)) != len(made):
        raise LiftingError(f"axes {axes} name an axis twice")
    return made


def _each(bands, function):
    return {key: function(band) for key, band in bands.items()}


def _named(bands):
    """Details of a level of two axes by key, from three or from a dictionary."""
    return bands if isinstance(bands, Mapping) else dict(zip(("da", "ad", "dd"), bands, strict=True))


def functions(library: Library, module: str) -> list[Any]:
    """The functions and classes `NAMES` over a library, as those of a module."""

    def decompose(x, wavelet, mode, level, axes, count):
        x = library.tensor(x)
        if count is not None and count > x.ndim:
            raise LiftingError(f"invalid number of axes {count}: the tensor allows 1 to {x.ndim}")
        axes = _checked(axes, count, x.ndim)
        x, dims = library.last(x, axes), len(axes)
        levels = library.levels(x, wavelet, mode, dims, level)
        low, *details = analysis(x, levels, dims, lambda x: library.split(x, wavelet, mode, dims))
        return [library.back(low, axes), *(_each(bands, lambda band: library.back(band, axes)) for bands in details)]

    def recompose(coeffs, wavelet, mode, axes, count):
        low, details = _sequence(coeffs)
        there = [band for band in (low, *(band for bands in details for band in bands.values())) if band is not None]
        if not there:
            raise LiftingError("all bands are None: give at least one tensor")
        axes = _checked(axes, count, there[0].ndim)
        moved = [_each(bands, lambda band: library.last(band, axes)) for bands in details]
        whole = [library.last(low, axes), *moved]
        return library.back(synthesis(whole, len(axes), lambda b: library.join(b, wavelet, mode, len(axes))), axes)

    def wavedecn(
        x: Any,
        wavelet: WaveletLike,
        mode: ModesLike = "symmetric",
        level: int | None = None,
        *,
        dims: int = 2,
        axes: Sequence[int] | None = None,
    ) -> list[Any]:
        """Several levels of analysis, like PyWavelets' `wavedecn`: ``[cAn, {details of level n}, …, {details of level
        1}]``. All other axes are batch.

        The wavelet is real. ``mode`` is one of PyWavelets' nine, or one for each axis. Types are float16, bfloat16,
        float32, float64, complex64 and complex128. Derivatives of every order are available.

        Parameters
        ----------
        x : tensor
            Data.
        wavelet : str or Wavelet
            Wavelet.
        mode : str or int, or sequence of them, optional
            Extension of the data at its ends.
        level : int, optional
            Number of levels, by default the largest useful one.
        dims : int, optional
            Number of last axes to transform.
        axes : sequence of int, optional
            Axes to transform, instead of the last ``dims``.
        """
        if axes is None:
            x = library.tensor(x)
            if not 1 <= dims <= x.ndim:
                raise LiftingError(f"invalid number of axes {dims}: the tensor allows 1 to {x.ndim}")
            axes = tuple(range(-dims, 0))
        return decompose(x, wavelet, mode, level, axes, None)

    def waverecn(
        coeffs: Sequence[Any],
        wavelet: WaveletLike,
        mode: ModesLike = "symmetric",
        *,
        dims: int = 2,
        axes: Sequence[int] | None = None,
    ) -> Any:
        """Several levels of synthesis, from a result of `wavedecn`; missing details and None are zero."""
        return recompose(coeffs, wavelet, mode, tuple(range(-dims, 0)) if axes is None else axes, None)

    def wavedec(
        x: Any, wavelet: WaveletLike, mode: ModesLike = "symmetric", level: int | None = None, *, axis: int = -1
    ) -> list[Any]:
        """Several levels of analysis along an axis: ``[cAn, cDn, …, cD1]``."""
        low, *details = decompose(x, wavelet, mode, level, axis, 1)
        return [low, *(bands["d"] for bands in details)]

    def waverec(
        coeffs: Sequence[Any], wavelet: WaveletLike, mode: ModesLike = "symmetric", *, axis: int = -1
    ) -> Any:
        """Several levels of synthesis along an axis, from a result of `wavedec`. None means zeros."""
        low, details = _sequence(coeffs)
        return recompose([low, *({"d": band} for band in details)], wavelet, mode, axis, 1)

    def wavedec2(
        x: Any,
        wavelet: WaveletLike,
        mode: ModesLike = "symmetric",
        level: int | None = None,
        *,
        axes: Sequence[int] = (-2, -1),
    ) -> list[Any]:
        """Several levels of analysis along two axes: ``[cAn, (cHn, cVn, cDn), …, (cH1, cV1, cD1)]``."""
        low, *details = decompose(x, wavelet, mode, level, axes, 2)
        return [low, *((bands["da"], bands["ad"], bands["dd"]) for bands in details)]

    def waverec2(
        coeffs: Sequence[Any],
        wavelet: WaveletLike,
        mode: ModesLike = "symmetric",
        *,
        axes: Sequence[int] = (-2, -1),
    ) -> Any:
        """Several levels of synthesis along two axes, from a result of `wavedec2`. None means zeros."""
        low, details = _sequence(coeffs)
        return recompose([low, *map(_named, details)], wavelet, mode, axes, 2)

    def wavedec3(
        x: Any,
        wavelet: WaveletLike,
        mode: ModesLike = "symmetric",
        level: int | None = None,
        *,
        axes: Sequence[int] = (-3, -2, -1),
    ) -> list[Any]:
        """Several levels of analysis along three axes, in the form of `wavedecn`."""
        return decompose(x, wavelet, mode, level, axes, 3)

    def waverec3(
        coeffs: Sequence[Any],
        wavelet: WaveletLike,
        mode: ModesLike = "symmetric",
        *,
        axes: Sequence[int] = (-3, -2, -1),
    ) -> Any:
        """Several levels of synthesis along three axes, from a result of `wavedec3`."""
        return recompose(coeffs, wavelet, mode, axes, 3)

    def fswavedec2(
        x: Any,
        wavelet: WaveletLike,
        mode: ModesLike = "symmetric",
        level: int | None = None,
        *,
        axes: Sequence[int] = (-2, -1),
    ) -> list[Any]:
        """`wavedec2` in the form of `wavedecn`, as ptwt's function returns it."""
        return decompose(x, wavelet, mode, level, axes, 2)

    # Synthesis takes both forms.
    fswaverec2, fswavedec3, fswaverec3 = waverec2, wavedec3, waverec3

    def swt(x: Any, wavelet: WaveletLike, level: int | None = None, *, axis: int = -1) -> list[Any]:
        """Stationary transform along an axis, periodic: ``[cAn, cDn, …, cD1]``, each of the shape of ``x``.

        The axis has a multiple of ``2**level`` samples. Coefficients are those of `lifting.swt` with ``trim_approx``.
        """
        x = library.tensor(x)
        axes = _checked(axis, 1, x.ndim)
        low, details = library.last(x, axes), []
        n = low.shape[-1]
        level = swt_max_level(n) if level is None else level
        if level < 0 or n % 2**level or not n:
            raise LiftingError(f"invalid level {level}: axis {axis} of {n} samples is not a multiple of 2^{level}")
        for i in range(level):
            # Every 2^i-th sample, and these one further: both shifts of a decimated transform.
            batch = low.shape[:-1]
            lines = library.moveaxis(low.reshape(*batch, n >> i, 1 << i), -1, -2)
            both = library.stack([lines, library.roll(lines, -1, -1)], -2)
            bands = library.split(both, wavelet, _SQUARE, 1)
            low, high = (
                library.moveaxis(library.moveaxis(bands[key], -2, -1).reshape(lines.shape), -1, -2).reshape(*batch, n)
                for key in "ad"
            )
            details.append(high)
        return [library.back(band, axes) for band in (low, *reversed(details))]

    def iswt(coeffs: Sequence[Any], wavelet: WaveletLike, *, axis: int = -1) -> Any:
        """Inverse of `swt`: the mean over both shifts at each level."""
        low, details = _sequence(coeffs)
        low = library.tensor(low)
        axes = _checked(axis, 1, low.ndim)
        low = library.last(low, axes)
        batch, n = low.shape[:-1], low.shape[-1]
        for i, high in zip(reversed(range(len(details))), details):
            high = library.last(high, axes)
            if high.shape != low.shape or n % 2 ** (i + 1):
                raise LiftingError(f"bands of shapes {tuple(low.shape)} and {tuple(high.shape)} are not those of `swt`")

            def shifts(band, i=i):
                lines = library.moveaxis(band.reshape(*batch, n >> i, 1 << i), -1, -2)
                return library.moveaxis(lines.reshape(*lines.shape[:-1], lines.shape[-1] // 2, 2), -1, -2)

            both = library.join({"a": shifts(low), "d": shifts(high)}, wavelet, _SQUARE, 1)
            lines = (both[..., 0, :] + library.roll(both[..., 1, :], 1, -1)) / 2
            low = library.moveaxis(lines, -1, -2).reshape(*batch, n)
        return library.back(low, axes)

    class _Packets(collections.UserDict):
        """A tree of packets by path, computed when a path is read."""

        #: Letters of a path, and their bands.
        _KEYS: Mapping[str, str]

        def __init__(self, data, wavelet, mode, maxlevel, axes):
            self.wavelet, self.mode, self.maxlevel = as_wavelet(wavelet), mode, maxlevel
            self._axes = axes
            super().__init__()
            if data is not None:
                self.transform(data, maxlevel)

        def transform(self, data: Any, maxlevel: int | None = None) -> "_Packets":
            """Begins a tree of other data; returns this object."""
            data = library.tensor(data)
            if maxlevel is None:
                axes = _checked(self._axes, None, data.ndim)
                maxlevel = min(dwt_max_level(data.shape[axis], self.wavelet.dec_len) for axis in axes)
            self.maxlevel, self.data = maxlevel, {"": data}
            return self

        def initialize(self, keys: Iterable[str]) -> None:
            """Computes the packets at these paths."""
            for key in keys:
                self[key]

        def __getitem__(self, key: str) -> Any:
            if key not in self.data:
                wrong = set(key) - set(self._KEYS)
                if wrong or not key or "" not in self.data:
                    why = "the tree has no data" if not wrong else f"paths consist of {', '.join(self._KEYS)}"
                    raise LiftingError(f"invalid path {key!r}: {why}")
                if len(key) > self.maxlevel:
                    raise KeyError(f"path {key!r} goes below the last level, {self.maxlevel}")
                parent = self[key[:-1]]
                axes = _checked(self._axes, None, parent.ndim)
                bands = library.split(library.last(parent, axes), self.wavelet, self.mode, len(axes))
                for letter, band in self._KEYS.items():
                    self.data[key[:-1] + letter] = library.back(bands[band], axes)
            return self.data[key]

        def reconstruct(self) -> "_Packets":
            """Synthesis of all nodes from those of the last level, which must have been computed or set."""
            for level in reversed(range(self.maxlevel)):
                for path in map("".join, itertools.product(self._KEYS, repeat=level)):
                    missing = [path + letter for letter in self._KEYS if path + letter not in self.data]
                    if missing:
                        raise KeyError(f"packets {missing} are missing: read or set them, or call `initialize`")
                    first = self.data[path + "a"]
                    axes = _checked(self._axes, None, first.ndim)
                    bands = {b: library.last(self.data[path + k], axes) for k, b in self._KEYS.items()}
                    made = library.back(library.join(bands, self.wavelet, self.mode, len(axes)), axes)
                    if path in self.data:
                        made = made[tuple(slice(n) for n in self.data[path].shape)]
                    self.data[path] = made
            return self

    class WaveletPacket(_Packets):
        """Wavelet packets along an axis: ``packets["ad"]`` is the detail of the approximation, computed on demand.

        Parameters
        ----------
        data : tensor or None
            Data, or None for an empty tree.
        wavelet : str or Wavelet
            Wavelet.
        mode : str or int, optional
            Extension of the data at its ends.
        maxlevel : int, optional
            Largest level, by default the largest useful one.
        axis : int, optional
            Axis to transform.
        """

        _KEYS = types.MappingProxyType({"a": "a", "d": "d"})

        def __init__(
            self,
            data: Any,
            wavelet: WaveletLike,
            mode: ModesLike = "reflect",
            maxlevel: int | None = None,
            axis: int = -1,
        ) -> None:
            super().__init__(data, wavelet, mode, maxlevel, (axis,))

        @staticmethod
        def get_level(level: int, order: Literal["freq", "natural"] = "freq") -> list[str]:
            """Paths of a level, in the order of frequencies or of paths."""
            if order not in ("freq", "natural"):
                raise LiftingError(f"unknown order {order!r}; choose freq or natural")
            if order == "freq":
                return _gray(level, "a", "d")
            return ["".join(letters) for letters in itertools.product("ad", repeat=level)]

    class WaveletPacket2D(_Packets):
        """Wavelet packets along two axes, with the letters ``a``, ``h``, ``v`` and ``d``.

        Parameters
        ----------
        data : tensor or None
            Data, or None for an empty tree.
        wavelet : str or Wavelet
            Wavelet.
        mode : str or int, or sequence of them, optional
            Extension of the data at its ends.
        maxlevel : int, optional
            Largest level, by default the largest useful one.
        axes : pair of int, optional
            The two axes to transform.
        """

        _KEYS = types.MappingProxyType({"a": "aa", "h": "da", "v": "ad", "d": "dd"})

        def __init__(
            self,
            data: Any,
            wavelet: WaveletLike,
            mode: ModesLike = "reflect",
            maxlevel: int | None = None,
            axes: Sequence[int] = (-2, -1),
        ) -> None:
            super().__init__(data, wavelet, mode, maxlevel, tuple(axes))

        @staticmethod
        def get_level(level: int, order: Literal["freq", "natural"] = "freq") -> list[Any]:
            """Paths of a level: rows in the order of frequencies, or one list in the order of paths."""
            if order == "natural":
                return ["".join(p) for p in itertools.product("ahvd", repeat=level)]
            if order != "freq":
                raise LiftingError(f"unknown order {order!r}; choose freq or natural")
            letters = {("l", "l"): "a", ("h", "l"): "h", ("l", "h"): "v", ("h", "h"): "d"}
            lines = _gray(level, "l", "h")
            return [["".join(letters[pair] for pair in zip(row, column)) for column in lines] for row in lines]

    class MatrixWavedec:
        """Analysis along an axis with as many coefficients as samples, of periodized data.

        It is a product with a square matrix, which is orthogonal if the wavelet is. Other axes are batch.

        Parameters
        ----------
        wavelet : str or Wavelet
            Wavelet.
        level : int, optional
            Number of levels, by default the largest useful one.
        axis : int, optional
            Axis to transform.
        """

        def __init__(self, wavelet: WaveletLike, level: int | None = None, *, axis: int = -1) -> None:
            self.wavelet, self.level, self.axis = as_wavelet(wavelet), level, axis

        def __call__(self, x: Any) -> list[Any]:
            return wavedec(x, self.wavelet, _SQUARE, self.level, axis=self.axis)

    class MatrixWaverec:
        """Inverse of `MatrixWavedec`; an odd axis gains a sample.

        Parameters
        ----------
        wavelet : str or Wavelet
            Wavelet.
        axis : int, optional
            Axis to transform.
        """

        def __init__(self, wavelet: WaveletLike, *, axis: int = -1) -> None:
            self.wavelet, self.axis = as_wavelet(wavelet), axis

        def __call__(self, coeffs: Sequence[Any]) -> Any:
            return waverec(coeffs, self.wavelet, _SQUARE, axis=self.axis)

    class MatrixWavedec2:
        """`MatrixWavedec` along two axes, in the form of `wavedec2`.

        Parameters
        ----------
        wavelet : str or Wavelet
            Wavelet.
        level : int, optional
            Number of levels, by default the largest useful one.
        axes : pair of int, optional
            The two axes to transform.
        """

        def __init__(
            self, wavelet: WaveletLike, level: int | None = None, *, axes: Sequence[int] = (-2, -1)
        ) -> None:
            self.wavelet, self.level, self.axes = as_wavelet(wavelet), level, axes

        def __call__(self, x: Any) -> list[Any]:
            return wavedec2(x, self.wavelet, _SQUARE, self.level, axes=self.axes)

    class MatrixWaverec2:
        """Inverse of `MatrixWavedec2`.

        Parameters
        ----------
        wavelet : str or Wavelet
            Wavelet.
        axes : pair of int, optional
            The two axes to transform.
        """

        def __init__(self, wavelet: WaveletLike, *, axes: Sequence[int] = (-2, -1)) -> None:
            self.wavelet, self.axes = as_wavelet(wavelet), axes

        def __call__(self, coeffs: Sequence[Any]) -> Any:
            return waverec2(coeffs, self.wavelet, _SQUARE, axes=self.axes)

    class MatrixWavedec3:
        """`MatrixWavedec` along three axes, in the form of `wavedec3`.

        Parameters
        ----------
        wavelet : str or Wavelet
            Wavelet.
        level : int, optional
            Number of levels, by default the largest useful one.
        axes : sequence of int, optional
            The three axes to transform.
        """

        def __init__(
            self, wavelet: WaveletLike, level: int | None = None, *, axes: Sequence[int] = (-3, -2, -1)
        ) -> None:
            self.wavelet, self.level, self.axes = as_wavelet(wavelet), level, axes

        def __call__(self, x: Any) -> list[Any]:
            return wavedec3(x, self.wavelet, _SQUARE, self.level, axes=self.axes)

    class MatrixWaverec3:
        """Inverse of `MatrixWavedec3`.

        Parameters
        ----------
        wavelet : str or Wavelet
            Wavelet.
        axes : sequence of int, optional
            The three axes to transform.
        """

        def __init__(self, wavelet: WaveletLike, *, axes: Sequence[int] = (-3, -2, -1)) -> None:
            self.wavelet, self.axes = as_wavelet(wavelet), axes

        def __call__(self, coeffs: Sequence[Any]) -> Any:
            return waverec3(coeffs, self.wavelet, _SQUARE, axes=self.axes)

    made = {name: item for name, item in locals().items() if name in NAMES}
    for name, item in made.items():
        # Where users, `help` and pickles find it.
        if item.__name__ == name:
            item.__module__, item.__qualname__ = module, name
    return [made[name] for name in NAMES]
