"""PyWavelets' transforms of JAX's arrays, in all nine modes, with derivatives: `lifting.jax` has them.

XLA calls levels as foreign functions, on CPUs and on CUDA devices. A level is linear, and so is its adjoint, which the
native half has as well: each is the derivative of the other.
"""

import functools
import math

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _dwt, _lifting
from ._lifting import LiftingError
from ._linear import ADJOINT, analysis, check_lengths, keys, modes_of, synthesis, wavelet_of
from ._multilevel import _levels, _sequence
from ._plan import _DTYPES
from ._wavelet import key_of

_TARGET = "lifting_level"
for _platform in ("cpu", "CUDA"):
    jax.ffi.register_ffi_target(_TARGET, _lifting.xla_handlers(f"{_platform}, levels"), platform=_platform)

_NAMES = {name: short for name, short in _DTYPES.items() if short in ("f16", "bf16", "f32", "f64")}


def _prepared(transform, wavelet, modes, shape, dtype):
    """The level of a batch of one, which knows where things are. The shape is that of bands for `inverse` and its
    adjoint, else of the data."""
    of_bands = transform.startswith("inverse")
    return _dwt._prepare(
        wavelet_of(wavelet)._scheme, (1, *shape), (None, *modes), _NAMES[dtype.name], of_bands, _dwt._threads
    )


def _result(x, *, transform, wavelet, modes, shape):
    """The shape of what a call makes: an array of which the result is a window, or for `adjoint` the data."""
    made = shape
    if transform != "adjoint":
        made = _prepared(transform, wavelet, modes, shape, x.dtype).extended[1:]
    return (*x.shape[: x.ndim - len(modes)], *made)


def _call(*arrays, transform, wavelet, modes, shape):
    """The foreign call."""
    made = _result(arrays[0], transform=transform, wavelet=wavelet, modes=modes, shape=shape)
    results = jax.ShapeDtypeStruct(made, arrays[0].dtype)
    return _queued(results, *arrays, transform=transform, wavelet=wavelet, modes=modes, shape=shape)


def _queued(results, *arrays, transform, wavelet, modes, shape):
    attributes = {"transform": transform, "wavelet": wavelet, "modes": ",".join(modes)}
    return jax.ffi.ffi_call(_TARGET, results)(*arrays, **attributes, shape=",".join(map(str, shape)))


def _call_on_cuda(*arrays, transform, wavelet, modes, shape):
    """The foreign call on a GPU, where what is given is one array, and what is restored is all of the result."""
    of = {"transform": transform, "wavelet": wavelet, "modes": modes, "shape": shape}
    batch = arrays[0].shape[: arrays[0].ndim - len(modes)]
    prepared = _prepared(transform, wavelet, modes, shape, arrays[0].dtype)
    given = arrays[0]
    if transform in ("inverse", "adjoint"):
        given = jax.numpy.zeros((*batch, *prepared.extended[1:]), given.dtype)
        for band, window in zip(arrays, prepared.windows, strict=True):
            given = given.at[(..., *window[1:])].set(band)
    made = _result(arrays[0], **of)
    target = (*batch, *prepared.restored_shape[1:]) if transform == "inverse" else made
    # As for plans: made here, and scratch memory is a result.
    gpu = jax.local_devices(backend="cuda")[0].local_hardware_id
    whole, size = (math.prod(batch), *shape), 0
    if math.prod(whole):
        told = (transform, wavelet, ",".join(modes), whole, _NAMES[given.dtype.name], gpu)
        size = _lifting.xla_level_scratch_bytes(*told)
    results = [jax.ShapeDtypeStruct(target, given.dtype), jax.ShapeDtypeStruct((size,), jax.numpy.uint8)]
    out = _queued(results, given, **of)[0]
    if transform != "inverse":
        return out
    return jax.numpy.zeros(made, out.dtype).at[(..., *prepared.crop[1:])].set(out)


_STATIC = ["transform", "wavelet", "modes", "shape"]

# An array to bands, as windows of the result, and bands to an array, as a window of it: linear both.
_split, _join = Primitive("lifting_split"), Primitive("lifting_join")
for _run in (_split, _join):
    _run.def_impl(jax.jit(_run.bind, static_argnames=_STATIC))
    _run.def_abstract_eval(lambda *x, **rest: x[0].update(shape=_result(x[0], **rest), weak_type=False))
    mlir.register_lowering(_run, mlir.lower_fun(_call, multiple_results=False), platform="cpu")
    mlir.register_lowering(_run, mlir.lower_fun(_call_on_cuda, multiple_results=False), platform="cuda")


def _bands(whole, *, transform, wavelet, modes, shape):
    """The windows of what `_split` makes."""
    windows = _prepared(transform, wavelet, modes, shape, whole.dtype).windows
    return [whole[(..., *window[1:])] for window in windows]


def _restored(whole, *, transform, wavelet, modes, shape):
    """The window of what `_join` makes."""
    if transform == "adjoint":
        return whole
    return whole[(..., *_prepared(transform, wavelet, modes, shape, whole.dtype).crop[1:])]


def _split_transpose(whole, x, *, transform, **rest):
    # What surrounds the windows is of no use, and has no derivative.
    bands = _bands(whole, transform=transform, **rest)
    other = ADJOINT[transform]
    return [_restored(_join.bind(*bands, transform=other, **rest), transform=other, **rest)]


def _join_transpose(whole, *bands, transform, **rest):
    if type(whole) is ad.Zero:
        return [ad.Zero(old.aval) if ad.is_undefined_primal(old) else None for old in bands]
    other = ADJOINT[transform]
    x = _restored(whole, transform=transform, **rest)
    made = _bands(_split.bind(x, transform=other, **rest), transform=other, **rest)
    return [new if ad.is_undefined_primal(old) else None for new, old in zip(made, bands, strict=True)]


def _join_jvp(bands, tangents, **parameters):
    whole = _join.bind(*bands, **parameters)
    if all(type(tangent) is ad.Zero for tangent in tangents):
        return whole, ad.Zero.from_primal_value(whole)
    return whole, _join.bind(*map(ad.instantiate_zeros, tangents), **parameters)


ad.deflinear2(_split, _split_transpose)
ad.primitive_jvps[_join] = _join_jvp
ad.primitive_transposes[_join] = _join_transpose


def _batched(run, arrays, axes, **parameters):
    # All axes but the last ones are batch: one more is only that.
    count = next(array.shape[axis] for array, axis in zip(arrays, axes) if axis is not None)

    def moved(array, axis):
        if axis is None:
            return jax.numpy.broadcast_to(array, (count, *array.shape))
        return jax.numpy.moveaxis(array, axis, 0)

    return run.bind(*map(moved, arrays, axes), **parameters), 0


batching.primitive_batchers[_split] = functools.partial(_batched, _split)
batching.primitive_batchers[_join] = functools.partial(_batched, _join)


def _checked(arrays):
    """Arrays of one shape and one type that can be taken."""
    arrays = [jax.numpy.asarray(array) for array in arrays]
    dtype = jax.numpy.result_type(*arrays)
    if dtype.name not in _NAMES:
        raise LiftingError(f"samples cannot be {dtype}: choose one of {', '.join(_NAMES)}")
    if len({array.shape for array in arrays}) != 1:
        raise LiftingError(f"bands of a level have one shape, and not {[array.shape for array in arrays]}")
    return [array.astype(dtype) for array in arrays]


def _parts(x):
    """Real and imaginary parts as a batch."""
    return jax.numpy.stack([x.real, x.imag])


def _dwtn(x, wavelet, modes):
    """One level: bands by their keys."""
    (x,) = _checked([x])
    if jax.numpy.iscomplexobj(x):
        return {key: jax.lax.complex(*pair) for key, pair in _dwtn(_parts(x), wavelet, modes).items()}
    shape = x.shape[x.ndim - len(modes) :]
    check_lengths(shape, modes)
    parameters = {"transform": "forward", "wavelet": wavelet, "modes": modes, "shape": shape}
    bands = _bands(_split.bind(x, **parameters), **parameters)
    return dict(zip(keys(len(modes)), bands, strict=True))


def _idwtn(bands, wavelet, modes):
    """What bands by their keys make; those that are missing are zero."""
    there = {key: band for key, band in bands.items() if band is not None}
    if not there:
        raise LiftingError("there is no band that is not None")
    there = dict(zip(there, _checked(there.values()), strict=True))
    first = next(iter(there.values()))
    if jax.numpy.iscomplexobj(first):
        parts = {key: _parts(band) for key, band in there.items()}
        return jax.lax.complex(*_idwtn(parts, wavelet, modes))
    shape = first.shape[first.ndim - len(modes) :]
    given = [there.get(key, jax.numpy.zeros_like(first)) for key in keys(len(modes))]
    parameters = {"transform": "inverse", "wavelet": wavelet, "modes": modes, "shape": shape}
    return _restored(_join.bind(*given, **parameters), **parameters)


def wavedecn(x, wavelet, mode="symmetric", level=None, *, dims=2):
    """Several levels of analysis along the last ``dims`` axes, as PyWavelets' function of that name:
    ``[cAn, {details of level n}, …, {details of level 1}]``; all other axes are batch.

    Wavelets are real ones; ``mode`` is one of PyWavelets' nine, or one for each axis; types are float16, bfloat16,
    float32, float64, complex64, complex128. There are derivatives of every order.

    >>> x = jax.random.normal(jax.random.key(1), (3, 9, 12))
    >>> coeffs = wavedecn(x, "db2", level=2)
    >>> [coeffs[0].shape, coeffs[2]["ad"].shape]
    [(3, 4, 5), (3, 6, 7)]
    >>> bool(jax.numpy.allclose(waverecn(coeffs, "db2")[:, :9], x, atol=1e-5))
    True
    """
    x = jax.numpy.asarray(x)
    if not 1 <= dims <= x.ndim:
        raise LiftingError(f"{dims} axes cannot be transformed of an array that has {x.ndim}")
    key, modes = key_of(wavelet), modes_of(mode, dims)
    count = _levels(x.shape[x.ndim - dims :], [wavelet_of(key)] * dims, level)
    return analysis(x, count, dims, lambda x: _dwtn(x, key, modes))


def waverecn(coeffs, wavelet, mode="symmetric", *, dims=2):
    """Several levels of synthesis, of what `wavedecn` returns; details that are missing or None are zero."""
    key, modes = key_of(wavelet), modes_of(mode, dims)
    return synthesis(coeffs, dims, lambda bands: _idwtn(bands, key, modes))


def wavedec(x, wavelet, mode="symmetric", level=None):
    """Several levels of analysis along the last axis: ``[cAn, cDn, …, cD1]``.

    >>> [c.shape for c in wavedec(jax.numpy.ones((2, 8)), "haar", level=2)]
    [(2, 2), (2, 2), (2, 4)]
    """
    x, *details = wavedecn(x, wavelet, mode, level, dims=1)
    return [x, *(bands["d"] for bands in details)]


def waverec(coeffs, wavelet, mode="symmetric"):
    """Several levels of synthesis along the last axis, of what `wavedec` returns."""
    x, details = _sequence(coeffs)
    return waverecn([x, *({"d": band} for band in details)], wavelet, mode, dims=1)


def wavedec2(x, wavelet, mode="symmetric", level=None):
    """Several levels of analysis along the last two axes: ``[cAn, (cHn, cVn, cDn), …, (cH1, cV1, cD1)]``."""
    x, *details = wavedecn(x, wavelet, mode, level, dims=2)
    return [x, *((bands["da"], bands["ad"], bands["dd"]) for bands in details)]


def waverec2(coeffs, wavelet, mode="symmetric"):
    """Several levels of synthesis along the last two axes, of what `wavedec2` returns.

    >>> x = jax.random.normal(jax.random.key(1), (4, 6))
    >>> back = waverec2(wavedec2(x, "bior2.2", "reflect", 1), "bior2.2", "reflect")
    >>> bool(jax.numpy.allclose(back, x, atol=1e-5))
    True
    """
    x, details = _sequence(coeffs)
    return waverecn([x, *(dict(zip(("da", "ad", "dd"), bands, strict=True)) for bands in details)], wavelet, mode)
