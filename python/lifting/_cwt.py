"""Continuous transforms: `cwt` and its inverse `icwt`.

A coefficient is a sum of samples times taps. The taps of a scale are differences of the wavelet's integral: means of
the wavelet over a sample. Long kernels are applied by FFTs of overlapping blocks (overlap-save). Kernels of similar
length share the blocks' spectra.
"""

import functools
import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.exceptions import AxisError
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from ._continuous import ContinuousWavelet, either, integrate_wavelet, scale2frequency
from ._dwt import as_samples, normal_axes

#: Longest kernel that method `conv` applies tap by tap; FFTs are faster above it.
_DIRECT = 32
#: Shortest block that pays for its FFT.
_BLOCK = 2048
#: Largest scale, far below the limits of integers.
_LARGEST = 1e12


class _Kernel(NamedTuple):
    """Taps of a scale: coefficient n is the sum of ``taps[m] * data[n + origin - m]``."""

    taps: NDArray
    origin: int

    @property
    def reach(self):
        """The larger number of taps, before the origin or from it on."""
        return max(self.origin, self.taps.shape[-1] - self.origin)


class _Sampled:
    """Integral of a wavelet on its grid, from which the kernels of all scales are taken."""

    def __init__(self, wavelet, precision, dtype):
        self.wavelet = either(wavelet)
        if not hasattr(self.wavelet, "complex_cwt"):
            raise ValueError(
                f"{self.wavelet.name!r} is discrete, but a continuous wavelet is needed: choose one of "
                "`wavelist(kind='continuous')`"
            )
        integral, x = integrate_wavelet(self.wavelet, precision)
        self.integral = np.conj(integral)
        # The type of the grid decides the nearest grid point, as in PyWavelets.
        x = x.astype(dtype)
        if not x[0] < x[1]:
            raise ValueError(f"the support of {self.wavelet.name} is empty: lower_bound must be below upper_bound")
        self.step, self.width = x[1] - x[0], x[-1] - x[0]

    def kernel(self, scale, count, dtype):
        """Kernel of a scale, without the taps that ``count`` samples of data do not reach."""
        end, grain = scale * self.width + 1, scale * self.step
        number = end.dtype.type
        size = min(math.ceil(end), int(len(self.integral) * grain) + 2)
        while size > 1 and int(number(size - 1) / grain) >= len(self.integral):
            size -= 1
        if size < 2:
            least = 1 / (float(self.step) * len(self.integral))
            raise ValueError(f"scale {scale} is too small for {self.wavelet.name}: it must be above {least:.3g}")
        # Differences of the integral at 0, 1, …, size − 1 samples, with zeros at both ends, reversed.
        start = (size - 2) // 2
        first, last = max(0, start + 2 - count), min(size, start + count)
        inside = np.arange(max(0, size - 1 - last), min(size, size + 1 - first), dtype=number)
        values = np.zeros(last - first + 2, self.integral.dtype)
        values[int(last == size) :][: len(inside)] = self.integral[(inside / grain).astype(int)]
        taps = math.sqrt(scale) * np.diff(values)[::-1]
        return _Kernel(_parts(taps).astype(dtype), start + 1 - first)


def _numbers(scales):
    """Scales as a one-dimensional array, checked."""
    scales = np.atleast_1d(scales)
    if scales.ndim != 1 or scales.dtype.kind not in "iuf":
        raise ValueError(f"scales must be a number or a sequence of numbers, not {scales.ndim}-D of {scales.dtype}")
    if not ((scales > 0) & (scales <= _LARGEST)).all():
        raise ValueError(f"scales must be positive, and at most {_LARGEST:.0e}")
    return scales


def _views(array):
    """Real arrays of an array: itself, or views of its real and imaginary parts."""
    return [array.real, array.imag] if np.iscomplexobj(array) else [array]


def _parts(array):
    """Copies of the real arrays of an array, along a new first axis."""
    return np.stack(_views(array))


def _product(times, data, taps):
    """Parts of a complex product, from the parts of both factors and a product of real arrays."""
    if len(data) == len(taps) == 2:
        (a, b), (c, d) = data, taps
        return np.stack([times(a, c) - times(b, d), times(a, d) + times(b, c)])
    return np.stack([times(x, k) for x in data for k in taps])


@functools.lru_cache(maxsize=256)
def _fast(length):
    """Smallest even product of 2, 3 and 5 that is at least ``length``."""
    odd = [3**i * 5**j for i in range(21) for j in range(14)]
    return min(p << max(1, (-(-length // p) - 1).bit_length()) for p in odd)


class _Blocks:
    """Spectra of overlapping blocks of data, for kernels with at most ``reach`` taps before and after their origin."""

    def __init__(self, data, reach):
        self.reach, self.count, span = reach, data.shape[-1], 2 * reach
        number = -(-self.count // (max(_BLOCK, 8 * span) - span + 1))
        if number == 1:
            # Wrapped sums lie beyond the wanted ones.
            self.before, self.length, self.valid = 0, _fast(self.count + reach), self.count
        else:
            self.before, self.length = reach - 1, _fast(-(-self.count // number) + span - 1)
            self.valid = self.length - span + 1
        padded = np.zeros((*data.shape[:-1], (number - 1) * self.valid + self.length), data.dtype)
        padded[..., self.before : self.before + self.count] = data
        self.spectra = np.fft.rfft(sliding_window_view(padded, self.length, -1)[..., :: self.valid, :])

    def apply(self, kernel, out):
        """Writes the parts of the coefficients of a kernel to arrays of the shape of the data."""
        taps = np.fft.rfft(kernel.taps, self.length)
        begin = self.before + kernel.origin
        product = _product(np.multiply, self.spectra, taps)
        made = np.fft.irfft(product, self.length)[..., begin : begin + self.valid]
        for whole, part in zip(out, made):
            whole[...] = part.reshape(len(part), -1)[:, : self.count]


def _direct(data, kernel, out):
    """Writes the parts of the coefficients of a kernel, tap by tap."""
    begin, end = kernel.origin, kernel.origin + data.shape[-1]
    made = _product(lambda x, k: np.stack([np.convolve(row, k)[begin:end] for row in x]), data, kernel.taps)
    for whole, part in zip(out, made):
        whole[...] = part


def cwt(
    data: ArrayLike,
    scales: ArrayLike,
    wavelet: str | ContinuousWavelet,
    sampling_period: float = 1.0,
    method: Literal['conv', 'fft'] = "conv",
    axis: int = -1,
    *,
    precision: int = 12,
) -> tuple[NDArray, NDArray]:
    """Continuous wavelet transform along an axis.

    Parameters
    ----------
    data : array_like
        Samples, real or complex, of any shape. They continue as zeros at both ends.
    scales : float or array_like
        Positive scales, one-dimensional, in samples per unit of the wavelet's position. `frequency2scale` computes
        them from frequencies.
    wavelet : str or ContinuousWavelet
        The wavelet. Any object with PyWavelets' ``complex_cwt`` and ``wavefun`` will do.
    sampling_period : float, optional
        Time between samples, in seconds for frequencies in hertz. Coefficients do not depend on it.
    method : {"conv", "fft"}, optional
        ``conv`` applies short kernels tap by tap, and all kernels if the data has infinities or NaNs, which then
        reach only their neighbours. Otherwise kernels are applied by FFTs.
    axis : int, optional
        Axis of the samples, the last by default. One-dimensional data ignores it.
    precision : int, optional
        Binary logarithm of the number of points at which the wavelet is computed. Kernels take the nearest ones.

    Returns
    -------
    coefs : numpy.ndarray
        Coefficients of shape ``(len(scales), *data.shape)``. They are complex if the wavelet or the data is, and in
        single precision if the data is in half or single precision. The array is not contiguous if the axis is not
        the last.
    frequencies : numpy.ndarray
        Frequencies of the scales, by `scale2frequency`, in cycles per unit of ``sampling_period``.

    Raises
    ------
    ValueError
        The wavelet is discrete or unknown, a scale is not positive or too small for the wavelet, the data is empty,
        or the method is unknown.
    numpy.exceptions.AxisError
        The axis is out of range, or is not an integer.

    Notes
    -----
    With the wavelet ψ, coefficient b of scale s is ∫ x(t) ψ*((t − b) / s) dt / √s: Torrence and Compo, "A Practical
    Guide to Wavelet Analysis", Bull. Amer. Meteor. Soc. 79 (1998), equation 2. Results are PyWavelets', within
    rounding. The rounding of FFTs is relative to the largest sample of a block.

    Examples
    --------
    >>> chirp = np.cos(2 * np.pi * np.exp(np.linspace(0, 2, 512)))
    >>> coefs, frequencies = cwt(chirp, [2, 4, 8], "gaus1")
    >>> coefs.shape, frequencies.tolist()
    ((3, 512), [0.1, 0.05, 0.025])
    """
    data = as_samples(data)
    scales = _numbers(scales)
    if method not in ("conv", "fft"):
        raise ValueError(f"unknown method {method!r}; choose conv or fft")
    axis = _normal(axis, data.ndim)
    if not data.size:
        raise ValueError(f"data of shape {data.shape} has no samples")
    sampled = _Sampled(wavelet, precision, data.real.dtype)
    moved = np.moveaxis(data, axis, -1)
    count = moved.shape[-1]
    parts = _parts(moved.reshape(-1, count))
    complex_type = np.result_type(data, np.complex64)
    out = np.zeros((len(scales), *moved.shape), complex_type if sampled.wavelet.complex_cwt else data.dtype)
    kernels = [sampled.kernel(scale, count, data.real.dtype) for scale in scales]
    direct = method == "conv" and (_DIRECT if np.isfinite(data).all() else math.inf)
    blocks = None
    for i in sorted(range(len(kernels)), key=lambda i: kernels[i].reach):
        kernel = kernels[i]
        target = _views(out[i].reshape(-1, count))
        if kernel.taps.shape[-1] <= direct:
            _direct(parts, kernel, target)
        else:
            if blocks is None or blocks.reach < kernel.reach:
                blocks = _Blocks(parts, 1 << (kernel.reach - 1).bit_length())
            blocks.apply(kernel, target)
    return np.moveaxis(out, -1, axis + 1), scale2frequency(sampled.wavelet, scales, precision) / sampling_period


def _normal(axis, ndim):
    """Axis as a number from 0; one-dimensional data has only one, and PyWavelets then ignores the argument."""
    if not isinstance(axis, (int, np.integer)):
        raise AxisError(f"an axis must be an integer, not {type(axis).__name__}")
    return 0 if ndim == 1 else normal_axes([int(axis)], ndim)[0]


def icwt(
    coefficients: ArrayLike,
    scales: ArrayLike,
    wavelet: str | ContinuousWavelet,
    sampling_period: float = 1.0,
    axis: int = -1,
    *,
    precision: int = 12,
) -> NDArray:
    """Inverse of `cwt`: the data from the coefficients of many scales.

    Parameters
    ----------
    coefficients : array_like
        Coefficients of shape ``(len(scales), *data.shape)``, as `cwt` returns them.
    scales : array_like
        Scales of the coefficients, in any order and with any spacing. They should cover the signal's frequencies,
        for example ``numpy.geomspace(least, largest, 100)``.
    wavelet : str or ContinuousWavelet
        Wavelet of `cwt`.
    sampling_period : float, optional
        Argument of `cwt`, for calls alike. The result does not depend on it.
    axis : int, optional
        Axis of the samples in the data, as in `cwt`.
    precision : int, optional
        Argument of `cwt`, with its value there.

    Returns
    -------
    numpy.ndarray
        The data, real, or complex if a real wavelet has complex coefficients.

    Raises
    ------
    ValueError
        The coefficients do not have one entry along the first axis for each scale, or are real for a complex wavelet;
        the wavelet is discrete or unknown; a scale is not positive or too small for the wavelet.
    numpy.exceptions.AxisError
        The axis is out of range, or is not an integer.

    Notes
    -----
    The data is a weighted sum of the coefficients at the same time: Torrence and Compo 1998, equation 11, with the
    weights of the trapezoidal rule over the logarithm of the scale. Their constant is the same sum for a unit impulse
    (equations 12 and 13). Here the sum is divided by the whole spectrum of that response. This also corrects the
    sampling of the wavelet and any spacing of the scales, and covers odd wavelets.

    The mean is lost. So are frequencies that no scale covers: a response below half of its maximum is amplified by 2
    at most. A complex wavelet recovers real data only.

    The relative error is 10⁻¹⁵ to 10⁻⁸ for a signal that fades at both ends, if the scales cover its band and the mean
    of the wavelet vanishes. The mean of `shan`, of `fbsp` and of `cmor` with a low center frequency does not quite
    vanish: 10⁻³. Signals that are cut off at the ends lose low frequencies there, up to a few percent.

    Examples
    --------
    >>> t = np.arange(1024)
    >>> pulse = np.cos(0.2 * t) * np.exp(-(((t - 512) / 100) ** 2))
    >>> scales = np.geomspace(1, 64, 60)
    >>> again = icwt(cwt(pulse, scales, "mexh")[0], scales, "mexh")
    >>> bool(abs(again - pulse).max() < 1e-9)
    True
    """
    coefficients = as_samples(coefficients)
    scales = _numbers(scales)
    if coefficients.ndim < 2 or len(coefficients) != len(scales):
        raise ValueError(
            f"coefficients of shape {coefficients.shape} do not fit {len(scales)} scales: the first axis must have one "
            "entry for each, and the data at least one axis"
        )
    axis = _normal(axis, coefficients.ndim - 1)
    if not coefficients.size:
        raise ValueError(f"coefficients of shape {coefficients.shape} are empty")
    sampled = _Sampled(wavelet, precision, coefficients.real.dtype)
    is_complex = sampled.wavelet.complex_cwt
    if is_complex and not np.iscomplexobj(coefficients):
        raise ValueError(
            f"the coefficients are real, but those of {sampled.wavelet.name} are complex: pass the result of `cwt`"
        )
    turn = _turn(sampled.wavelet, precision) if is_complex else 1.0
    weights = _weights(scales)
    summed = np.moveaxis(sum(weight * row for weight, row in zip(weights, coefficients)), axis, -1)
    if is_complex:
        summed = (turn * summed).real
    inverse, length = _inverse(sampled, scales, weights, turn, summed.shape[-1])
    data = np.empty(summed.shape, coefficients.dtype if np.iscomplexobj(summed) else coefficients.real.dtype)
    for whole, part in zip(_views(data), _views(summed)):
        whole[...] = np.fft.irfft(np.fft.rfft(part, length) * inverse, length)[..., : summed.shape[-1]]
    return np.moveaxis(data, -1, axis)


def _turn(wavelet, precision):
    """The factor of modulus 1 of a complex wavelet's coefficients whose real part is that of an even wavelet."""
    psi, _ = wavelet.wavefun(precision)
    # The center lies between two points.
    return np.exp(1j * np.angle(psi[(len(psi) - 1) // 2] + psi[len(psi) // 2]))


def _inverse(sampled, scales, weights, turn, count):
    """Inverse of the spectrum of the weighted sum for a unit impulse, and the length of its transform."""
    kernels = [sampled.kernel(scale, count, np.float64) for scale in scales]
    reach = max(kernel.reach for kernel in kernels)
    length = _fast(count + 2 * reach)
    response = np.zeros(length)
    for weight, kernel in zip(weights, kernels):
        taps = kernel.taps[0] if len(kernel.taps) == 1 else (turn * (kernel.taps[0] + 1j * kernel.taps[1])).real
        response[reach - kernel.origin :][: len(taps)] += weight * taps
    spectrum = np.fft.rfft(np.roll(response, -reach))
    gain = abs(spectrum)
    divisor = gain * np.maximum(gain, gain.max() / 2)
    return np.divide(spectrum.conj(), divisor, out=np.zeros_like(spectrum), where=divisor > 0), length


def _weights(scales):
    """Weights of the scales in an integral of the coefficients times ``scale**-1.5``, by the trapezoidal rule."""
    order = np.argsort(scales)
    steps = np.diff(np.log(scales[order]))
    weights = np.empty(len(scales))
    # A single scale has no step.
    weights[order] = (np.append(steps, 0) + np.insert(steps, 0, 0)) / 2 if steps.any() else 1
    return weights / np.sqrt(scales)
