"""Signals and images for examples: PyWavelets' `pywt.data`.

`demo_signal` has the formulas of WaveLab. The other functions return synthetic data in place of PyWavelets' recordings,
of the same shape and type. The values are not those of the recordings.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["aero", "ascent", "camera", "demo_signal", "ecg", "nino"]

_NAMES = """
    Blocks Bumps HeaviSine Doppler Ramp HiSine LoSine LinChirp TwoChirp QuadChirp MishMash WernerSorrows HypChirps
    LinChirps Chirps Gabor sineoneoverx Piece-Regular Piece-Polynomial Riemann
""".split()
#: Names of signals with a length of their own.
_FIXED = ("gabor", "sineoneoverx")
#: Positions of jumps and peaks, heights of the jumps, heights and widths of the peaks.
_AT = (0.1, 0.13, 0.15, 0.23, 0.25, 0.4, 0.44, 0.65, 0.76, 0.78, 0.81)
_JUMPS = (4, -5, 3, -4, 5, -4.2, 2.1, 4.3, -3.1, 2.1, -4.2)
_PEAKS = (4, 5, 3, 4, 5, 4.2, 2.1, 4.3, 3.1, 5.1, 4.2)
_WIDTHS = (0.005, 0.005, 0.006, 0.01, 0.01, 0.03, 0.01, 0.01, 0.005, 0.008, 0.005)


def demo_signal(name: str = "Bumps", n: int | None = None) -> NDArray | list[str]:
    """A test signal of wavelet denoising.

    Parameters
    ----------
    name : str, optional
        Name of the signal, in any case, or ``"list"``.
    n : int, optional
        Number of samples. It is required, except for Gabor (512 samples) and sineoneoverx (1024), which take none.

    Returns
    -------
    numpy.ndarray or list of str
        The signal, of shape ``(n,)``; Gabor is complex. For ``"list"``, the names.

    Raises
    ------
    ValueError
        The name is unknown, or the length is missing, not a positive integer, too small, or not allowed.

    Notes
    -----
    The formulas are those of ``MakeSignal`` in WaveLab 850. The first four signals are from Donoho and Johnstone,
    "Ideal spatial adaptation by wavelet shrinkage", Biometrika 81 (1994), table 1. The last eight are from Mallat, "A
    Wavelet Tour of Signal Processing".

    Examples
    --------
    >>> demo_signal("ramp", 4).tolist()
    [0.25, -0.5, -0.25, 0.0]
    """
    key = name.lower()
    if key == "list":
        return list(_NAMES)
    if key not in map(str.lower, _NAMES):
        raise ValueError(f"unknown signal {name!r}; choose one of {', '.join(_NAMES)}")
    if key in _FIXED:
        if n is not None:
            raise ValueError(f"{name} has a fixed length: omit n")
        return _gabor() if key == "gabor" else _sine_of_inverse()
    if n is None:
        raise ValueError(f"{name} needs its number of samples n")
    if n < 1 or n % 1:
        raise ValueError(f"invalid number of samples {n}: it must be an integer of at least 1")
    least = _LEAST.get(key, 1)
    if n < least:
        raise ValueError(f"invalid number of samples {n}: {name} needs at least {least}")
    n = int(n)
    return _SIGNALS[key](_ramp(n), n)


def _ramp(n):
    return np.arange(1, n + 1) / n


def _bumps(t, n):
    return sum(h / (1 + abs((t - at) / w)) ** 4 for at, h, w in zip(_AT, _PEAKS, _WIDTHS))


def _chirp(t, n, cycles, power):
    """A sine with the phase π n · cycles · tᵖ: its frequency at the end is ``cycles * power / 2`` per sample."""
    return np.sin(np.pi * t * (n * cycles * t ** (power - 1)))


def _fade(m):
    """First half of a Hann window of ``m`` samples."""
    return (1 + np.sin(-np.pi / 2 + np.arange(m) / (m - 1) * np.pi)) / 2


def _hyperbolic(t, n):
    t = np.arange(1.001, n + 1) / n
    f = np.sin(15 * n * np.pi / 1024 / (0.8 - t)) * ((0.1 < t) & (t < 0.68))
    f += np.sin(5 * n * np.pi / 1024 / (0.8 - t)) * ((0.1 < t) & (t < 0.75))
    m, start = round(0.65 * n), -(-n // 10) - 1
    fade, envelope = _fade(m // 4), np.zeros(n)
    envelope[start : start + m] = np.concatenate([fade, np.ones(m - 2 * len(fade)), fade[::-1]])
    return f * envelope


def _linear_chirps(t, n):
    b, a = 100 * n * np.pi / 1024, 250 * n * np.pi / 1024
    return np.sqrt((t - 1 / n) * (1 - t)) * (np.cos(a * t**2) + np.cos(b * t + a * t**2))


def _chirps(t, n):
    window = np.exp(-((np.arange(-n, n + 1) / n * 20) ** 2) * 4 * n / 1024)
    f = np.cos((10 * np.pi * t) ** 2 * n / 1024) + np.cos(30 * n / 1024 * (np.pi * t) ** 3)[::-1]
    f += window[n // 2 :][:n] * np.cos(50 * np.pi * t * n / 1024)
    f += window[n // 8 :][:n] * np.cos(350 * np.pi * t * n / 1024)
    m = n // 8
    fade = (1 + np.sin(-np.pi / 2 + np.arange(m) / (n / 8 - 1) * np.pi)) / 2
    f[:m] *= fade
    f[7 * n // 8 :][:m] *= fade[::-1][: n - 7 * n // 8]
    return f


def _gabor():
    n = 512
    window, t = np.exp(-((np.arange(-n, n + 1) * 5 / n) ** 2) * 20), _ramp(n)
    f = 3 * window[n // 2 :][:n] * np.exp(1j * np.pi * (n // 16) * t)
    return f + 3 * window[n // 4 :][:n] * np.exp(1j * np.pi * (n // 4) * t)


def _sine_of_inverse():
    t = np.arange(-511.0, 513)
    t[t == 0] = 0.01
    return np.sin(1.5 * 1023 / t)


def _piece_regular(t, n):
    twelfth, seventh, fifth, third, half, twentieth = (n // k for k in (12, 7, 5, 3, 2, 20))
    f, bumps = np.zeros(n), -15 * _bumps(t, n)
    f[:third] = -70 * np.exp(-((_ramp(third) - 0.5) ** 2) / (2 * 0.15**2))
    f[seventh:fifth] *= 0.5
    f[third:half] = bumps[third:half]
    peak = -np.exp(4 * _ramp(twelfth))
    end = half + 2 * twelfth
    f[half:end] = np.concatenate([peak, peak[::-1]])
    f[end + twentieth : end + 3 * twentieth] = -25
    end += 3 * twentieth
    f[end : end + seventh] = np.exp(4 * _ramp(seventh)) - np.exp(4)
    rest = n - 5 * fifth
    f[n - rest :] = f[:rest][::-1]
    return f.mean() - f


def _piece_polynomial(t, n):
    fifth, tenth, twentieth = n // 5, n // 10, n // 20
    t = _ramp(fifth)
    pieces = [20 * (t**3 + t**2 + 4), (10 * t**3 + 45)[::-1], 40 * (2 * t**3 + t) + 100, 16 * t**2 + 8 * t + 16]
    f = np.concatenate([*pieces, 20 * (t + 4)[::-1], np.zeros(n - 5 * fifth)])
    rest = n - 5 * fifth
    f[n - rest :] = f[:rest][::-1]
    f[twentieth : twentieth + tenth] = 10
    f[n - tenth : n - tenth + twentieth] = 150
    return f - f.mean()


def _riemann(t, n):
    k = np.arange(1, round(n**0.5) + 1)
    k = k[k**2 <= n]
    spectrum = np.zeros(n)
    spectrum[k**2 - 1] = 1 / k
    return np.fft.ifft(spectrum).real


def _hisine(t, n):
    return np.sin(np.pi * (n * 0.6902) * t)


_SIGNALS = {
    "blocks": lambda t, n: sum(h * (1 + np.sign(t - at)) / 2 for at, h in zip(_AT, _JUMPS)),
    "bumps": _bumps,
    "heavisine": lambda t, n: 4 * np.sin(4 * np.pi * t) - np.sign(t - 0.3) - np.sign(0.72 - t),
    "doppler": lambda t, n: np.sqrt(t * (1 - t)) * np.sin(2 * np.pi * 1.05 / (t + 0.05)),
    "ramp": lambda t, n: t - (t >= 0.37),
    "hisine": _hisine,
    "losine": lambda t, n: np.sin(np.pi * (n * 0.3333) * t),
    "linchirp": lambda t, n: _chirp(t, n, 0.5, 2),
    "twochirp": lambda t, n: _chirp(t, n, 1, 2) + _chirp(t, n, 1 / 3, 2),
    "quadchirp": lambda t, n: _chirp(t, n, 1 / 3, 3),
    "mishmash": lambda t, n: _chirp(t, n, 1 / 3, 3) + _hisine(t, n) + _chirp(t, n, 0.125, 2),
    "wernersorrows": lambda t, n: _chirp(t, n, 0.5, 3) + _hisine(t, n) + _chirp(t, n, 1, 2) + _bumps(t, n),
    "hypchirps": _hyperbolic,
    "linchirps": _linear_chirps,
    "chirps": _chirps,
    "piece-regular": _piece_regular,
    "piece-polynomial": _piece_polynomial,
    "riemann": _riemann,
}
#: Fewest samples of signals in pieces.
_LEAST = {"hypchirps": 16, "chirps": 16, "piece-regular": 20, "piece-polynomial": 20}


def ecg() -> NDArray[np.int32]:
    """Synthetic electrocardiogram of shape ``(1024,)``, int32, about three beats and a half.

    A beat is a sum of five Gaussians, the waves P, Q, R, S and T, with the parameters of table 1 of McSharry et al., "A
    dynamical model for generating synthetic electrocardiogram signals", IEEE Trans. Biomed. Eng. 50 (2003).

    >>> ecg().shape, ecg().dtype.name
    ((1024,), 'int32')
    """
    t = np.arange(1024)
    phase = (2 * np.pi * t / 290) % (2 * np.pi) - np.pi
    waves = [(-1 / 3, 1.2, 0.25), (-1 / 12, -5, 0.1), (0, 30, 0.1), (1 / 12, -7.5, 0.1), (1 / 2, 0.75, 0.4)]
    beat = sum(a * b**2 * np.exp(-((phase - at * np.pi) ** 2) / (2 * b**2)) for at, a, b in waves)
    breath = 8 * np.sin(2 * np.pi * t / 1100)
    return np.rint(1100 * beat - 80 + breath).astype(np.int32)


def nino() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Synthetic sea surface temperature: times in years from 1950, four a year, and values of mean 0 and deviation 1.

    Both have the shape ``(264,)``. The values are an autoregressive process of order 2 with a period near 4 years, as
    of El Niño, made with a fixed seed.

    >>> time, sst = nino()
    >>> time[:2].tolist(), sst.shape
    ([1950.0, 1950.25], (264,))
    """
    noise, radius = np.random.default_rng(1950).normal(size=364), 0.9
    sst = np.zeros(364)
    for i in range(364):
        sst[i] = 2 * radius * np.cos(np.pi / 8) * sst[i - 1] - radius**2 * sst[i - 2] + noise[i]
    # The beginning depends on the zeros before it.
    sst = sst[100:]
    return np.arange(264) / 4 + 1950, (sst - sst.mean()) / sst.std(ddof=1)


def _clouds(seed, slope):
    """A field of 512² random values from 0 to 1, whose spectrum falls with a power of the frequency."""
    spectrum = np.fft.rfft2(np.random.default_rng(seed).normal(size=(512, 512)))
    f = np.hypot(np.fft.fftfreq(512)[:, None], np.fft.rfftfreq(512))
    field = np.fft.irfft2(spectrum / np.maximum(f, 1 / 512) ** slope)
    return (field - field.min()) / np.ptp(field)


def _picture(field):
    return np.rint(255 * (field - field.min()) / np.ptp(field)).astype(np.uint8)


def aero() -> NDArray[np.uint8]:
    """Synthetic aerial picture of shape ``(512, 512)``, uint8: fields with sharp borders, and texture.

    >>> aero().shape, int(aero().max())
    ((512, 512), 255)
    """
    return _picture(np.floor(6 * _clouds(1, 1.8)) / 6 + 0.4 * _clouds(2, 0.8))


def ascent() -> NDArray[np.uint8]:
    """Synthetic picture of stairs, of shape ``(512, 512)``, uint8.

    >>> ascent().shape, int(ascent().max())
    ((512, 512), 255)
    """
    y, x = np.mgrid[:512, :512] / 512
    step = 14 * (y + 0.3 * x) ** 1.5
    return _picture(np.where(step % 1 < 0.4, 0.2, 0.8) + 0.3 * (step % 1) - 0.3 * x + 0.3 * _clouds(3, 1))


def camera() -> NDArray[np.uint8]:
    """Synthetic picture of a dark figure and a tripod before a bright sky, of shape ``(512, 512)``, uint8.

    >>> camera().shape, int(camera().max())
    ((512, 512), 255)
    """
    y, x = np.mgrid[:512, :512] / 512
    figure = np.hypot(x - 0.4, y - 0.25) < 0.08
    figure |= np.hypot((x - 0.38) / 0.14, (y - 0.7) / 0.38) < 1
    legs = (y > 0.45) & (abs(abs(x - 0.68) - 0.3 * (y - 0.45)) < 0.008)
    ground = 0.3 * (y > 0.8) * _clouds(5, 0.5)
    return _picture(np.where(figure | legs, 0.05, 0.75 - 0.2 * y) + 0.15 * _clouds(4, 1.4) - ground)
