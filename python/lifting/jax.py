"""Transforms of JAX arrays in one, two and three dimensions, with `jit`, `vmap` and derivatives of every order.

XLA calls plans as foreign functions, on CPUs and on CUDA devices, with the same bits, compiled or not. A transform is
linear: forward mode is the transform itself, and reverse mode the derived adjoint, which is also a plan. The axis of
`vmap` is a batch axis.

`jax.export` needs ``disabled_checks=[jax.export.DisabledSafetyCheck.custom_call("lifting")]`` (``"lifting_level"`` for
PyWavelets' modes). The process that runs the exported function must import `lifting.jax` first.

>>> import jax, lifting.jax as lj
>>> x = jax.random.normal(jax.random.key(1), (2, 3, 16, 20))
>>> y = jax.jit(lambda x: lj.forward(x, "cdf97", 2))(x)
>>> y.shape
(2, 3, 16, 20)
>>> bool(jax.numpy.allclose(lj.inverse(y, "cdf97", 2), x, atol=1e-5))
True
>>> jax.grad(lambda x: (lj.forward(x, "cdf97", 2) ** 2).sum())(x).shape
(2, 3, 16, 20)

Coefficients are an array of the data's shape, in the Mallat layout. `bands` gives its sub-bands by name, and
`with_bands` replaces some. `wavedec`, `wavedec2`, `wavedecn` and their inverses have PyWavelets' modes, with more
coefficients than samples. `dtcwt` and `idtcwt` are dual-tree complex transforms.
"""

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _lifting
from ._jax_dtcwt import dtcwt, idtcwt
from ._jax_modes import LIBRARY
from ._cache import cached
from ._dtcwt_levels import Pyramid
from ._lifting import LiftingError
from ._linear import ADJOINT
from ._plan import _DTYPES, Plan
from ._tensors import functions
from ._wavelet import key_of, of_text

__all__ = [
    "MatrixWavedec", "MatrixWavedec2", "MatrixWavedec3", "MatrixWaverec", "MatrixWaverec2", "MatrixWaverec3",
    "Pyramid", "WaveletPacket", "WaveletPacket2D", "bands", "dtcwt", "forward", "fswavedec2", "fswavedec3",
    "fswaverec2", "fswaverec3", "idtcwt", "inverse", "iswt", "swt", "wavedec", "wavedec2", "wavedec3", "wavedecn",
    "waverec", "waverec2", "waverec3", "waverecn", "with_bands",
]

# The functions with PyWavelets' and ptwt's names.
(
    MatrixWavedec, MatrixWavedec2, MatrixWavedec3, MatrixWaverec, MatrixWaverec2, MatrixWaverec3, WaveletPacket,
    WaveletPacket2D, fswavedec2, fswavedec3, fswaverec2, fswaverec3, iswt, swt, wavedec, wavedec2, wavedec3,
    wavedecn, waverec, waverec2, waverec3, waverecn,
) = functions(LIBRARY, __name__)

#: Name under which XLA knows the handlers.
_TARGET = "lifting"

for _platform in ("cpu", "CUDA"):
    jax.ffi.register_ffi_target(_TARGET, _lifting.xla_handlers(_platform), platform=_platform)


def _call(x, results, *, transform, wavelet, rank, levels, boundary):
    """Makes the foreign call."""
    attributes = {"transform": transform, "wavelet": wavelet, "boundary": boundary}
    numbers = {"rank": np.int32(rank), "levels": np.int32(levels)}
    return jax.ffi.ffi_call(_TARGET, results)(x, **attributes, **numbers)


def _on_cpu(x, **parameters):
    return _call(x, jax.ShapeDtypeStruct(x.shape, x.dtype), **parameters)


def _on_cuda(x, *, transform, wavelet, rank, levels, boundary):
    # The plan is made here, so that no module is loaded during graph capture. Its scratch memory is a result, whose
    # address stays the same when the graph is replayed.
    gpu = jax.local_devices(backend="cuda")[0].local_hardware_id
    of = (tuple(x.shape), _DTYPES[x.dtype.name], x.dtype.kind == "c", gpu)
    size = _lifting.xla_scratch_bytes(transform, wavelet, rank, levels, boundary, *of)
    results = [jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct((size,), np.uint8)]
    parameters = {"transform": transform, "wavelet": wavelet, "rank": rank, "levels": levels, "boundary": boundary}
    return _call(x, results, **parameters)[0]


_run = Primitive("lifting")
_run.def_impl(jax.jit(_run.bind, static_argnames=["transform", "wavelet", "rank", "levels", "boundary"]))
_run.def_abstract_eval(lambda x, **_: x.update(weak_type=False))
ad.deflinear2(_run, lambda ct, x, *, transform, **rest: [_run.bind(ct, transform=ADJOINT[transform], **rest)])
mlir.register_lowering(_run, mlir.lower_fun(_on_cpu, multiple_results=False), platform="cpu")
mlir.register_lowering(_run, mlir.lower_fun(_on_cuda, multiple_results=False), platform="cuda")


def _batched(arguments, axes, **parameters):
    # The mapped axis becomes another batch axis.
    return _run.bind(jax.numpy.moveaxis(arguments[0], axes[0], 0), **parameters), 0


batching.primitive_batchers[_run] = _batched


@cached(lambda key, shape, *others: shape)
def _checked(key, shape, levels, boundary, dtype):
    """A plan for the transformed axes: errors are raised at tracing, not at execution."""
    return Plan(shape, of_text(key), levels, dtype, boundary, ill_conditioned="warn")


def _planned(x, wavelet, levels, boundary, dims):
    """The array, the wavelet's key, and the plan of a batch element."""
    if not isinstance(x, (jax.Array, np.ndarray)):
        raise LiftingError(f"the data must be a JAX or NumPy array, not a {type(x).__name__}")
    x = jax.numpy.asarray(x)
    if x.dtype.name not in _DTYPES:
        raise LiftingError(f"unsupported sample type {x.dtype}: choose one of {', '.join(_DTYPES)}")
    if not 1 <= dims <= x.ndim:
        raise LiftingError(f"invalid number of axes {dims}: the array allows 1 to {x.ndim}")
    key = key_of(wavelet)
    return x, key, _checked(key, x.shape[x.ndim - dims :], int(levels), boundary, x.dtype.name)


def _apply(x, transform, wavelet, levels, boundary, dims):
    x, key, _ = _planned(x, wavelet, levels, boundary, dims)
    if x.size == 0:
        return x
    parameters = {"rank": int(dims), "levels": int(levels), "boundary": boundary or ""}
    return _run.bind(x, transform=transform, wavelet=key, **parameters)


def forward(x, wavelet="cdf97", levels=1, *, boundary=None, dims=2):
    """Analysis along the last ``dims`` axes of an array; all others are batch. The result has the array's shape.

    Types are float16, bfloat16, float32, float64, complex64 and complex128 for real wavelets, which have gradients, and
    int16, int32 and int64 for integer wavelets, which are lossless. Types of 64 bits need ``jax_enable_x64``.
    ``boundary`` is as for `lifting.Plan`. Invalid arguments raise `lifting.LiftingError` at tracing.

    >>> forward(jax.numpy.arange(8), "legall53", dims=1)
    Array([0, 2, 4, 6, 0, 0, 0, 1], dtype=int32)
    """
    return _apply(x, "forward", wavelet, levels, boundary, dims)


def inverse(coefficients, wavelet="cdf97", levels=1, *, boundary=None, dims=2):
    """Inverse of `forward`."""
    return _apply(coefficients, "inverse", wavelet, levels, boundary, dims)


def bands(coefficients, wavelet="cdf97", levels=1, *, boundary=None, dims=2):
    """Sub-bands of coefficients by name, coarsest first.

    >>> [(name, band.shape) for name, band in bands(jax.numpy.zeros((3, 5, 7))).items()]
    [('LL1', (3, 3, 4)), ('HL1', (3, 3, 3)), ('LH1', (3, 2, 4)), ('HH1', (3, 2, 3))]
    """
    coefficients, _, plan = _planned(coefficients, wavelet, levels, boundary, dims)
    return {name: coefficients[(..., *band.index)] for name, band in plan.subbands.items()}


def with_bands(coefficients, named, wavelet="cdf97", levels=1, *, boundary=None, dims=2):
    """Coefficients with some sub-bands replaced, by name. Replacements are broadcast to the band's shape.

    >>> x = jax.numpy.ones((4, 4))
    >>> with_bands(x, {"HL1": 0.0, "HH1": 2.0})
    Array([[1., 1., 0., 0.],
           [1., 1., 0., 0.],
           [1., 1., 2., 2.],
           [1., 1., 2., 2.]], dtype=float32)
    """
    coefficients, _, plan = _planned(coefficients, wavelet, levels, boundary, dims)
    places = plan.subbands
    for name, band in named.items():
        if name not in places:
            raise LiftingError(f"unknown sub-band {name!r}; choose one of {', '.join(places)}")
        coefficients = coefficients.at[(..., *places[name].index)].set(band)
    return coefficients
