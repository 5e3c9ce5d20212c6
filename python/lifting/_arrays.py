"""Arrays of every library: what plans read and write, and what they return, of the same kind as what was given."""

import contextlib
import sys

import numpy as np

from ._lifting import LiftingError


class Library:
    """What is said of a library's arrays; this one is of NumPy, and of all that have DLPack and nothing else."""

    #: Whether arrays can be written to.
    mutable = True

    def dtype(self, array):
        """Name of the samples' type, as NumPy has it; None if it is not known before the array is read."""
        return array.dtype.name if isinstance(array, np.ndarray) else None

    def view(self, array, stream=None):
        """What the native half reads, without a copy."""
        return array

    def empty(self, shape, dtype, like):
        """An array to be written to, where ``like`` is."""
        return np.empty(shape, dtype)

    def finished(self, out):
        """The array of `empty` once it has been written to, as users get it."""
        return out

    def on_device(self, array):
        """Whether it is in a GPU's memory."""
        if isinstance(array, np.ndarray):
            return False
        device = getattr(array, "__dlpack_device__", None)
        return device is not None and int(device()[0]) in (2, 13)

    def stream(self, array):
        """Handle of the stream that the library queues work on, as DLPack numbers them."""
        return 1

    def on(self, array, stream):
        """Where memory is asked for, so that it is given back in the stream's order."""
        return contextlib.nullcontext()

    def scratch(self, size, like):
        """So many bytes of a GPU's memory, and their address."""
        raise LiftingError("arrays on a GPU are those of torch or CuPy: of this library, there is no memory to be had")


def torch_stream(device):
    """PyTorch's current stream on a GPU, as DLPack numbers it."""
    import torch

    # The default stream has the handle 0, which DLPack calls 1. The stream as an object takes longer to make.
    return torch._C._cuda_getCurrentRawStream(device.index) or 1


class _Torch(Library):
    def dtype(self, array):
        return str(array.dtype).removeprefix("torch.")

    def view(self, array, stream=None):
        import torch

        if array.requires_grad and torch.is_grad_enabled():
            raise LiftingError("plans know nothing of gradients: use `lifting.torch`, or give `x.detach()`")
        if array.is_conj() or array.is_neg():
            raise LiftingError("the tensor is a conjugate yet to be made: give `x.resolve_conj().resolve_neg()`")
        if stream is None or not array.is_cuda:
            # The method of the same purpose takes longer; it orders streams, and there is but one.
            return torch.utils.dlpack.to_dlpack(array)
        return array.__dlpack__(stream=stream)

    def empty(self, shape, dtype, like):
        import torch

        return torch.empty(shape, dtype=like.dtype, device=like.device)

    def on_device(self, array):
        return array.is_cuda

    def stream(self, array):
        return torch_stream(array.device)

    def on(self, array, stream):
        import torch

        return torch.cuda.stream(torch.cuda.ExternalStream(0 if stream == 1 else stream, array.device))

    def scratch(self, size, like):
        import torch

        memory = torch.empty(size, dtype=torch.uint8, device=like.device)
        return memory, memory.data_ptr()


class _CuPy(Library):
    def dtype(self, array):
        return array.dtype.name

    def empty(self, shape, dtype, like):
        import cupy

        with like.device:
            return cupy.empty(shape, like.dtype)

    def on_device(self, array):
        return True

    def stream(self, array):
        import cupy

        return cupy.cuda.get_current_stream(array.device.id).ptr or 1

    def on(self, array, stream):
        import cupy

        return cupy.cuda.ExternalStream(0 if stream == 1 else stream, array.device.id)

    def scratch(self, size, like):
        import cupy

        with like.device:
            memory = cupy.empty(size, cupy.uint8)
        return memory, memory.data.ptr


class _Jax(Library):
    mutable = False

    def dtype(self, array):
        return array.dtype.name

    def finished(self, out):
        import jax

        return jax.dlpack.from_dlpack(out) if out.dtype.name != "bfloat16" else jax.numpy.asarray(out)

    def on_device(self, array):
        if next(iter(array.devices())).platform == "cpu":
            return False
        raise LiftingError(
            "plans do not take JAX's arrays on a GPU: use `lifting.jax`, or copy them by `jax.device_put`"
        )


_NUMPY = Library()
_OTHERS = [("torch", "Tensor", _Torch()), ("cupy", "ndarray", _CuPy()), ("jax", "Array", _Jax())]


def library(array):
    """The library that an array is of; None if it is no array, as lists are not."""
    if isinstance(array, np.ndarray):
        return _NUMPY
    for module, name, made in _OTHERS:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(array, kind):
            return made
    if hasattr(array, "__dlpack__") or hasattr(array, "__cuda_array_interface__"):
        return _NUMPY
    try:
        memoryview(array)
    except TypeError:
        return None
    return _NUMPY


def handle(stream):
    """The handle of a stream: a number as DLPack has them, or a stream of torch, CuPy or another library."""
    for attribute in ("cuda_stream", "ptr"):
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute)) or 1
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1]) or 1
    if isinstance(stream, (int, np.integer)) and stream > 0:
        return int(stream)
    raise LiftingError(f"a stream is one of torch or CuPy, or a handle (1 is the default stream), not {stream!r}")
