"""Transforms of PyTorch tensors: functions and modules in one, two and three dimensions, with gradients.

A gradient is the derived adjoint, itself a plan: it has the same bits each time, on every device, and has gradients
too. A transform computes in the type of its input, half precision like plans; `torch.autocast` has no effect.
`torch.compile(fullgraph=True)` and `torch.vmap` are supported. Under ``dynamic=True``, batch axes are symbolic.

>>> import torch, lifting.torch as lt
>>> x = torch.randn(2, 3, 16, 20, requires_grad=True)
>>> y = lt.forward(x, "cdf97", 2)
>>> y.shape
torch.Size([2, 3, 16, 20])
>>> torch.allclose(lt.inverse(y, "cdf97", 2), x, atol=1e-5)
True
>>> y.square().sum().backward()
>>> x.grad.shape == x.shape
True

Coefficients are a tensor of the data's shape, in the Mallat layout. `bands` gives its sub-bands by name, as views.
`wavedec`, `wavedec2`, `wavedecn` and their inverses have PyWavelets' modes, with more coefficients than samples.
`dtcwt` and `idtcwt` are dual-tree complex transforms.
"""


import torch
from torch import nn
from torch.autograd import forward_ad

from ._cache import cached
from ._dtcwt_levels import Pyramid
from ._lifting import LiftingError
from ._linear import ADJOINT
from ._plan import _DTYPES as _SAMPLES, Plan
from ._torch_dtcwt import dtcwt, idtcwt
from ._torch_modes import LIBRARY
from ._torch_queue import run
from ._tensors import functions
from ._wavelet import key_of, of_text

__all__ = [
    "Forward1d", "Forward2d", "Forward3d", "Inverse1d", "Inverse2d", "Inverse3d", "LearnableLifting",
    "MatrixWavedec", "MatrixWavedec2", "MatrixWavedec3", "MatrixWaverec", "MatrixWaverec2", "MatrixWaverec3",
    "Pyramid", "WaveletPacket", "WaveletPacket2D", "bands", "dtcwt", "forward", "fswavedec2", "fswavedec3",
    "fswaverec2", "fswaverec3", "idtcwt", "inverse", "iswt", "swt", "wavedec", "wavedec2", "wavedec3", "wavedecn",
    "waverec", "waverec2", "waverec3", "waverecn",
]

# The functions with PyWavelets' and ptwt's names.
(
    MatrixWavedec, MatrixWavedec2, MatrixWavedec3, MatrixWaverec, MatrixWaverec2, MatrixWaverec3, WaveletPacket,
    WaveletPacket2D, fswavedec2, fswavedec3, fswaverec2, fswaverec3, iswt, swt, wavedec, wavedec2, wavedec3,
    wavedecn, waverec, waverec2, waverec3, waverecn,
) = functions(LIBRARY, __name__)

#: Names of the sample types by PyTorch type.
_DTYPES = {getattr(torch, name): name for name in _SAMPLES}


@cached(lambda key, shape, *others: shape)
def _plan(key, shape, rank, levels, boundary, dtype, device):
    """The plan for tensors of that shape, along the last ``rank`` axes."""
    axes = range(len(shape) - rank, len(shape))
    name, rule = _DTYPES[dtype], boundary or None
    return Plan(shape, of_text(key), levels, name, rule, str(device), axes=axes, ill_conditioned="warn")


_library = torch.library.Library("lifting", "DEF")
_library.define("run(Tensor x, str name, str wavelet, int rank, int levels, str boundary) -> Tensor")


def _execute(x, name, wavelet, rank, levels, boundary):
    if x.numel() == 0:
        return torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.is_conj() or x.is_neg():
        x = x.resolve_conj().resolve_neg()
    # Batch axes are merged into one; strided tensors stay views where possible.
    shape = x.shape
    given = x.reshape(-1, *shape[len(shape) - rank :]) if len(shape) > rank + 1 else x
    native = _plan(wavelet, given.shape, rank, levels, boundary, x.dtype, x.device)._native
    given = given.contiguous() if x.is_cuda else given
    out = torch.empty(given.shape, dtype=x.dtype, device=x.device)
    run(native, name, given, out)
    return out.view(shape)


def _fake(x, name, wavelet, rank, levels, boundary):
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


_library.impl("run", _execute, "CPU")
_library.impl("run", _execute, "CUDA")
torch.library.register_fake("lifting::run", _fake, lib=_library)
_operator = torch.ops.lifting.run.default


class _Transform(torch.autograd.Function):
    """A linear transform; its gradient is its adjoint, and the adjoint's gradient the transform."""

    @staticmethod
    def forward(x, name, wavelet, rank, levels, boundary):
        return _operator(x, name, wavelet, rank, levels, boundary)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.arguments = inputs[1:]

    @staticmethod
    def backward(ctx, gradient):
        name, *rest = ctx.arguments
        return _run(gradient, ADJOINT[name], *rest), None, None, None, None, None

    @staticmethod
    def vmap(info, in_dims, x, *arguments):
        # The mapped axis becomes another batch axis.
        moved = x if in_dims[0] is None else x.movedim(in_dims[0], 0)
        return _run(moved, *arguments), None if in_dims[0] is None else 0


class _Forward(_Transform):
    """A `_Transform` with forward mode; separate because `torch.compile` rejects functions with `jvp`."""

    @staticmethod
    def jvp(ctx, tangent, *_):
        return _run(tangent, *ctx.arguments)


def _run(x, *arguments):
    if forward_ad._current_level >= 0:
        return _Forward.apply(x, *arguments)
    if x.requires_grad and torch.is_grad_enabled() or torch._C._are_functorch_transforms_active():
        return _Transform.apply(x, *arguments)
    # Without differentiation or mapping, the bare operator takes half the time.
    return _operator(x, *arguments)


def _apply(x, name, wavelet, levels, boundary, dims):
    if not isinstance(x, torch.Tensor):
        raise LiftingError(f"the data must be a tensor, not a {type(x).__name__}")
    if x.dtype not in _DTYPES:
        raise LiftingError(f"unsupported sample type {x.dtype}: choose one of {', '.join(map(str, _DTYPES))}")
    if not 1 <= dims <= x.ndim:
        raise LiftingError(f"invalid number of axes {dims}: the tensor allows 1 to {x.ndim}")
    key = wavelet if isinstance(wavelet, str) else key_of(wavelet)
    return _run(x, name, key, int(dims), int(levels), boundary or "")


def forward(x, wavelet="cdf97", levels=1, *, boundary=None, dims=2):
    """Analysis along the last ``dims`` axes of a tensor; all others are batch. The result has the tensor's shape.

    Types are float16, bfloat16, float32, float64, complex64 and complex128 for real wavelets, which have gradients, and
    int16, int32 and int64 for integer wavelets, which are lossless. ``boundary`` is as for `lifting.Plan`.

    >>> forward(torch.arange(8, dtype=torch.int32), "legall53", dims=1)
    tensor([0, 2, 4, 6, 0, 0, 0, 1], dtype=torch.int32)
    """
    return _apply(x, "forward", wavelet, levels, boundary, dims)


def inverse(coefficients, wavelet="cdf97", levels=1, *, boundary=None, dims=2):
    """Inverse of `forward`."""
    return _apply(coefficients, "inverse", wavelet, levels, boundary, dims)


def bands(coefficients, wavelet="cdf97", levels=1, *, boundary=None, dims=2):
    """The sub-bands of coefficients by name, coarsest first, as writable views.

    >>> [(name, tuple(band.shape)) for name, band in bands(torch.zeros(3, 5, 7)).items()]
    [('LL1', (3, 3, 4)), ('HL1', (3, 3, 3)), ('LH1', (3, 2, 4)), ('HH1', (3, 2, 3))]
    """
    shape = tuple(int(n) for n in coefficients.shape[coefficients.ndim - dims :])
    key = wavelet if isinstance(wavelet, str) else key_of(wavelet)
    made = _bands(key, shape, int(levels), boundary, coefficients.dtype)
    return {band.name: coefficients[(..., *band.index)] for band in made}


@cached()
def _bands(key, shape, levels, boundary, dtype):
    return tuple(Plan(shape, of_text(key), levels, _DTYPES[dtype], boundary, ill_conditioned=True).subbands.values())


class _Module(nn.Module):
    _function = staticmethod(forward)
    _dims = 2

    def __init__(self, wavelet="cdf97", levels=1, *, boundary=None):
        super().__init__()
        #: The wavelet's name, or its text.
        self.wavelet = key_of(wavelet)
        self.levels = int(levels)
        self.boundary = boundary

    def forward(self, x):
        """The transform along the last axes."""
        return self._function(x, self.wavelet, self.levels, boundary=self.boundary, dims=self._dims)

    def bands(self, coefficients):
        """Views of the sub-bands of coefficients by name."""
        return bands(coefficients, self.wavelet, self.levels, boundary=self.boundary, dims=self._dims)

    def extra_repr(self):
        """Arguments for ``print``."""
        name = self.wavelet if "{" not in self.wavelet else of_text(self.wavelet).name
        return f"{name!r}, levels={self.levels}" + (f", boundary={self.boundary!r}" if self.boundary else "")


class Forward1d(_Module):
    """Analysis along the last axis: ``(…, W)``."""

    _dims = 1


class Forward2d(_Module):
    """Analysis along the last two axes: ``(…, H, W)``.

    >>> layer = Forward2d("db4", levels=2)
    >>> layer
    Forward2d('db4', levels=2)
    >>> layer.bands(layer(torch.zeros(1, 3, 32, 32)))["HH1"].shape
    torch.Size([1, 3, 16, 16])
    """


class Forward3d(_Module):
    """Analysis along the last three axes: ``(…, D, H, W)``."""

    _dims = 3


class Inverse1d(Forward1d):
    """Synthesis along the last axis."""

    _function = staticmethod(inverse)


class Inverse2d(Forward2d):
    """Synthesis along the last two axes."""

    _function = staticmethod(inverse)


class Inverse3d(Forward3d):
    """Synthesis along the last three axes."""

    _function = staticmethod(inverse)


#: Border rules: the index to read in place of an index beyond the ends of n samples.
_BORDERS = {
    "whole-symmetric": lambda i, n: _reflected(i, n),
    "periodic": lambda i, n: i % n,
    "edge": lambda i, n: i.clamp(0, n - 1),
    "half-symmetric": lambda i, n: torch.minimum(i % (2 * n), 2 * n - 1 - i % (2 * n)),
}


def _reflected(i, n):
    if n == 1:
        return torch.zeros_like(i)
    i = i.abs() % (2 * n - 2)
    return torch.where(i < n, i, 2 * n - 2 - i)


class LearnableLifting(nn.Module):
    """Lifting with taps as parameters: reconstruction is perfect for all values.

    ``steps`` alternates between predictions of odd samples from even ones and updates of even samples from odd ones.
    Each step is a list of taps. A prediction adds ``sum(taps[k] * even[n + k - (len - 1) // 2])`` to ``odd[n]``, an
    update adds ``sum(taps[k] * odd[n + k - len // 2])`` to ``even[n]``. Finally the bands are scaled by ``exp(scale)``
    and its inverse. Axes of one sample are unchanged. The initial wavelet is CDF 5/3 by default. ``boundary`` is
    ``whole-symmetric`` (of the whole signal), ``periodic`` (even lengths only), ``edge`` or ``half-symmetric``.

    >>> layer = LearnableLifting(levels=2, dims=2)
    >>> x = torch.randn(4, 1, 9, 14)
    >>> torch.allclose(layer.inverse(layer(x)), x, atol=1e-5)
    True
    >>> layer(x).abs().sum().backward()
    >>> [tuple(taps.grad.shape) for taps in layer.steps]
    [(2,), (2,)]

    Coefficients are in the order of `forward`. With the taps of CDF 5/3, they are those of CDF 5/3. Taps are free by
    Daubechies and Sweldens, "Factoring wavelet transforms into lifting steps", 1998, section 4.
    """

    def __init__(self, steps=((-0.5, -0.5), (0.25, 0.25)), levels=1, *, dims=2, boundary="whole-symmetric", scale=0.0):
        super().__init__()
        if boundary not in _BORDERS:
            raise LiftingError(f"unknown border rule {boundary!r}; choose one of {', '.join(_BORDERS)}")
        if isinstance(steps, str) or hasattr(steps, "filter_bank"):
            name = steps if isinstance(steps, str) else steps.name
            raise LiftingError(
                f"steps are lists of taps, such as [[-0.5, -0.5], [0.25, 0.25]], not the wavelet {name!r}: its text, "
                f"lifting.Wavelet({name!r}).text, has its taps"
            )
        made = [torch.as_tensor(taps, dtype=torch.get_default_dtype()).clone() for taps in steps]
        if any(taps.ndim != 1 or not len(taps) for taps in made):
            raise LiftingError("each step must be a list of at least one tap")
        self.steps = nn.ParameterList(nn.Parameter(taps) for taps in made)
        self.scale = nn.Parameter(torch.tensor(float(scale)))
        self.levels, self.dims, self.boundary = int(levels), int(dims), boundary

    def _step(self, target, other, number, length):
        """The amounts that a step adds to ``target``, computed from ``other`` along the last axis."""
        taps = self.steps[number].to(other.dtype)
        odd = number % 2 == 0
        count = target.shape[-1]
        first = -((len(taps) - 1) // 2) if odd else -(len(taps) // 2)
        at = torch.arange(count, device=other.device)[:, None] + torch.arange(len(taps), device=other.device) + first
        border, phase = _BORDERS[self.boundary], other.shape[-1]
        if self.boundary == "half-symmetric":
            # Reflects within the phase.
            return (other[..., border(at, phase)] * taps).sum(-1)
        # Positions in the whole signal; reflection preserves their parity.
        at = border(2 * at + (0 if odd else 1), length)
        at = ((at if odd else at - 1) // 2).clamp(0, phase - 1)
        return (other[..., at] * taps).sum(-1)

    def _analyse(self, x):
        length = x.shape[-1]
        if length == 1:
            return x
        if self.boundary == "periodic" and length % 2:
            raise LiftingError(f"periodic borders need an even number of samples, not {length}")
        even, odd = x[..., 0::2], x[..., 1::2]
        for number in range(len(self.steps)):
            if number % 2 == 0:
                odd = odd + self._step(odd, even, number, length)
            else:
                even = even + self._step(even, odd, number, length)
        gain = self.scale.exp().to(x.dtype)
        return torch.cat([even * gain, odd / gain], -1)

    def _synthesise(self, y):
        length = y.shape[-1]
        if length == 1:
            return y
        gain = self.scale.exp().to(y.dtype)
        even, odd = y[..., : (length + 1) // 2] / gain, y[..., (length + 1) // 2 :] * gain
        for number in reversed(range(len(self.steps))):
            if number % 2 == 0:
                odd = odd - self._step(odd, even, number, length)
            else:
                even = even - self._step(even, odd, number, length)
        x = y.new_zeros(y.shape)
        x = torch.slice_scatter(x, even, -1, 0, length, 2)
        return torch.slice_scatter(x, odd, -1, 1, length, 2)

    def _shapes(self, x):
        if not 1 <= self.dims <= x.ndim:
            raise LiftingError(f"invalid number of axes {self.dims}: the tensor allows 1 to {x.ndim}")
        shape = tuple(x.shape[x.ndim - self.dims :])
        return [tuple(-(-n // 2**level) for n in shape) for level in range(self.levels)]

    def _level(self, x, shape, run, axes):
        corner = x[(..., *(slice(0, n) for n in shape))]
        for axis in axes:
            corner = run(corner.movedim(axis, -1)).movedim(-1, axis)
        if corner.shape == x.shape:
            return corner
        padding = [side for axis in range(1, self.dims + 1) for side in (0, x.shape[-axis] - shape[-axis])]
        inside = torch.zeros(x.shape[x.ndim - self.dims :], dtype=torch.bool, device=x.device)
        inside[tuple(slice(0, n) for n in shape)] = True
        return torch.where(inside, nn.functional.pad(corner, padding), x)

    def forward(self, x):
        """Analysis along the last axes; the result has the shape of ``x``."""
        for shape in self._shapes(x):
            x = self._level(x, shape, self._analyse, range(-1, -self.dims - 1, -1))
        return x

    def inverse(self, y):
        """Synthesis along the last axes; the result has the shape of ``y``."""
        for shape in reversed(self._shapes(y)):
            y = self._level(y, shape, self._synthesise, range(-self.dims, 0))
        return y

    def bands(self, coefficients):
        """Views of the sub-bands of coefficients by name."""
        return bands(coefficients, "haar", self.levels, boundary="edge", dims=self.dims)

    def wavelet(self, name="learned"):
        """The learnt wavelet as a `lifting.Wavelet`, for plans or files.

        >>> LearnableLifting().wavelet().vanishing_moments_psi
        2
        """
        lines = [f"wavelet {name} {{", "    domain real;"]
        if self.boundary != "whole-symmetric":
            lines.append(f"    boundary {self.boundary};")
        for number, taps in enumerate(self.steps):
            to, of = ("odd", "even") if number % 2 == 0 else ("even", "odd")
            first = -((len(taps) - 1) // 2) if number % 2 == 0 else -(len(taps) // 2)
            taps = enumerate(taps.detach().double().tolist(), first)
            # The language has no weights of zero, and no steps without weights.
            if terms := [f"({tap!r})*{of}[{k}]" for k, tap in taps if tap]:
                lines.append(f"    {to} += {' + '.join(terms)};")
        gain = float(self.scale.detach().double().exp())
        lines += [f"    even *= {gain!r};", f"    odd *= {1 / gain!r};", "}"]
        return of_text("\n".join(lines))

    def extra_repr(self):
        """Arguments for ``print``."""
        counts = ", ".join(str(len(taps)) for taps in self.steps)
        return f"taps of steps: {counts}; levels={self.levels}, dims={self.dims}, boundary={self.boundary!r}"
