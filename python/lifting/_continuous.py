"""Continuous wavelets, and the frequency and integral of any wavelet."""

import math
import re
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._families import CONTINUOUS, is_continuous
from ._types import WaveletLike
from ._wavelet import Wavelet, deprecated, orthogonal_filter_bank

#: Half the support of each family. The functions are negligible beyond it, or are cut there.
_BOUNDS = {"gaus": 5, "mexh": 8, "morl": 8, "cgau": 5, "shan": 20, "fbsp": 20, "cmor": 8}
#: Families with parameters: form of a name, and the name that a bare one means.
_FORMS = {
    "shan": ("shanB-C", "shan0.5-1.0"),
    "fbsp": ("fbspM-B-C", "fbsp2-1.0-0.5"),
    "cmor": ("cmorB-C", "cmor1.0-0.5"),
}


def _hermval(x, coefficients):
    # NumPy's polynomials take as long to import as all of this package.
    from numpy.polynomial.hermite import hermval

    return hermval(x, coefficients)


def _single(name: str, doc: str) -> Any:
    """A property in single precision, or None."""

    def read(self: Any) -> float | None:
        return getattr(self, name)

    def write(self: Any, value: float | None) -> None:
        setattr(self, name, None if value is None else float(np.float32(value)))

    return property(read, write, doc=doc)


class ContinuousWavelet:
    """A continuous wavelet, with the attributes of PyWavelets' class.

    Parameters
    ----------
    name : str
        One of ``wavelist(kind="continuous")``, in any case. `shan` and `cmor` are followed by the bandwidth frequency B
        and the center frequency C, as in ``cmor1.5-1.0``. In `fbsp` the spline order M precedes them, as in
        ``fbsp2-1.0-0.5``.
    dtype : numpy.float64 or numpy.float32, optional
        Type of the samples of `wavefun`.

    Attributes
    ----------
    complex_cwt : bool
        Whether the wavelet is complex.
    lower_bound, upper_bound : float
        Support of the wavelet. It may be changed.
    center_frequency, bandwidth_frequency : float or None
        Parameters C and B. They may be changed.
    fbsp_order : int or None
        Parameter M. It may be changed.

    Raises
    ------
    TypeError
        The name is not a string.
    ValueError
        The name is unknown, its parameters do not have the form of the family, or the type is another.

    Notes
    -----
    Bounds and frequencies are stored in single precision, as in PyWavelets, so that results are equal.

    Examples
    --------
    >>> w = ContinuousWavelet("cmor1.5-1.0")
    >>> w.bandwidth_frequency, w.center_frequency, w.complex_cwt
    (1.5, 1.0, True)
    """

    lower_bound = _single("_lower", "Lower end of the support.")
    upper_bound = _single("_upper", "Upper end of the support.")
    center_frequency = _single("_center", "Center frequency of `shan`, `fbsp` and `cmor`.")
    bandwidth_frequency = _single("_bandwidth", "Bandwidth frequency of `shan`, `fbsp` and `cmor`.")

    def __init__(self, name: str = "", dtype: DTypeLike = np.float64) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a wavelet's name must be a string, not {type(name).__name__}")
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise ValueError(f"unsupported type {np.dtype(dtype)} of a continuous wavelet: choose float32 or float64")
        self.name, self.dt = name.lower(), dtype
        family = self.name[:4]
        if family not in _FORMS and not is_continuous(self.name):
            raise ValueError(f"unknown continuous wavelet {name!r}: `wavelist(kind='continuous')` lists the names")
        self.short_family_name = family
        self.family_name, self.symmetry, _ = CONTINUOUS[family]
        #: Order of the derivative of `gaus` and `cgau`; 0 for other families.
        self.number = int(self.name[4:]) if family in ("gaus", "cgau") else 0
        if self.number:
            self.symmetry = "anti-symmetric" if self.number % 2 else "symmetric"
        self.orthogonal = self.biorthogonal = False
        self.complex_cwt = family not in ("gaus", "mexh", "morl")
        self.lower_bound, self.upper_bound = -_BOUNDS[family], _BOUNDS[family]
        self.center_frequency = self.bandwidth_frequency = self.fbsp_order = None
        if family in _FORMS:
            self._take_parameters(*_FORMS[family])

    def _take_parameters(self, form, default):
        """Parameters from the name, which has that form."""
        family, name = self.short_family_name, self.name
        if name == family:
            warnings.warn(
                f"{family} without parameters is deprecated: write {form}, here {default}", FutureWarning, stacklevel=3
            )
            name = default
        *order, bandwidth, center = _numbers(name[4:], form)
        if bandwidth <= 0:
            raise ValueError(f"invalid bandwidth frequency {bandwidth} of {name!r}: it must be positive")
        self.bandwidth_frequency, self.center_frequency = bandwidth, center
        if order:
            if order[0] < 1 or order[0] % 1:
                raise ValueError(f"invalid spline order {order[0]} of {name!r}: it must be an integer of at least 1")
            self.fbsp_order = int(order[0])

    @property
    def family_number(self) -> int:
        """Synonym of ``number``."""
        return self.number

    @property
    def dtype(self) -> np.dtype:
        """Type of the real samples."""
        return np.dtype(self.dt)

    def wavefun(self, level: int = 8, length: int | None = None) -> tuple[NDArray, NDArray]:
        """Samples of the wavelet at equal distances from ``lower_bound`` to ``upper_bound``.

        Parameters
        ----------
        level : int, optional
            Binary logarithm of the number of samples.
        length : int, optional
            Number of samples, instead of ``2**level``.

        Returns
        -------
        psi, x : numpy.ndarray
            Values of the wavelet and their positions, one-dimensional. ``psi`` is complex if ``complex_cwt``.

        Raises
        ------
        ValueError
            The number of samples is below 1.

        Examples
        --------
        >>> psi, x = ContinuousWavelet("mexh").wavefun(length=3)
        >>> psi.round(6).tolist(), x.tolist()
        ([-0.0, 0.867325, -0.0], [-8.0, 0.0, 8.0])
        """
        count = int(2**level) if length is None else int(length)
        if count < 1:
            raise ValueError(f"invalid number of samples {count}: it must be at least 1")
        x = np.linspace(self.lower_bound, self.upper_bound, count, dtype=self.dtype)
        psi = self._values(x.astype(np.float64))
        return psi.astype(np.result_type(self.dtype, np.complex64) if np.iscomplexobj(psi) else self.dtype), x

    def _values(self, x):
        """The wavelet at the positions ``x``, in double precision."""
        n, bandwidth = self.number, self.bandwidth_frequency
        match self.short_family_name:
            case "mexh":
                return (1 - x**2) * np.exp(-(x**2) / 2) * (2 / math.sqrt(3 * math.sqrt(math.pi)))
            case "morl":
                return np.cos(5 * x) * np.exp(-(x**2) / 2)
            # The n-th derivative of exp(−z²) is (−1)ⁿ Hₙ(z) exp(−z²). Both families have the norm 1.
            case "gaus":
                energy = math.prod(range(1, 2 * n, 2)) * math.sqrt(math.pi / 2)
                sign = (-1) ** (n * (n + 1) // 2)
                return _hermval(x, [0] * n + [sign / math.sqrt(energy)]) * np.exp(-(x**2))
            case "cgau":
                # exp(−x² − ix) is exp(−z²) at z = x + i/2, up to a factor. The spectrum of its square is a normal
                # distribution with mean −1 and variance 1, and its moment of order 2n is the energy.
                moments = (math.comb(2 * n, 2 * k) * math.prod(range(1, 2 * k, 2)) for k in range(n + 1))
                gain = (-1) ** n / math.sqrt(sum(moments) * math.sqrt(math.pi / 2))
                return _hermval(x + 0.5j, [0] * n + [gain]) * np.exp(-(x**2) - 1j * x)
            case "shan":
                window = math.sqrt(bandwidth) * np.sinc(bandwidth * x)
            case "fbsp":
                window = math.sqrt(bandwidth) * np.sinc(bandwidth * x / self.fbsp_order) ** self.fbsp_order
            case "cmor":
                window = np.exp(-(x**2) / bandwidth) / math.sqrt(math.pi * bandwidth)
        return window * np.exp(2j * math.pi * (self.center_frequency or 0) * x)

    def __repr__(self):
        return f"{type(self).__module__.split('.')[0]}.ContinuousWavelet(name={self.name!r})"

    def __str__(self):
        return "\n".join(
            [
                f"ContinuousWavelet {self.name}",
                f"  Family name:    {self.family_name}",
                f"  Short name:     {self.short_family_name}",
                f"  Symmetry:       {self.symmetry}",
                "  DWT:            False",
                "  CWT:            True",
                f"  Complex CWT:    {self.complex_cwt}",
            ]
        )


def _numbers(text, form):
    """Numbers of a wavelet's name, separated by hyphens."""
    number = r"(\d+(?:\.\d*)?)"
    found = re.fullmatch("-".join([number] * (form.count("-") + 1)), text)
    if not found:
        family, example = form[:4], {"f": "fbsp1-1.5-1.0"}.get(form[0], f"{form[:4]}1.5-1.0")
        order = "M is the spline order, " if family == "fbsp" else ""
        raise ValueError(
            f"invalid parameters {text!r} of {family}: the name must have the form {form}, as in {example}. "
            f"{order}B is the bandwidth frequency and C the center frequency"
        )
    return [float(part) for part in found.groups()]


def DiscreteContinuousWavelet(name: str = "", filter_bank: Any = None) -> Wavelet | ContinuousWavelet:
    """The wavelet of a name: a `ContinuousWavelet` for names of those, else a `Wavelet`.

    Parameters
    ----------
    name : str
        Name of the wavelet.
    filter_bank : optional
        Filter bank of a `Wavelet` of your own.

    Raises
    ------
    TypeError
        Neither a name nor a bank is given.
    ValueError
        The name is unknown.

    Examples
    --------
    >>> DiscreteContinuousWavelet("mexh"), DiscreteContinuousWavelet("db2")
    (lifting.ContinuousWavelet(name='mexh'), lifting.Wavelet('db2'))
    """
    if not name and filter_bank is None:
        raise TypeError("a wavelet needs a name or a filter bank")
    if filter_bank is None and isinstance(name, str):
        lower = name.lower()
        if lower[:4] in _FORMS or is_continuous(lower):
            return ContinuousWavelet(name)
    return Wavelet(name, filter_bank)


def either(wavelet):
    """A wavelet of either kind, from its name or an object with `wavefun`."""
    return wavelet if hasattr(wavelet, "wavefun") else DiscreteContinuousWavelet(wavelet)


def integrate_wavelet(wavelet: WaveletLike | ContinuousWavelet, precision: int = 8) -> tuple[NDArray, ...]:
    """Integral of a wavelet from the start of its support, by the rectangle rule.

    Parameters
    ----------
    wavelet : str, Wavelet or ContinuousWavelet
        The wavelet.
    precision : int, optional
        Level of `wavefun`: a continuous wavelet has ``2**precision`` samples.

    Returns
    -------
    int_psi, x : numpy.ndarray
        The integral at the positions ``x``, one-dimensional. A biorthogonal wavelet has two integrals:
        ``int_psi_d, int_psi_r, x`` for analysis and synthesis.

    Raises
    ------
    ValueError
        The name is unknown, or the precision gives less than two samples.

    Examples
    --------
    >>> int_psi, x = integrate_wavelet("db1", precision=2)
    >>> int_psi.round(6).tolist()
    [0.0, 0.25, 0.5, 0.25, 0.0, 0.0]
    """
    if isinstance(wavelet, (tuple, list)):
        deprecated("integration of a pair of arrays", "numpy.cumsum")
        functions, x = [np.asarray(wavelet[0])], np.asarray(wavelet[1])
    else:
        *functions, x = either(wavelet).wavefun(precision)
        # Scaling functions precede the wavelets of discrete ones.
        functions = functions[-1:] if len(functions) < 4 else functions[1::2]
    if len(x) < 2:
        raise ValueError(f"invalid number of positions {len(x)}: an integral needs a precision of at least 1")
    return (*(np.cumsum(psi) * (x[1] - x[0]) for psi in functions), x)


def central_frequency(wavelet: WaveletLike | ContinuousWavelet, precision: int = 8) -> float:
    """Frequency of the largest peak of a wavelet's spectrum, in cycles per unit of its position.

    Parameters
    ----------
    wavelet : str, Wavelet or ContinuousWavelet
        The wavelet; of a biorthogonal one, that of analysis.
    precision : int, optional
        Level of `wavefun`. The resolution is the inverse of the support.

    Returns
    -------
    float
        The frequency.

    Raises
    ------
    ValueError
        The name is unknown.

    Examples
    --------
    >>> float(central_frequency("morl"))
    0.8125
    """
    *functions, x = either(wavelet).wavefun(precision)
    psi = functions[0] if len(functions) == 1 else functions[1]
    peak = 1 + int(np.argmax(abs(np.fft.fft(psi)[1:])))
    # A frequency in the upper half is a negative one.
    if peak + 1 > len(psi) / 2:
        peak = len(psi) - peak
    return 1.0 / (float(x[-1] - x[0]) / peak)


def scale2frequency(wavelet: WaveletLike | ContinuousWavelet, scale: ArrayLike, precision: int = 8) -> float | NDArray:
    """Frequency of a scale of `cwt`, in cycles per sample.

    Parameters
    ----------
    wavelet : str, Wavelet or ContinuousWavelet
        The wavelet.
    scale : float or array_like
        Scales, in samples per unit of the wavelet's position.
    precision : int, optional
        As in `central_frequency`.

    Returns
    -------
    float or numpy.ndarray
        Frequencies, of the shape of ``scale``. Divide them by the sampling period for hertz.

    Raises
    ------
    ValueError
        The name is unknown.

    Examples
    --------
    >>> float(scale2frequency("morl", 2))
    0.40625
    """
    return central_frequency(wavelet, precision) / _numeric(scale)


def frequency2scale(wavelet: WaveletLike | ContinuousWavelet, freq: ArrayLike, precision: int = 8) -> float | NDArray:
    """Scale of a frequency in cycles per sample, the inverse of `scale2frequency`.

    Parameters
    ----------
    wavelet : str, Wavelet or ContinuousWavelet
        The wavelet.
    freq : float or array_like
        Frequencies, in cycles per sample.
    precision : int, optional
        As in `central_frequency`.

    Returns
    -------
    float or numpy.ndarray
        Scales, of the shape of ``freq``.

    Raises
    ------
    ValueError
        The name is unknown.

    Examples
    --------
    >>> float(frequency2scale("morl", 0.40625))
    2.0
    """
    return central_frequency(wavelet, precision) / _numeric(freq)


def _numeric(value):
    return np.asarray(value) if isinstance(value, (list, tuple)) else value


def intwave(*args: Any, **kwargs: Any) -> tuple[NDArray, ...]:
    """Old name of `integrate_wavelet`, deprecated."""
    deprecated("intwave", "integrate_wavelet")
    return integrate_wavelet(*args, **kwargs)


def centrfrq(*args: Any, **kwargs: Any) -> float:
    """Old name of `central_frequency`, deprecated."""
    deprecated("centrfrq", "central_frequency")
    return central_frequency(*args, **kwargs)


def scal2frq(*args: Any, **kwargs: Any) -> float | NDArray:
    """Old name of `scale2frequency`, deprecated."""
    deprecated("scal2frq", "scale2frequency")
    return scale2frequency(*args, **kwargs)


def orthfilt(*args: Any, **kwargs: Any) -> tuple[NDArray, ...]:
    """Old name of `orthogonal_filter_bank`, deprecated."""
    deprecated("orthfilt", "orthogonal_filter_bank")
    return orthogonal_filter_bank(*args, **kwargs)
