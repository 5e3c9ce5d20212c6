"""Adapters for the array libraries (NumPy, PyTorch, CuPy, JAX): plans return arrays of the input's library."""

import contextlib
import sys

import numpy as np

from ._lifting import LiftingError


def native(array):
    """The array, or a copy of a NumPy array that begins between two samples or has the other byte order, as arrays from
    networks and files may."""
    if not isinstance(array, np.ndarray):
        return array
    return np.require(array, array.dtype if array.dtype.isnative else array.dtype.newbyteorder("="), "A")


def numbers(array):
    """An array of objects as an array of numbers."""
    made = np.asarray(array.tolist())
    if made.dtype.kind not in "biufc" or made.shape != array.shape:
        raise TypeError("data must be numbers: the array has objects of other types")
    return made


class Library:
    """Access to a library's arrays. This class is for NumPy, and for libraries that have only DLPack."""

    #: Whether arrays are writable.
    mutable = True

    def dtype(self, array):
        """NumPy's name of the sample type; None if it is unknown until the array is read."""
        return array.dtype.name if isinstance(array, np.ndarray) else None

    def view(self, array, stream=None):
        """The object that the native extension reads, without a copy."""
        return array

    def empty(self, shape, dtype, like):
        """A writable array on the device of ``like``."""
        return np.empty(shape, dtype)

    def finished(self, out):
        """The array that users get, from a filled array of `empty`."""
        return out

    def on_device(self, array):
        """Whether the array is in GPU memory."""
        if isinstance(array, np.ndarray):
            return False
        device = getattr(array, "__dlpack_device__", None)
        return device is not None and int(device()[0]) in (2, 13)

    def stream(self, array):
        """Handle of the library's current stream, in DLPack's numbering."""
        return 1

    def on(self, array, stream):
        """Context for allocations, so that memory is freed in the stream's order."""
        return contextlib.nullcontext()

    def scratch(self, size, like):
        """``size`` bytes of GPU memory, and their address."""
        raise LiftingError("this library cannot allocate GPU scratch memory: pass arrays of torch or CuPy")


def torch_stream(device):
    """PyTorch's current stream on a GPU, in DLPack's numbering."""
    import torch

    # DLPack numbers the default stream, handle 0, as 1. The raw call is faster than making a stream object.
    return torch._C._cuda_getCurrentRawStream(device.index) or 1


class _Torch(Library):
    def dtype(self, array):
        return str(array.dtype).removeprefix("torch.")

    def view(self, array, stream=None):
        import torch

        if array.requires_grad and torch.is_grad_enabled():
            raise LiftingError("plans do not record gradients: use `lifting.torch`, or pass `x.detach()`")
        if array.is_conj() or array.is_neg():
            raise LiftingError("the tensor is a lazy conjugate or negation: pass `x.resolve_conj().resolve_neg()`")
        if stream is None or not array.is_cuda:
            # Faster than the `__dlpack__` method, which orders streams; here there is only one.
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
            "plans do not take JAX arrays on a GPU: use `lifting.jax`, or copy them to the CPU with `jax.device_put`"
        )


_NUMPY = Library()
_OTHERS = [("torch", "Tensor", _Torch()), ("cupy", "ndarray", _CuPy()), ("jax", "Array", _Jax())]


def library(array):
    """The adapter of an array's library; None for other objects, such as lists."""
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
    """Handle of a stream: a DLPack number, or a stream of torch, CuPy or another library."""
    for attribute in ("cuda_stream", "ptr"):
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute)) or 1
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1]) or 1
    if isinstance(stream, (int, np.integer)) and stream > 0:
        return int(stream)
    raise LiftingError(f"invalid stream {stream!r}: pass one of torch or CuPy, or a handle (1 is the default stream)")
