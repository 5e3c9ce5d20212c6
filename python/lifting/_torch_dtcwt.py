"""Dual-tree complex wavelet transforms of PyTorch tensors, with gradients; exported by `lifting.torch`."""

import contextlib
import functools

import torch

from ._dtcwt_banks import Biort, QShift, joined
from ._dtcwt_levels import Arrays, Pyramid, analysis, check_batch, check_level, pyramid_parts, synthesis
from ._lifting import LiftingError

#: Complex types of sub-bands by the type of samples.
_TYPES = {torch.float32: torch.complex64, torch.float64: torch.complex128}


class _TorchArrays(Arrays):
    moveaxis = staticmethod(torch.movedim)
    stack = staticmethod(torch.stack)
    matmul = staticmethod(torch.matmul)
    complex = staticmethod(torch.complex)
    real = staticmethod(torch.real)
    imag = staticmethod(torch.imag)

    @staticmethod
    def concatenate(parts):
        return torch.cat(parts, -1)

    @staticmethod
    def flip(x):
        return x.flip(-1)

    @staticmethod
    def matrix(like, *bank):
        # Tensors that are made while a graph is recorded must not outlive it.
        if type(like) is torch.Tensor and not torch.compiler.is_compiling():
            return _kept(like.dtype, like.device, *bank)
        return torch.tensor(_numbers(*bank), dtype=like.dtype, device=like.device)


_ARRAYS = _TorchArrays()


@functools.lru_cache(maxsize=256)
def _kept(dtype, device, *bank):
    # Autograd rejects tensors of inference mode.
    with torch.inference_mode(False):
        return torch.tensor(_numbers(*bank), dtype=dtype, device=device)


@torch.compiler.assume_constant_result
def _numbers(*bank):
    """A matrix as lists of numbers."""
    return joined(*bank).tolist()


def _exact(device):
    """Context without `torch.autocast`, which would lower the precision of products."""
    if torch.amp.is_autocast_available(device):
        return torch.autocast(device, enabled=False)
    return contextlib.nullcontext()


def _planned(x, biort, qshift, dims):
    """Checks a tensor and the banks."""
    if not isinstance(x, torch.Tensor):
        raise LiftingError(f"the data must be a tensor, not a {type(x).__name__}")
    if x.dtype not in _TYPES:
        raise LiftingError(f"unsupported sample type {x.dtype}: choose {' or '.join(map(str, _TYPES))}")
    check_batch(x.shape, biort, qshift, dims, "tensor")


def dtcwt(
    x: torch.Tensor,
    level: int = 3,
    biort: Biort = "near_sym_a",
    qshift: QShift = "qshift_a",
    *,
    dims: int = 2,
    include_scale: bool = False,
    discard_level_1: bool = False,
) -> Pyramid:
    """Dual-tree complex wavelet transform along the last ``dims`` axes, like `lifting.dtcwt`; all other axes are batch.

    Tensors are float32 or float64. ``lowpass`` and ``scales`` have their type, ``highpasses`` the complex type of the
    same precision, with directions along a new last axis. Gradients of every order are available.

    >>> x = torch.randn(2, 3, 16, 24, requires_grad=True)
    >>> lowpass, highpasses, _ = dtcwt(x, level=2)
    >>> lowpass.shape, highpasses[0].shape
    (torch.Size([2, 3, 8, 12]), torch.Size([2, 3, 8, 12, 6]))
    >>> torch.allclose(idtcwt((lowpass, highpasses)), x, atol=1e-5)
    True
    >>> highpasses[1].abs().sum().backward()
    """
    _planned(x, biort, qshift, dims)
    level = check_level(level)
    if not level:
        return Pyramid(x.clone(), ())
    with _exact(x.device.type):
        return analysis(x, level, biort, qshift, dims, _ARRAYS, include_scale, discard_level_1)


def idtcwt(
    pyramid: Pyramid | tuple, biort: Biort = "near_sym_a", qshift: QShift = "qshift_a", *, dims: int = 2
) -> torch.Tensor:
    """Inverse of `dtcwt`, from its result or from ``(lowpass, highpasses)``; None stands for sub-bands of zeros."""
    lowpass, highpasses = pyramid_parts(pyramid)
    _planned(lowpass, biort, qshift, dims)
    fit = _TYPES[lowpass.dtype]
    for number, x in enumerate(highpasses):
        if x is not None and not (isinstance(x, torch.Tensor) and x.dtype == fit):
            what = f"of {x.dtype}" if isinstance(x, torch.Tensor) else f"a {type(x).__name__}"
            raise LiftingError(
                f"highpasses[{number}] is {what}: with low-pass coefficients of {lowpass.dtype} it must be a tensor of "
                f"{fit}"
            )
    if not highpasses:
        return lowpass.clone()
    with _exact(lowpass.device.type):
        return synthesis(lowpass, highpasses, biort, qshift, dims, _ARRAYS)
