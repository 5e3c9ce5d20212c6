"""PyWavelets' transforms of PyTorch tensors, in all nine modes, with gradients; exported by `lifting.torch`.

A level is linear: it extends the data, transforms it and keeps the bands. So its gradient is its adjoint, which the
native module has, with the same bits each time. The gradient of the adjoint is the level.
"""

import torch
from torch.autograd import forward_ad

from . import _dwt, _lifting
from ._cache import cached
from ._lifting import LiftingError
from ._linear import ADJOINT, check_lengths, keys, modes_of, wavelet_of
from ._multilevel import _levels
from ._plan import _DTYPES as _SAMPLES
from ._tensors import Library
from ._torch_queue import run
from ._wavelet import key_of

_NAMES = {getattr(torch, name): short for name, short in _SAMPLES.items() if short in ("f16", "bf16", "f32", "f64")}
_capsule = torch.utils.dlpack.to_dlpack


def _level(key, shape, modes, dtype, of_bands):
    """The native level for tensors of that shape (bands if ``of_bands``), with ``modes`` for the last axes."""
    along = (*(None for _ in shape[: len(shape) - len(modes)]), *modes)
    return _dwt._prepare(wavelet_of(key)._engine, tuple(shape), along, _NAMES[dtype], of_bands, _dwt._threads)


@cached(lambda key, shape, *others: shape)
def _plan(key, shape, modes, dtype, of_bands, device):
    """The level as a device plan; it takes bands as windows of an array of zeros."""
    engine = wavelet_of(key)._engine
    _dwt.check_steps(engine)
    return _lifting.level_plan(engine, shape, (None, *modes), _NAMES[dtype], of_bands, device)


def _device(tensor):
    """Name of the tensor's GPU, for `_plan`; None for host memory, where native levels run."""
    return str(tensor.device) if tensor.is_cuda else None


def _batched(shape, rank):
    """Batch axes and transformed axes. Under ``torch.compile(dynamic=True)``, batch axes stay symbolic."""
    return tuple(shape[: len(shape) - rank]), tuple(int(n) for n in shape[len(shape) - rank :])


def _places(key, shape, modes, dtype, name):
    """A level of a batch of one, for its windows; ``shape`` is that of the data, or of the bands for `inverse`."""
    if name == "inverse_adjoint":
        # Synthesis of n coefficients makes 2n + 2 − L samples.
        more = [0 if mode == "periodization" else wavelet_of(key).dec_len - 2 for mode in modes]
        shape = [(n + m) // 2 for n, m in zip(shape, more, strict=True)]
    return _level(key, (1, *shape), modes, dtype, name.startswith("inverse"))


@torch.compiler.assume_constant_result
def _windows(key, shape, modes, dtype, name):
    """Windows of the bands (for `inverse`, of the data) in an operator's result: first index and length per axis."""
    level = _places(key, shape, modes, dtype, name)
    windows = [level.crop] if name == "inverse" else level.windows
    return tuple(tuple((along.start, along.stop - along.start) for along in window[1:]) for window in windows)


def _window(whole, window):
    for axis, (first, length) in enumerate(window, whole.ndim - len(window)):
        whole = whole.narrow(axis, first, length)
    return whole


_library = torch.library.Library("lifting", "FRAGMENT")
_library.define("split(Tensor x, str name, str wavelet, str[] modes) -> Tensor")
_library.define("join(Tensor?[] bands, str name, str wavelet, str[] modes, int[] shape) -> Tensor")


def _split_shape(x, name, wavelet, modes):
    batch, shape = _batched(x.shape, len(modes))
    return (*batch, *_places(wavelet, shape, tuple(modes), x.dtype, name).extended[1:])


def _execute_split(x, name, wavelet, modes):
    """Analysis or the adjoint of synthesis, into an array with the bands as windows."""
    modes = tuple(modes)
    out = torch.empty(_split_shape(x, name, wavelet, modes), dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return out
    given = x.reshape(-1, *_batched(x.shape, len(modes))[1])
    shape = given.shape
    if name == "inverse_adjoint":
        shape = (len(given), *_places(wavelet, shape[1:], modes, x.dtype, name).band_shape[1:])
    if device := _device(x):
        plan = _plan(wavelet, tuple(shape), modes, x.dtype, name == "inverse_adjoint", device)
        run(plan, name, given.contiguous(), out.view(len(given), *out.shape[out.ndim - len(modes) :]))
        return out
    level = _level(wavelet, shape, modes, x.dtype, name == "inverse_adjoint")
    getattr(level, name)(_capsule(given), _capsule(out.view(level.extended)))
    return out


def _join_shape(bands, name, wavelet, modes, shape):
    band = next(band for band in bands if band is not None)
    batch, of_band = _batched(band.shape, len(modes))
    if name == "inverse":
        places = _places(wavelet, of_band, tuple(modes), band.dtype, name)
        shape = places.restored_shape[1:] if _device(band) else places.extended[1:]
    return (*batch, *shape)


def _execute_join(bands, name, wavelet, modes, shape):
    """Synthesis or the adjoint of analysis; synthesis on the CPU makes an array with the data as a window."""
    modes = tuple(modes)
    band = next(band for band in bands if band is not None)
    out = torch.empty(_join_shape(bands, name, wavelet, modes, shape), dtype=band.dtype, device=band.device)
    if band.numel() == 0:
        return out.zero_()
    of_band = _batched(band.shape, len(modes))[1]
    given = [None if band is None else band.reshape(-1, *of_band) for band in bands]
    count = len(next(band for band in given if band is not None))
    inverse = name == "inverse"
    if device := _device(band):
        of = of_band if inverse else tuple(shape)
        places = _places(wavelet, of, modes, band.dtype, name)
        whole = band.new_zeros((count, *places.extended[1:]))
        for band, window in zip(given, places.windows, strict=True):
            if band is not None:
                whole[(slice(None), *window[1:])] = band
        plan = _plan(wavelet, (count, *of), modes, whole.dtype, inverse, device)
        run(plan, name, whole, out.view(count, *out.shape[out.ndim - len(modes) :]))
        return out
    level = _level(wavelet, (count, *(of_band if inverse else shape)), modes, band.dtype, inverse)
    target = out.view(count, *out.shape[out.ndim - len(modes) :])
    getattr(level, name)([None if band is None else _capsule(band) for band in given], _capsule(target))
    return out


def _fake_split(x, name, wavelet, modes):
    return x.new_empty(_split_shape(x, name, wavelet, modes))


def _fake_join(bands, name, wavelet, modes, shape):
    band = next(band for band in bands if band is not None)
    return band.new_empty(_join_shape(bands, name, wavelet, modes, shape))


for _key in ("CPU", "CUDA"):
    _library.impl("split", _execute_split, _key)
    _library.impl("join", _execute_join, _key)
torch.library.register_fake("lifting::split", _fake_split, lib=_library)
torch.library.register_fake("lifting::join", _fake_join, lib=_library)


class _Split(torch.autograd.Function):
    """Bands from a tensor, by analysis or by the adjoint of synthesis."""

    @staticmethod
    def forward(x, name, wavelet, modes):
        whole = torch.ops.lifting.split.default(x, name, wavelet, modes)
        windows = _windows(wavelet, _batched(x.shape, len(modes))[1], modes, x.dtype, name)
        return tuple(_window(whole, window) for window in windows)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, name, wavelet, modes = inputs
        ctx.arguments = (ADJOINT[name], wavelet, modes, _batched(x.shape, len(modes))[1])
        ctx.again = inputs[1:]
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *gradients):
        if all(gradient is None for gradient in gradients):
            return None, None, None, None
        return _join(gradients, *ctx.arguments), None, None, None

    @staticmethod
    def vmap(info, in_dims, x, *arguments):
        bands = _split(x.movedim(in_dims[0], 0), *arguments)
        return bands, (0,) * len(bands)


class _Join(torch.autograd.Function):
    """A tensor from bands, by synthesis or by the adjoint of analysis."""

    @staticmethod
    def forward(name, wavelet, modes, shape, *bands):
        out = torch.ops.lifting.join.default(list(bands), name, wavelet, modes, shape)
        band = next(band for band in bands if band is not None)
        if name == "adjoint" or _device(band):
            return out
        (window,) = _windows(wavelet, _batched(band.shape, len(modes))[1], modes, band.dtype, name)
        return _window(out, window)

    @staticmethod
    def setup_context(ctx, inputs, output):
        name, wavelet, modes, _, *bands = inputs
        ctx.arguments = (ADJOINT[name], wavelet, modes)
        ctx.again = inputs[:4]
        ctx.there = [band is not None for band in bands]

    @staticmethod
    def backward(ctx, gradient):
        bands = _split(gradient, *ctx.arguments)
        return None, None, None, None, *(band if there else None for band, there in zip(bands, ctx.there, strict=True))

    @staticmethod
    def vmap(info, in_dims, name, wavelet, modes, shape, *bands):
        def batch(band, at):
            if band is None:
                return None
            return band.movedim(at, 0) if at is not None else band.expand(info.batch_size, *band.shape)

        moved = [batch(band, at) for band, at in zip(bands, in_dims[4:], strict=True)]
        return _join(moved, name, wavelet, modes, shape), 0


class _ForwardSplit(_Split):
    """A `_Split` with forward mode; separate because `torch.compile` rejects functions with `jvp`."""

    @staticmethod
    def jvp(ctx, tangent, *_):
        return _split(tangent, *ctx.again)


class _ForwardJoin(_Join):
    """A `_Join` with forward mode; separate for the same reason."""

    @staticmethod
    def jvp(ctx, *tangents):
        return _join(tangents[4:], *ctx.again)


def _split(x, name, wavelet, modes):
    function = _ForwardSplit if forward_ad._current_level >= 0 else _Split
    return function.apply(x, name, wavelet, modes)


def _join(bands, name, wavelet, modes, shape):
    function = _ForwardJoin if forward_ad._current_level >= 0 else _Join
    return function.apply(name, wavelet, modes, shape, *bands)


def _checked(tensors):
    """Raises an error unless tensors have one supported type and are all on the CPU or on one CUDA device."""
    for tensor in tensors:
        if not isinstance(tensor, torch.Tensor):
            raise LiftingError(f"data and bands must be tensors, not {type(tensor).__name__}")
        if tensor.dtype not in _NAMES:
            raise LiftingError(f"unsupported sample type {tensor.dtype}: choose one of {', '.join(map(str, _NAMES))}")
        if tensor.device.type not in ("cpu", "cuda"):
            raise LiftingError(
                f"tensors must be on the CPU or on a CUDA device, not on {tensor.device}"
            )
        if tensor.device != tensors[0].device:
            raise LiftingError(f"bands must be on one device, not on {tensors[0].device} and {tensor.device}")
        if tensor.dtype != tensors[0].dtype:
            raise LiftingError(f"bands must have one type, not {tensors[0].dtype} and {tensor.dtype}")


@torch.compiler.assume_constant_result
def _asked(wavelet, mode, dims, level, sizes):
    """The wavelet's key, the mode of each axis, and the number of levels for data of ``sizes`` unless that is None."""
    key = key_of(wavelet, with_banks=True)
    return key, modes_of(mode, dims), None if sizes is None else _levels(sizes, [wavelet_of(key)] * dims, level)


def _parts(x):
    """Real and imaginary parts as a batch."""
    return torch.view_as_real(x.resolve_conj()).movedim(-1, 0)


def _dwtn(x, key, modes):
    """One level of analysis: bands by key."""
    if x.is_complex():
        return {key: torch.complex(*pair.contiguous()) for key, pair in _dwtn(_parts(x), key, modes).items()}
    _checked([x])
    check_lengths(x.shape[x.ndim - len(modes) :], modes)
    return dict(zip(keys(len(modes)), _split(x, "forward", key, modes), strict=True))


def _idwtn(bands, key, modes):
    """One level of synthesis from bands by key; missing bands are zero."""
    there = [band for band in bands.values() if band is not None]
    if any(isinstance(band, torch.Tensor) and band.is_complex() for band in there):
        parts = {name: None if band is None else _parts(band + 0j) for name, band in bands.items()}
        return torch.complex(*_idwtn(parts, key, modes).contiguous())
    _checked(there)
    if len({band.shape for band in there}) != 1:
        raise LiftingError(f"bands of a level must have one shape, not {[tuple(band.shape) for band in there]}")
    return _join([bands.get(name) for name in keys(len(modes))], "inverse", key, modes, [])


def _tensor(x):
    if not isinstance(x, torch.Tensor):
        raise LiftingError(f"the data must be a tensor, not a {type(x).__name__}")
    return x


def _one(x, wavelet, mode, dims):
    return _dwtn(x, *_asked(wavelet, mode, dims, None, None)[:2])


def _joined(bands, wavelet, mode, dims):
    return _idwtn(bands, *_asked(wavelet, mode, dims, None, None)[:2])


def _count(x, wavelet, mode, dims, level):
    return _asked(wavelet, mode, dims, level, _batched(x.shape, dims)[1])[2]


#: Operations for the public functions.
LIBRARY = Library(_one, _joined, _count, _tensor, torch.movedim, torch.roll, torch.stack)
