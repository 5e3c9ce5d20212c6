"""Transforms of Dask arrays: data that exceeds memory, or is on many machines.

Every level exchanges the borders of chunks once, so the result has the bits of `lifting.Plan` on the whole array. Dask
computes lazily, and holds one chunk with its borders in memory at a time.

>>> import dask.array as da, lifting, lifting.dask as ld
>>> x = da.random.default_rng(1).normal(size=(64, 96), chunks=(24, 32)).astype("float32").persist()
>>> low, coarse, fine = ld.wavedecn(x, "cdf97", level=2)
>>> low.shape, sorted(fine), fine["ad"].shape
((16, 24), ['ad', 'da', 'dd'], (32, 48))
>>> plan = lifting.Plan(x.shape, "cdf97", 2)
>>> whole = plan.forward(x.compute())
>>> bool((plan.band(whole, "LL2") == low.compute()).all())
True
>>> bool(abs(ld.waverecn([low, coarse, fine], "cdf97") - x).max() < 1e-5)
True

Border rules are those of plans, whose bands have half the samples. PyWavelets' modes have longer bands and need whole
arrays. Arrays are rechunked so that chunks start at even positions and are at least as long as the wavelet's reach.
Chunks whose lengths are multiples of 2ᵏ for k levels, and at least 64, are kept.
"""

import itertools

import dask
import dask.array as da
import numpy as np

from ._cache import cached
from ._lifting import LiftingError
from ._multilevel import dwtn_max_level
from ._plan import Plan
from ._wavelet import as_wavelet, wavelet as _compile

__all__ = ["from_zarr", "to_zarr", "wavedec", "wavedec2", "wavedecn", "waverec", "waverec2", "waverecn"]


@cached()
def _scheme(text):
    return _compile(text)


@cached(lambda text, shape, *others: shape)
def _plan(text, shape, dtype, boundary, axes):
    # The interleaved layout keeps each coefficient in its sample's place, and so in its chunk.
    return Plan(shape, _scheme(text), 1, dtype, boundary, axes=axes, layout="interleaved", threads=1)


def _transform(block, way, text, boundary, axes, margins, wraps, counts, block_id):
    """The transform of a chunk with its halo, cut back to the chunk."""
    if not block.size:
        return block
    run = getattr(_plan(text, block.shape, block.dtype.name, boundary, axes), way)
    # Chunks received over the network may be unaligned.
    out = run(np.require(block, requirements="A"))
    inner = []
    for axis, n in enumerate(out.shape):
        margin = margins.get(axis, 0)
        first = margin if wraps or block_id[axis] > 0 else 0
        last = margin if wraps or block_id[axis] < counts[axis] - 1 else 0
        inner.append(slice(first, n - last))
    return np.ascontiguousarray(out[tuple(inner)])


def _chunks(sizes, least, unit):
    """Chunk sizes close to those given, starting at multiples of ``unit``, of at least ``least`` samples."""
    total, cuts, at = sum(sizes), [0], 0
    for size in sizes[:-1]:
        at += size
        cut = round(at / unit) * unit
        if cut - cuts[-1] >= least and total - cut >= least:
            cuts.append(cut)
    return tuple(b - a for a, b in itertools.pairwise([*cuts, total]))


def _level(x, way, wavelet, boundary, axes, reach):
    """One level in the interleaved layout; chunks start at even positions."""
    margins = {axis: reach for axis in axes if x.numblocks[axis] > 1 and reach}
    wraps = boundary == "periodic"
    border = {axis: "periodic" if wraps else "none" for axis in margins}
    wider = da.overlap.overlap(x, depth=margins, boundary=border, allow_rechunk=False) if margins else x
    return wider.map_blocks(
        _transform,
        way=way,
        text=wavelet.text,
        boundary=boundary,
        axes=axes,
        margins=margins,
        wraps=wraps,
        counts=x.numblocks,
        chunks=x.chunks,
        dtype=x.dtype,
        meta=np.empty((0,) * x.ndim, x.dtype),
    )


def _aligned(x, axes, least, unit):
    chunks = [_chunks(x.chunks[axis], least, unit) if axis in axes else x.chunks[axis] for axis in range(x.ndim)]
    return x.rechunk(tuple(chunks))


def _prepared(data, wavelet, boundary, axes):
    if not isinstance(data, da.Array):
        kind = type(data).__name__
        raise LiftingError(f"the data must be a Dask array, not a {kind}: convert it with `dask.array.from_array`")
    if any(np.isnan(n) for n in data.shape):
        raise LiftingError("the data has chunks of unknown sizes: call its `compute_chunk_sizes` first")
    made = as_wavelet(wavelet)
    axes = tuple(range(data.ndim)) if axes is None else tuple(axes)
    if any(not -data.ndim <= axis < data.ndim for axis in axes):
        raise LiftingError(f"axes {axes} are out of range for data with {data.ndim} axes")
    axes = tuple(axis % data.ndim for axis in axes)
    if len(set(axes)) != len(axes):
        raise LiftingError(f"axes {axes} name an axis twice")
    return made, boundary or made.boundary, axes


def wavedecn(data, wavelet, boundary=None, level=None, axes=None):
    """Analysis of a Dask array along ``axes``, by default all: ``[low, {"ad": …, "da": …, "dd": …}, …]``.

    The result has the form of `lifting.wavedecn`, coarsest first, with Dask arrays. Band names have a letter for each
    of ``axes``: ``a`` for low, ``d`` for high. ``boundary`` is as for `lifting.Plan`. Bands share work: compute all of
    them with one `dask.compute`, or with `to_zarr`.
    """
    made, boundary, axes = _prepared(data, wavelet, boundary, axes)
    sizes = [data.shape[axis] for axis in axes]
    level = dwtn_max_level(sizes, made) if level is None else int(level)
    if level < 0:
        raise LiftingError(f"invalid level {level}: it must be at least 0")
    # Reports errors for the whole array, before the computation starts.
    Plan(data.shape, made, level, data.dtype, boundary, axes=axes)
    reach, low, details = made._scheme.reach, data, []
    for done in range(level):
        unit = 2 ** (level - done)
        low = _aligned(low, axes, max(reach, unit), unit)
        mixed = _level(low, "forward", made, boundary, axes, reach)
        keys = itertools.product("ad", repeat=len(axes))
        bands = {"".join(key): mixed[_phases(key, axes, data.ndim)] for key in keys}
        low = bands.pop("a" * len(axes))
        details.append(bands)
    return [low, *reversed(details)]


def _phases(key, axes, rank):
    """Index of a band in the interleaved layout."""
    index = [slice(None)] * rank
    for letter, axis in zip(key, axes):
        index[axis] = slice(1 if letter == "d" else 0, None, 2)
    return tuple(index)


def _interleave(*bands, keys, axes):
    """The bands of a chunk in the interleaved layout."""
    shape = list(bands[0].shape)
    for n, axis in enumerate(axes):
        other = "".join("d" if m == n else "a" for m in range(len(axes)))
        shape[axis] += bands[keys.index(other)].shape[axis]
    out = np.empty(shape, bands[0].dtype)
    for key, band in zip(keys, bands):
        out[_phases(key, axes, out.ndim)] = band
    return out


def waverecn(coeffs, wavelet, boundary=None, axes=None):
    """Inverse of `wavedecn`."""
    low, *levels = coeffs
    made, boundary, axes = _prepared(low, wavelet, boundary, axes)
    reach, letters = made._scheme.reach, len(axes)
    names = {"".join(key) for key in itertools.product("ad", repeat=letters)} - {"a" * letters}
    for details in levels:
        if set(details) != names:
            expected, found = (", ".join(sorted(bands)) for bands in (names, details))
            raise LiftingError(f"a level needs the bands {expected}, not {found}")
        shape = list(low.shape)
        for n, axis in enumerate(axes):
            shape[axis] += details["".join("d" if m == n else "a" for m in range(letters))].shape[axis]
        bands = {"a" * letters: low, **details}
        for key, band in bands.items():
            expected = list(shape)
            for letter, axis in zip(key, axes):
                expected[axis] = shape[axis] // 2 if letter == "d" else -(-shape[axis] // 2)
            if band.shape != tuple(expected):
                raise LiftingError(f"band {key} must have shape {tuple(expected)}, but has {band.shape}")
        # Sample chunks are twice the low band's; the chunks of all bands follow from them.
        twice = list(low.chunks)
        for axis in axes:
            sizes = [2 * n for n in low.chunks[axis]]
            sizes[-1] -= sum(sizes) - shape[axis]
            twice[axis] = _chunks(sizes, max(reach, 2), 2)
        keys = list(bands)
        parts = []
        for key in keys:
            chunks = list(twice)
            for letter, axis in zip(key, axes):
                chunks[axis] = tuple(n // 2 if letter == "d" else -(-n // 2) for n in twice[axis])
            parts.append(bands[key].rechunk(tuple(chunks)))
        mixed = da.map_blocks(
            _interleave, *parts, keys=keys, axes=axes, chunks=tuple(twice), dtype=low.dtype,
            meta=np.empty((0,) * low.ndim, low.dtype),
        )  # fmt: skip
        low = _level(mixed, "inverse", made, boundary, axes, reach)
    return low


def wavedec(data, wavelet, boundary=None, level=None, axis=-1):
    """Analysis along one axis, like `wavedecn`: ``[low, high, …]``, coarsest first."""
    low, *details = wavedecn(data, wavelet, boundary, level, (axis,))
    return [low, *(bands["d"] for bands in details)]


def waverec(coeffs, wavelet, boundary=None, axis=-1):
    """Inverse of `wavedec`."""
    low, *details = coeffs
    return waverecn([low, *({"d": high} for high in details)], wavelet, boundary, (axis,))


def wavedec2(data, wavelet, boundary=None, level=None, axes=(-2, -1)):
    """Analysis along two axes, like `wavedecn`: ``[low, (horizontal, vertical, diagonal), …]``."""
    low, *details = wavedecn(data, wavelet, boundary, level, axes)
    return [low, *((bands["da"], bands["ad"], bands["dd"]) for bands in details)]


def waverec2(coeffs, wavelet, boundary=None, axes=(-2, -1)):
    """Inverse of `wavedec2`."""
    low, *details = coeffs
    return waverecn([low, *(dict(zip(("da", "ad", "dd"), bands)) for bands in details)], wavelet, boundary, axes)


def to_zarr(coeffs, store, **options):
    """Computes a result of `wavedecn` and writes it to a Zarr group, chunk by chunk.

    The arrays are named ``low``, ``1/ad`` and so on; 1 is the finest level. ``options`` go to `dask.array.to_zarr`."""
    low, *details = coeffs
    arrays = {"low": low}
    for number, bands in zip(range(len(details), 0, -1), details):
        arrays |= {f"{number}/{name}": band for name, band in bands.items()}
    tasks = []
    for name, array in arrays.items():
        # A Zarr array has a single chunk shape.
        even = array.rechunk(tuple(max(sizes) for sizes in array.chunks))
        tasks.append(even.to_zarr(store, component=name, compute=False, **options))
    dask.compute(*tasks)


def from_zarr(store):
    """Coefficients written by `to_zarr`, for `waverecn`; they are read lazily."""
    import zarr

    group = zarr.open_group(store, mode="r")
    numbers = sorted((int(name) for name in group.group_keys()), reverse=True)
    details = [{name: da.from_zarr(group[f"{n}/{name}"]) for name in group[str(n)].array_keys()} for n in numbers]
    return [da.from_zarr(group["low"]), *details]
