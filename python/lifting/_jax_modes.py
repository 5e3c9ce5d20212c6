"""PyWavelets' transforms of JAX arrays, in all nine modes, with derivatives; exported by `lifting.jax`.

XLA calls levels as foreign functions, on CPUs and on CUDA devices. A level is linear, and the native module has its
adjoint: each is the derivative of the other.
"""

import math

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _dwt, _lifting
from ._lifting import LiftingError
from ._linear import ADJOINT, check_lengths, keys, modes_of, wavelet_of
from ._multilevel import _levels
from ._plan import _DTYPES
from ._tensors import Library
from ._wavelet import as_wavelet, key_of

_TARGET = "lifting_level"
for _platform in ("cpu", "CUDA"):
    jax.ffi.register_ffi_target(_TARGET, _lifting.xla_handlers(f"{_platform}, levels"), platform=_platform)

_NAMES = {name: short for name, short in _DTYPES.items() if short in ("f16", "bf16", "f32", "f64")}


def _prepared(transform, wavelet, modes, shape, dtype):
    """The level of a batch of one, for its windows.

    ``shape`` is that of the bands for `inverse` and its adjoint, else that of the data."""
    of_bands = transform.startswith("inverse")
    return _dwt._prepare(
        wavelet_of(wavelet)._scheme, (1, *shape), (None, *modes), _NAMES[dtype.name], of_bands, _dwt._threads
    )


def _call(results, *arrays, transform, wavelet, modes, shape):
    """Makes the foreign call."""
    attributes = {"transform": transform, "wavelet": wavelet, "modes": ",".join(modes)}
    return jax.ffi.ffi_call(_TARGET, results)(*arrays, **attributes, shape=",".join(map(str, shape)))


def _splits(transform):
    """Whether the transform maps data to bands."""
    return transform in ("forward", "inverse_adjoint")


def _on_cpu(*arrays, transform, shape, **rest):
    """Calls the level on a CPU; the results are windows of the array that it makes."""
    first, batch = arrays[0], arrays[0].shape[: arrays[0].ndim - len(shape)]
    prepared = _prepared(transform, shape=shape, dtype=first.dtype, **rest)
    made = shape if transform == "adjoint" else prepared.extended[1:]
    whole = _call(jax.ShapeDtypeStruct((*batch, *made), first.dtype), *arrays, transform=transform, shape=shape, **rest)
    if transform == "adjoint":
        return [whole]
    windows = prepared.windows if _splits(transform) else [prepared.crop]
    return [whole[(..., *window[1:])] for window in windows]


def _on_cuda(*arrays, transform, shape, **rest):
    """Calls the level on a GPU: input bands are windows of one array, and restored data fills its array."""
    first, batch = arrays[0], arrays[0].shape[: arrays[0].ndim - len(shape)]
    prepared = _prepared(transform, shape=shape, dtype=first.dtype, **rest)
    if _splits(transform):
        given, made = first, prepared.extended[1:]
    else:
        given = jax.numpy.zeros((*batch, *prepared.extended[1:]), first.dtype)
        for band, window in zip(arrays, prepared.windows, strict=True):
            given = given.at[(..., *window[1:])].set(band)
        made = shape if transform == "adjoint" else prepared.restored_shape[1:]
    # As for plans, the level is made here, and its scratch memory is a result.
    gpu = jax.local_devices(backend="cuda")[0].local_hardware_id
    whole, size = (math.prod(batch), *shape), 0
    if math.prod(whole):
        told = (transform, rest["wavelet"], ",".join(rest["modes"]), whole, _NAMES[first.dtype.name], gpu)
        size = _lifting.xla_level_scratch_bytes(*told)
    results = [jax.ShapeDtypeStruct((*batch, *made), first.dtype), jax.ShapeDtypeStruct((size,), jax.numpy.uint8)]
    out = _call(results, given, transform=transform, shape=shape, **rest)[0]
    return [out[(..., *window[1:])] for window in prepared.windows] if _splits(transform) else [out]


# Maps data to bands or bands to data. A primitive keeps XLA's arithmetic out of the transform and its adjoint.
_level = Primitive("lifting_level")
_level.multiple_results = True
_level.def_impl(jax.jit(_level.bind, static_argnames=["transform", "wavelet", "modes", "shape"]))
mlir.register_lowering(_level, mlir.lower_fun(_on_cpu, multiple_results=True), platform="cpu")
mlir.register_lowering(_level, mlir.lower_fun(_on_cuda, multiple_results=True), platform="cuda")


@_level.def_abstract_eval
def _results(*arrays, transform, shape, **rest):
    first, batch = arrays[0], arrays[0].shape[: arrays[0].ndim - len(shape)]
    prepared = _prepared(transform, shape=shape, dtype=first.dtype, **rest)
    if _splits(transform):
        made = [prepared.band_shape[1:]] * len(prepared.windows)
    else:
        made = [shape if transform == "adjoint" else prepared.restored_shape[1:]]
    return [first.update(shape=(*batch, *axes), weak_type=False) for axes in made]


def _transpose(cotangents, *arrays, transform, **rest):
    if all(type(cotangent) is ad.Zero for cotangent in cotangents):
        return [None] * len(arrays)
    made = _level.bind(*map(ad.instantiate_zeros, cotangents), transform=ADJOINT[transform], **rest)
    return [new if ad.is_undefined_primal(old) else None for new, old in zip(made, arrays, strict=True)]


ad.deflinear2(_level, _transpose)


def _batched(arrays, axes, **parameters):
    # The mapped axis becomes another batch axis.
    count = next(array.shape[axis] for array, axis in zip(arrays, axes) if axis is not None)

    def moved(array, axis):
        if axis is None:
            return jax.numpy.broadcast_to(array, (count, *array.shape))
        return jax.numpy.moveaxis(array, axis, 0)

    made = _level.bind(*map(moved, arrays, axes), **parameters)
    return made, [0] * len(made)


batching.primitive_batchers[_level] = _batched


def _checked(arrays):
    """Arrays converted to one supported type, checked for one shape."""
    arrays = [jax.numpy.asarray(array) for array in arrays]
    dtype = jax.numpy.result_type(*arrays)
    if dtype.name not in _NAMES:
        raise LiftingError(f"unsupported sample type {dtype}: choose one of {', '.join(_NAMES)}")
    if len({array.shape for array in arrays}) != 1:
        raise LiftingError(f"bands of a level must have one shape, not {[array.shape for array in arrays]}")
    return [array.astype(dtype) for array in arrays]


def _parts(x):
    """Real and imaginary parts as a batch."""
    return jax.numpy.stack([x.real, x.imag])


def _dwtn(x, wavelet, modes):
    """One level of analysis: bands by key."""
    (x,) = _checked([x])
    if jax.numpy.iscomplexobj(x):
        return {key: jax.lax.complex(*pair) for key, pair in _dwtn(_parts(x), wavelet, modes).items()}
    shape = x.shape[x.ndim - len(modes) :]
    check_lengths(shape, modes)
    bands = _level.bind(x, transform="forward", wavelet=wavelet, modes=modes, shape=shape)
    return dict(zip(keys(len(modes)), bands, strict=True))


def _idwtn(bands, wavelet, modes):
    """One level of synthesis from bands by key; missing bands are zero."""
    there = {key: band for key, band in bands.items() if band is not None}
    if not there:
        raise LiftingError("all bands are None: give at least one array")
    there = dict(zip(there, _checked(there.values()), strict=True))
    first = next(iter(there.values()))
    if jax.numpy.iscomplexobj(first):
        parts = {key: _parts(band) for key, band in there.items()}
        return jax.lax.complex(*_idwtn(parts, wavelet, modes))
    shape = first.shape[first.ndim - len(modes) :]
    given = [there.get(key, jax.numpy.zeros_like(first)) for key in keys(len(modes))]
    (restored,) = _level.bind(*given, transform="inverse", wavelet=wavelet, modes=modes, shape=shape)
    return restored


def _one(x, wavelet, mode, dims):
    return _dwtn(x, key_of(wavelet), modes_of(mode, dims))


def _joined(bands, wavelet, mode, dims):
    return _idwtn(bands, key_of(wavelet), modes_of(mode, dims))


def _count(x, wavelet, mode, dims, level):
    return _levels(x.shape[x.ndim - dims :], [as_wavelet(wavelet)] * dims, level)


#: Operations for the public functions.
LIBRARY = Library(_one, _joined, _count, jax.numpy.asarray, jax.numpy.moveaxis, jax.numpy.roll, jax.numpy.stack)
