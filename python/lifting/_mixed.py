"""Plans of several wavelets: one for each axis, or for each level of an axis."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ._lifting import LiftingError
from ._plan import Plan, Subband, _axis
from ._types import Array, WaveletLike
from ._wavelet import Wavelet, as_wavelet


class MixedPlan:
    """A multi-level transform with a wavelet for each axis, or for each level of an axis.

    It consists of plans of one level along one axis on the CPU, in order. With one wavelet for all axes it computes the
    bits of `Plan`, and sub-bands have the same places. Methods take and return arrays of NumPy; lists of numbers and
    arrays of other libraries in host memory convert.

    Parameters
    ----------
    shape : int, or sequence of int
        Shape of the data.
    wavelets : sequence
        Entry for each axis: a wavelet, a list of wavelets from the finest level on, whose last one serves all
        further levels, or None for an axis of a batch. All have one domain.
    levels : int, or sequence of int, optional
        Number of levels, or one for each axis.
    dtype : dtype, optional
        As for `Plan`, without 16-bit floats.
    boundary : str, optional
        As for `Plan`; by default each wavelet has its own.
    axis_order : sequence of int, optional
        Order of the axes within a level, by default innermost first.
    threads : int, optional
        Number of threads, all by default.

    Examples
    --------
    >>> import numpy
    >>> plan = MixedPlan((6, 8), ("s_transform", ["legall53", "s_transform"]), levels=2, dtype="int16")
    >>> image = numpy.arange(48, dtype="int16").reshape(6, 8)
    >>> coefficients = plan.forward(image)
    >>> plan.band(coefficients, "LL2").shape
    (2, 2)
    >>> bool((plan.inverse(coefficients) == image).all())
    True
    """

    def __init__(
        self,
        shape: int | Sequence[int],
        wavelets: Sequence[WaveletLike | Sequence[WaveletLike] | None],
        levels: int | Sequence[int] = 1,
        dtype: DTypeLike | None = None,
        boundary: str | None = None,
        *,
        axis_order: Sequence[int] | None = None,
        threads: int | None = None,
    ) -> None:
        shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
        rank = len(shape)
        if isinstance(wavelets, (str, Wavelet)) or len(wavelets) != rank:
            given = "a single one" if isinstance(wavelets, (str, Wavelet)) else len(wavelets)
            raise LiftingError(f"one wavelet for each of the {rank} axes is needed, found {given}: use Plan for one")
        #: A tuple of wavelets for each axis, from the finest level on.
        self.wavelets = tuple(self._entry(axis, entry) for axis, entry in enumerate(wavelets))
        used = [wavelet for entry in self.wavelets for wavelet in entry]
        if not used:
            raise LiftingError("every axis is one of the batch: give one of them a wavelet")
        domains = {wavelet.domain for wavelet in used}
        if len(domains) > 1:
            raise LiftingError("integer and real wavelets do not mix: samples have one type")
        if isinstance(levels, (int, np.integer)):
            levels = [int(levels) if entry else 0 for entry in self.wavelets]
        levels = tuple(int(n) for n in levels)
        if len(levels) != rank or any(n < 0 for n in levels):
            raise LiftingError(f"levels {levels} are invalid: give one number of at least 0 for each of {rank} axes")
        for axis, (n, entry) in enumerate(zip(levels, self.wavelets)):
            if n and not entry:
                raise LiftingError(f"axis {axis} has {n} levels, but no wavelet")
        order = range(rank - 1, -1, -1) if axis_order is None else [_axis(axis, rank) for axis in axis_order]
        if len(set(order)) != len(order) or any(n and axis not in order for axis, n in enumerate(levels)):
            raise LiftingError(f"axis_order {tuple(axis_order)} must name every transformed axis once")
        self.levels, self.boundary = levels, boundary
        if dtype is None:
            dtype = "int32" if domains == {"integer"} else "float32"
        # The geometry depends on shape and levels alone.
        self._geometry = Plan(shape, "s_transform", levels, "int16", "zero")
        self.shape = self.coefficient_shape = shape
        #: Plans of one level along one axis in the order of analysis, each with its part of the array.
        self._passes = []
        region = shape
        for level in range(max(levels, default=0)):
            low = list(region)
            for axis in order:
                if levels[axis] > level:
                    entry = self.wavelets[axis]
                    wavelet = entry[min(level, len(entry) - 1)]
                    plan = _along(region, wavelet, axis, str(dtype), boundary, threads)
                    self._passes.append((level, tuple(slice(n) for n in region), plan))
                    low[axis] = (region[axis] + 1) // 2
            region = tuple(low)
        self.dtype = self._passes[0][2].dtype if self._passes else np.dtype(dtype)
        if self.dtype.itemsize == 2 and self.dtype.kind != "i":
            raise LiftingError(f"{self.dtype} would be rounded after each axis: use float32")

    @staticmethod
    def _entry(axis, entry):
        if entry is None:
            return ()
        several = isinstance(entry, (list, tuple))
        if several and not entry:
            raise LiftingError(f"axis {axis} has an empty list of wavelets: give one, or None for an axis of a batch")
        return tuple(as_wavelet(one) for one in (entry if several else [entry]))

    @property
    def subbands(self) -> dict[str, Subband]:
        """All sub-bands by name, coarsest first."""
        return self._geometry.subbands

    def __getitem__(self, name: str) -> Subband:
        return self._geometry[name]

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
        return self._geometry.band(coefficients, name)

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
        return self._geometry.bands(coefficients)

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
        return self._geometry.level_shape(level)

    def forward(self, data: Any, out: Any = None) -> Array:
        """Analysis: the coefficients of data.

        Parameters
        ----------
        data : array
            Array of the plan's shape.
        out : array, optional
            Array for the result, by default a new one.

        Returns
        -------
        array
            Result.
        """
        return self._run("forward", data, out, self._passes)

    def inverse(self, coefficients: Any, out: Any = None) -> Array:
        """Synthesis: the data of coefficients.

        Parameters
        ----------
        coefficients : array
            Coefficients of this plan.
        out : array, optional
            Array for the result, by default a new one.

        Returns
        -------
        array
            Result.
        """
        return self._run("inverse", coefficients, out, self._passes[::-1])

    def inverse_to(self, level: int, coefficients: Any) -> Array:
        """Synthesis that stops at a level: data at reduced resolution, of shape `level_shape`.

        Parameters
        ----------
        level : int
            Level, at least 0 for `inverse_to`; 1 is the finest.
        coefficients : array
            Coefficients of this plan.

        Returns
        -------
        array
            Result.
        """
        shape = self.shape if level == 0 else self.level_shape(level)
        passes = [entry for entry in self._passes[::-1] if entry[0] >= level]
        result = self._run("inverse", coefficients, None, passes)
        return np.ascontiguousarray(result[tuple(slice(n) for n in shape)])

    def adjoint(self, coefficients: Any, out: Any = None) -> Array:
        """The adjoint (transpose) of `forward`: maps a gradient from coefficients to data; real wavelets only.

        Parameters
        ----------
        coefficients : array
            Coefficients of this plan.
        out : array, optional
            Array for the result, by default a new one.

        Returns
        -------
        array
            Result.
        """
        return self._run("adjoint", coefficients, out, self._passes[::-1])

    def inverse_adjoint(self, data: Any, out: Any = None) -> Array:
        """The adjoint (transpose) of `inverse`; real wavelets only.

        Parameters
        ----------
        data : array
            Array of the plan's shape.
        out : array, optional
            Array for the result, by default a new one.

        Returns
        -------
        array
            Result.
        """
        return self._run("inverse_adjoint", data, out, self._passes)

    def _run(self, name, source, out, passes):
        if not hasattr(source, "dtype"):
            source = np.asarray(source).astype(self.dtype)
        source = np.asarray(source)
        if source.shape != self.shape:
            raise LiftingError(f"an array of shape {self.shape} is needed, not {source.shape}")
        if source.dtype != self.dtype:
            raise LiftingError(f"the plan takes samples {self.dtype}, but the array has {source.dtype}: convert it")
        result = np.array(source, order="C")
        for _, region, plan in passes:
            part = result[region]
            if part.size and name in ("forward", "inverse"):
                getattr(plan, name)(part, part)
            elif part.size:
                part[...] = getattr(plan, name)(part)
        if out is None:
            return result
        if not isinstance(out, np.ndarray) or out.shape != self.shape or out.dtype != self.dtype:
            raise LiftingError(f"`out` must be an array of NumPy of shape {self.shape} and type {self.dtype}")
        out[...] = result
        return out

    def __repr__(self):
        names = ", ".join("/".join(wavelet.name for wavelet in entry) or "-" for entry in self.wavelets)
        return f"<lifting.MixedPlan {self.shape} ({names}) levels={self.levels} {self.dtype}>"


def _along(region, wavelet, axis, dtype, boundary, threads):
    """A plan of one level along one axis."""
    return Plan(region, wavelet, 1, dtype, boundary, axes=[axis], threads=threads)
