"""Native plans on PyTorch tensors, on the CPU or a GPU."""


import torch

from ._arrays import torch_stream

_capsule = torch.utils.dlpack.to_dlpack


def run(native, name, given, out):
    """Runs a transform of a native plan from one tensor to another.

    On a GPU both tensors are contiguous, the current stream queues the work, and PyTorch allocates the scratch."""
    if not given.is_cuda:
        native.run(name, _capsule(given), _capsule(out))
        return
    size = native.scratch_bytes(name, 0)
    scratch = torch.empty(size, dtype=torch.uint8, device=given.device) if size else None
    at = scratch.data_ptr() if size else 0
    native.run(name, _capsule(given), _capsule(out), 0, torch_stream(given.device), at)
