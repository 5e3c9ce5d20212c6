"""Dual-tree complex wavelet transforms of JAX arrays, with derivatives; exported by `lifting.jax`."""

import jax

from ._dtcwt_banks import Biort, QShift, joined
from ._dtcwt_levels import Arrays, Pyramid, analysis, check_batch, check_level, pyramid_parts, synthesis
from ._lifting import LiftingError

_TYPES = ("float32", "float64")


class _JaxArrays(Arrays):
    moveaxis = staticmethod(jax.numpy.moveaxis)
    stack = staticmethod(jax.numpy.stack)
    complex = staticmethod(jax.lax.complex)
    real = staticmethod(jax.numpy.real)
    imag = staticmethod(jax.numpy.imag)

    @staticmethod
    def matmul(x, matrix):
        # The default precision of GPUs and TPUs is lower.
        return jax.numpy.matmul(x, matrix, precision=jax.lax.Precision.HIGHEST)

    @staticmethod
    def concatenate(parts):
        return jax.numpy.concatenate(parts, -1)

    @staticmethod
    def flip(x):
        return jax.numpy.flip(x, -1)

    @staticmethod
    def matrix(like, *bank):
        return joined(*bank).astype(like.dtype)


_ARRAYS = _JaxArrays()


def _planned(x, biort, qshift, dims):
    """Data as a JAX array, checked with the banks."""
    x = jax.numpy.asarray(x)
    if x.dtype.name not in _TYPES:
        raise LiftingError(f"unsupported sample type {x.dtype}: choose {' or '.join(_TYPES)}")
    check_batch(x.shape, biort, qshift, dims, "array")
    return x


def dtcwt(
    x: jax.typing.ArrayLike,
    level: int = 3,
    biort: Biort = "near_sym_a",
    qshift: QShift = "qshift_a",
    *,
    dims: int = 2,
    include_scale: bool = False,
    discard_level_1: bool = False,
) -> Pyramid:
    """Dual-tree complex wavelet transform along the last ``dims`` axes, like `lifting.dtcwt`; all other axes are batch.

    Arrays are float32 or float64. ``lowpass`` and ``scales`` have their type, ``highpasses`` the complex type of the
    same precision, with directions along a new last axis. `jax.jit`, `jax.vmap` and derivatives of every order are
    supported; all arguments but ``x`` are static.

    >>> x = jax.random.normal(jax.random.key(1), (2, 3, 16, 24))
    >>> lowpass, highpasses, _ = jax.jit(lambda x: dtcwt(x, level=2))(x)
    >>> lowpass.shape, highpasses[0].shape
    ((2, 3, 8, 12), (2, 3, 8, 12, 6))
    >>> bool(jax.numpy.allclose(idtcwt((lowpass, highpasses)), x, atol=1e-5))
    True
    """
    x, level = _planned(x, biort, qshift, dims), check_level(level)
    if not level:
        return Pyramid(x, ())
    return analysis(x, level, biort, qshift, dims, _ARRAYS, include_scale, discard_level_1)


def idtcwt(
    pyramid: Pyramid | tuple, biort: Biort = "near_sym_a", qshift: QShift = "qshift_a", *, dims: int = 2
) -> jax.Array:
    """Inverse of `dtcwt`, from its result or from ``(lowpass, highpasses)``; None stands for sub-bands of zeros."""
    lowpass, highpasses = pyramid_parts(pyramid)
    lowpass = _planned(lowpass, biort, qshift, dims)
    kind = jax.numpy.result_type(lowpass, jax.numpy.complex64)
    highpasses = [None if x is None else jax.numpy.asarray(x, kind) for x in highpasses]
    return synthesis(lowpass, highpasses, biort, qshift, dims, _ARRAYS)
