"""Wavelets: from the catalogue, from text in the Lifting language, and from filter banks."""

import enum
import functools
import itertools
import math
import os
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from . import _arrays, _lifting
from ._families import DISCRETE, is_continuous, with_length
from ._lifting import LiftingError
from ._types import Array, WaveletLike


if TYPE_CHECKING:
    from pathlib import Path


def scratch_folder():
    """A temporary folder, as a context. Modules that few calls need are imported by these."""
    import tempfile

    return tempfile.TemporaryDirectory()


def deprecated(old, new):
    """Warns that a name of PyWavelets is deprecated."""
    warnings.warn(f"{old} is deprecated, and will be removed: use {new}", DeprecationWarning, stacklevel=3)


#: Old names of the modes.
_SHORT = {"zpd": "zero", "cpd": "constant", "sym": "symmetric", "ppd": "periodic", "sp1": "smooth"}
_SHORT |= {"per": "periodization"}


class _OldModes(enum.EnumMeta):
    """Old names of the modes, as attributes that warn."""

    def __getattr__(cls, name):
        if name not in _SHORT:
            raise AttributeError(f"{cls.__name__!r} has no mode {name!r}")
        deprecated(name, _SHORT[name])
        return cls[_SHORT[name]]


class Modes(enum.IntEnum, metaclass=_OldModes):
    """Extension modes of a signal at its ends, with PyWavelets' numbers and names.

    >>> Modes.from_object("symmetric") == Modes.symmetric == 1
    True
    """

    #: Names in PyWavelets' order.
    modes: ClassVar[list[str]]

    zero = 0
    symmetric = 1
    constant = 2
    smooth = 3
    periodic = 4
    periodization = 5
    reflect = 6
    antisymmetric = 7
    antireflect = 8

    @staticmethod
    def from_object(mode: str | int) -> 'Modes':
        """The mode of a name or a number; old names such as ``sym`` are deprecated.

        Parameters
        ----------
        mode : str or int
            Name or number.

        Returns
        -------
        Modes
            The mode.
        """
        if isinstance(mode, str):
            name = _SHORT.get(mode, mode)
            if name != mode:
                deprecated(mode, name)
            if name not in Modes.__members__:
                raise ValueError(f"unknown mode {mode!r}; choose one of {', '.join(Modes.modes)}")
            return Modes[name]
        if isinstance(mode, (int, np.integer)):
            if not 0 <= mode < len(Modes):
                raise ValueError(f"unknown mode {mode}; choose a number from 0 to {len(Modes) - 1}")
            return Modes(int(mode))
        raise TypeError(f"a mode must be a name or a number, not {type(mode).__name__}")


Modes.modes = "zero constant symmetric periodic smooth periodization reflect antisymmetric antireflect".split()


#: Differences between given and factored taps that rounding explains, relative to the largest tap.
_EXACT = 1e-12


@functools.cache
def _find(name):
    return _lifting.Scheme.find(name)


class Wavelet:
    """A wavelet, with the attributes of PyWavelets' class and those of the Lifting language.

    The catalogue has all discrete wavelets of PyWavelets and more (`catalogue`); `wavelet` compiles text. PyWavelets'
    functions take any filter bank. A bank within `NEAREST` of a catalogue wavelet is transformed by its lifting steps,
    and others by convolution; ``repr`` ends with the way of execution. Plans, the codec, `show` and
    `lifting.jax` need lifting steps: the bank is then factored, which takes up to minutes for long filters, and
    requires perfect reconstruction. On GPUs pass `factor(bank)`.

    Parameters
    ----------
    name : str
        Name of a discrete wavelet, or any name for a filter bank.
    filter_bank : sequence of four filters, or object with the attribute ``filter_bank``, optional
        Filters ``dec_lo, dec_hi, rec_lo, rec_hi`` of one length. A zero follows filters of odd length. The attributes
        keep the numbers as they are.

    Raises
    ------
    LiftingError
        No wavelet has the name, or the filters are not four of one length with finite numbers.
    ValueError
        The wavelet is continuous.

    Examples
    --------
    >>> w = Wavelet("db2")
    >>> w.dec_len, w.orthogonal, w.vanishing_moments_psi
    (4, True, 2)
    >>> "wavelet cdf97 {" in Wavelet("cdf97").text
    True
    >>> Wavelet("mine", filter_bank=[[0.5, 0.5], [-0.5, 0.5], [1, 1], [1, -1]])
    lifting.Wavelet(name='mine', filter_bank=([0.5, 0.5], [-0.5, 0.5], [1.0, 1.0], [1.0, -1.0]))  # by convolution
    """

    def __init__(self, name: str, filter_bank: Any = None, *, _scheme: Any = None) -> None:
        bank = None
        if _scheme is None and filter_bank is None:
            if isinstance(name, Wavelet):
                self.__dict__.update(name.__dict__)
                return
            if not isinstance(name, str):
                raise TypeError(f"a wavelet's name must be a string, not {type(name).__name__}")
            name = name.lower()
            if is_continuous(name):
                raise ValueError(
                    f"The `Wavelet` class is for discrete wavelets, and {name!r} is continuous, without a filter bank: "
                    "use `ContinuousWavelet` and `cwt`, or a name of `wavelist(kind='discrete')`"
                )
            _scheme = _find(name)
        elif _scheme is None:
            name = name or "custom"
            bank = _checked_bank(getattr(filter_bank, "filter_bank", filter_bank))
        self.name = name
        if _scheme is not None:
            self._scheme = self._engine = _scheme
        self._custom = bank is not None
        family = re.match(r"[a-z]*", name)[0]
        # A bank under a catalogue name is not the catalogue's wavelet.
        self._family = family if not self._custom and name in DISCRETE.get(family, ("", "", ()))[2] else ""
        if bank is not None:
            self._filters = bank
            self.dec_len = len(bank[0])

    @functools.cached_property
    def _scheme(self):
        """Lifting steps of a filter bank, as plans need them."""
        near = self._nearest[0]
        if near is not None:
            return near._scheme
        made = _factor_bank([np.array(f) for f in self._filters], self.name)
        residual = _difference(self._filters, _filters(made, made.filter_length))
        if residual > _EXACT * max(np.abs(f).max(initial=0) for f in self._filters):
            warnings.warn(
                f"the steps of {self.name} have filters that differ from the given ones by up to {residual:.1e}: "
                "factoring long filters loses digits",
                RuntimeWarning,
                stacklevel=3,
            )
        return made

    @functools.cached_property
    def _engine(self):
        """Executor of PyWavelets' transforms: lifting steps, or the bank itself for convolution."""
        near = self._nearest[0]
        return _bank(self._filters) if near is None else near._scheme

    @functools.cached_property
    def _nearest(self):
        """The catalogue wavelet near a filter bank, and the difference; None and 0.0 without one."""
        return _nearest(self._filters) if self._custom else (None, 0.0)

    @property
    def residual(self) -> float:
        """Largest difference between a tap of ``filter_bank`` and of the wavelet that is executed; 0 for convolution.
        """
        return self._nearest[1]

    @functools.cached_property
    def _filters(self):
        return _filters(self._scheme, self.dec_len)

    @functools.cached_property
    def dec_len(self) -> int:
        """Length of the analysis filters."""
        return self._scheme.filter_length

    @property
    def rec_len(self) -> int:
        """Length of the synthesis filters."""
        return self.dec_len

    @property
    def dec_lo(self) -> list[float]:
        """Low-pass filter of analysis."""
        return self._filters[0]

    @property
    def dec_hi(self) -> list[float]:
        """High-pass filter of analysis."""
        return self._filters[1]

    @property
    def rec_lo(self) -> list[float]:
        """Low-pass filter of synthesis."""
        return self._filters[2]

    @property
    def rec_hi(self) -> list[float]:
        """High-pass filter of synthesis."""
        return self._filters[3]

    @property
    def filter_bank(self) -> tuple[list[float], ...]:
        """``dec_lo, dec_hi, rec_lo, rec_hi``."""
        return self._filters

    @property
    def inverse_filter_bank(self) -> tuple[list[float], ...]:
        """The filter bank of the wavelet with analysis and synthesis exchanged."""
        return tuple(self._filters[i][::-1] for i in (2, 3, 0, 1))

    def get_filters_coeffs(self) -> tuple[list[float], ...]:
        """Old synonym of `filter_bank`, deprecated."""
        deprecated("get_filters_coeffs()", "filter_bank")
        return self.filter_bank

    def get_reverse_filters_coeffs(self) -> tuple[list[float], ...]:
        """Old synonym of `inverse_filter_bank`, deprecated."""
        deprecated("get_reverse_filters_coeffs()", "inverse_filter_bank")
        return self.inverse_filter_bank

    @functools.cached_property
    def _moments(self):
        return self._scheme.moments()

    @functools.cached_property
    def orthogonal(self) -> bool:
        """Whether synthesis is the transpose of analysis; False for a custom bank until you set it."""
        if self._family:
            return self._family not in ("bior", "rbio")
        return not self._custom and self._moments[2] < 1e-9

    @functools.cached_property
    def biorthogonal(self) -> bool:
        """Whether synthesis undoes analysis; False for a custom bank until you set it."""
        return not self._custom

    @functools.cached_property
    def symmetry(self) -> str:
        """``asymmetric``, ``near symmetric``, ``symmetric`` or ``unknown``."""
        if self._custom:
            return "unknown"
        if self._family:
            return DISCRETE[self._family][1]
        taps = np.trim_zeros(self.dec_lo)
        return "symmetric" if np.allclose(taps, taps[::-1]) else "asymmetric"

    @property
    def family_name(self) -> str:
        """Name of the family; empty if it has none."""
        return DISCRETE[self._family][0] if self._family else ""

    @property
    def short_family_name(self) -> str:
        """Prefix of the family's wavelet names, such as ``db``."""
        return self._family

    @property
    def number(self) -> int | None:
        """Order in the family: the digits of the name, such as 13 for `bior1.3`. None without a family."""
        return int("".join(re.findall(r"\d", self.name)) or 0) if self._family else None

    @property
    def family_number(self) -> int | None:
        """Synonym of ``number``."""
        return self.number

    @property
    def vanishing_moments_psi(self) -> int | None:
        """Vanishing moments of the wavelet; for PyWavelets' families, PyWavelets' number."""
        return self._said_moments()[0]

    @property
    def vanishing_moments_phi(self) -> int | None:
        """Vanishing moments of the scaling function, by PyWavelets' count: for `bior`, those of the dual wavelet."""
        return self._said_moments()[1]

    def _said_moments(self):
        if self._custom:
            return 0, 0
        if not self._family:
            return self._moments[0], 0
        if self._family == "dmey":
            return None, None
        digits = [int(n) for n in re.findall(r"\d+", self.name)] or [1]
        if self._family == "coif":
            return 2 * digits[0], 2 * digits[0] - 1
        return digits[0], digits[1] if len(digits) == 2 else 0

    @property
    def domain(self) -> str:
        """Number domain: ``integer`` or ``real``."""
        return self._scheme.domain

    @property
    def boundary(self) -> str:
        """Default border rule."""
        return self._scheme.boundary

    @property
    def profiles(self) -> list[str]:
        """Names of the formats with conventions for this wavelet."""
        return self._scheme.profiles

    @property
    def text(self) -> str:
        """Text in the Lifting language."""
        return self._scheme.text

    def wavefun(self, level: int = 8) -> tuple[Array, ...]:
        """Scaling functions and wavelets, by ``level`` levels of the cascade algorithm.

        Returns ``phi, psi, x`` for an orthogonal wavelet, else ``phi_d, psi_d, phi_r, psi_r, x`` of analysis and
        synthesis.

        Parameters
        ----------
        level : int, optional
            Number of levels of the cascade algorithm.

        Returns
        -------
        tuple of numpy.ndarray
            Functions, and their positions last.
        """
        from ._dwt import upcoef

        gain, size = 2.0 ** (level / 2), (self.dec_len - 1) * 2**level + self.orthogonal
        if self.dec_len == 2:
            size = 2**level + 2
        sides = [self] if self.orthogonal else [_Mirror(self), self]
        functions = []
        for wavelet, part in itertools.product(sides, "ad"):
            whole = np.zeros(size)
            values = upcoef(part, [gain], wavelet, level)
            is_dual = part == "d" and not self.orthogonal and self.biorthogonal
            turned = is_dual and (self.vanishing_moments_psi or 0) % 4 != 1
            # A coefficient lies one place before the start of its function.
            whole[1 : 1 + len(values)] = -values if turned else values
            functions.append(whole)
        return (*functions, np.arange(size) / 2**level)

    def show(self, levels: int = 3) -> str:
        """A report as text: steps, filters, moments, and gains of ``levels`` levels.

        Parameters
        ----------
        levels : int, optional
            Number of levels.

        Returns
        -------
        str
            Report.
        """
        return self._scheme.show(levels)

    def plot(self, path: str | os.PathLike[str] | None = None, width: float = 88) -> 'Figure':
        """SVG figure of functions, frequency responses and steps, ``width`` millimetres wide.

        Notebooks show it; with ``path`` it is also written to a file.

        Parameters
        ----------
        path : path, optional
            File to write.
        width : float, optional
            Width in millimetres.

        Returns
        -------
        Figure
            Figure, which notebooks show.
        """
        figure = Figure(self._scheme.svg(width))
        if path is not None:
            figure.save(path)
        return figure

    def _repr_svg_(self):
        return self._scheme.svg(88)

    def __len__(self) -> int:
        return self.dec_len

    def __reduce__(self):
        said = {name: self.__dict__[name] for name in _SETTABLE if name in self.__dict__}
        bank = self._filters if self._custom else None
        return (_rebuilt, (self.name, None if self._custom else self._scheme.text, bank, said))

    def __repr__(self):
        module = type(self).__module__.split(".")[0]
        if self._custom:
            near, residual = self._nearest
            how = "by convolution" if near is None else f"as {near.name}, whose taps differ by up to {residual:.0e}"
            return f"{module}.Wavelet(name={self.name!r}, filter_bank={self.filter_bank!r})  # {how}"
        return f"{module}.Wavelet({self.name!r})"

    def __str__(self):
        return "\n".join(
            [
                f"Wavelet {self.name}",
                f"  Family name:    {self.family_name}",
                f"  Short name:     {self.short_family_name}",
                f"  Filters length: {self.dec_len}",
                f"  Orthogonal:     {self.orthogonal}",
                f"  Biorthogonal:   {self.biorthogonal}",
                f"  Symmetry:       {self.symmetry}",
                "  DWT:            True",
                "  CWT:            False",
            ]
        )


class _Mirror:
    """The dual wavelet, with only the attributes that `upcoef` reads."""

    def __init__(self, wavelet):
        self.filter_bank = wavelet.inverse_filter_bank
        self.rec_lo, self.rec_hi = self.filter_bank[2:]


class Figure:
    """An SVG figure; notebooks show it.

    Parameters
    ----------
    svg : str
        SVG text.
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self):
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the figure to a file.

        Parameters
        ----------
        path : path
            File.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def __repr__(self):
        return f"<figure, {len(self.svg)} bytes of SVG>"


def _difference(given, made):
    """The largest difference between taps of two banks; the shorter filters are centred in zeros."""
    length = max(len(f) for f in (*given, *made))
    wide = [[np.pad(f, (length - len(f)) // 2) for f in bank] for bank in (given, made)]
    return float(max(np.abs(a - b).max(initial=0) for a, b in zip(*wide)))


def _filters(scheme, length):
    """The filter bank of lifting steps, in PyWavelets' convention."""
    bank = [np.zeros(length) for _ in range(4)]
    for i, (at, taps) in enumerate(scheme.filters()):
        for n, tap in enumerate(taps, at):
            index = length // 2 - n if i < 2 else n + length // 2 - 1
            if 0 <= index < length:
                bank[i][index] = tap
    return tuple(filter.tolist() for filter in bank)


def _checked_bank(bank):
    """Four filters of one even length, as lists; two are completed by factoring."""
    try:
        filters = [np.asarray(f) for f in bank]
        filters = [(_arrays.numbers(f) if f.dtype == object else f) for f in filters]
    except (TypeError, ValueError) as error:
        raise LiftingError(f"a filter bank must have filters of numbers: {error}") from error
    if len(filters) not in (2, 4):
        raise LiftingError(f"a bank needs the filters dec_lo, dec_hi, rec_lo and rec_hi, not {len(filters)}")
    if any(f.ndim != 1 or f.dtype.kind not in "biuf" or not np.isfinite(f).all() for f in filters):
        raise LiftingError("the filters of a bank must be sequences of finite real numbers")
    if len({len(f) for f in filters}) != 1 or not len(filters[0]):
        lengths = ", ".join(str(len(f)) for f in filters)
        raise LiftingError(
            f"the filters of a bank must have one length, at least 1, not {lengths}: pad them with zeros"
        )
    filters = [np.append(f.astype(float), [0.0] * (len(f) % 2)) for f in filters]
    if len(filters) == 2:
        made = _factor_bank(filters, "custom")
        return _filters(made, made.filter_length)
    return tuple(f.tolist() for f in filters)


#: Largest difference between taps of a filter bank and of the catalogue wavelet that executes it, relative to the
#: largest tap.
NEAREST = 2e-12

#: Attributes that users may set.
_SETTABLE = ("orthogonal", "biorthogonal", "symmetry")


@functools.lru_cache(maxsize=256)
def _cached_bank(filters):
    return _lifting.Bank(filters)


def _bank(filters):
    """The native object for convolution with the filters, one for all wavelets with the bank."""
    return _cached_bank(tuple(map(tuple, filters)))


def _nearest(filters):
    return _cached_nearest(tuple(map(tuple, filters)))


@functools.lru_cache(maxsize=256)
def _cached_nearest(filters):
    """The catalogue wavelet within `NEAREST` of a bank and the largest difference of taps; None and 0.0 without one."""
    low, _, dual, _ = np.array(filters)
    is_orthogonal = abs(low - dual[::-1]).max() < 1e-9 * abs(low).max()
    for name in with_length(len(low), is_orthogonal):
        difference = _distance(filters, name)
        if difference <= NEAREST * np.abs(filters).max():
            return _named(name), difference
    return None, 0.0


def _distance(filters, name):
    """Largest difference between taps of a bank and of a catalogue wavelet; infinite if their lengths differ."""
    given, known = np.array(filters), np.array(_named(name).filter_bank)
    return float(abs(given - known).max()) if given.shape == known.shape else math.inf


@functools.lru_cache(maxsize=256)
def _foreign(name, filters, said):
    """The wavelet of another package's object: the catalogue's if name and filters agree, else its bank."""
    # PyWavelets' tables have up to 11 right digits.
    if any(name in names for *_, names in DISCRETE.values()) and _distance(filters, name) < 1e-9:
        return _named(name)
    made = Wavelet(name, filters)
    made.__dict__.update(said)
    return made


def _rebuilt(name, text, bank, said):
    """A wavelet from a pickle or a copy: its text has the bits of every weight."""
    if bank is not None:
        made = Wavelet(name, filter_bank=bank)
    else:
        try:
            scheme = _find(name)
        except LiftingError:
            scheme = None
        if scheme is None or scheme.text != text:
            scheme = _lifting.Scheme.compile(text, name)[0]
        made = Wavelet(name, _scheme=scheme)
    made.__dict__.update(said)
    return made


def as_wavelet(wavelet):
    """The `Wavelet` of a name, a `Wavelet` or a PyWavelets object."""
    if isinstance(wavelet, Wavelet):
        return wavelet
    if isinstance(wavelet, str):
        return _named(wavelet)
    if hasattr(wavelet, "filter_bank") and hasattr(wavelet, "name"):
        said = tuple((name, getattr(wavelet, name)) for name in _SETTABLE if hasattr(wavelet, name))
        return _foreign(wavelet.name.lower(), tuple(map(tuple, wavelet.filter_bank)), said)
    if getattr(wavelet, "complex_cwt", None) is not None:
        raise ValueError(
            f"{wavelet.name!r} is continuous, but a discrete wavelet is needed; `cwt` takes continuous ones"
        )
    raise ValueError(f"a wavelet must be a name or a `lifting.Wavelet`, not {type(wavelet).__name__}")


@functools.cache
def _named(name):
    return Wavelet(name)


def wavelet(text: str, name: str | None = None) -> Wavelet:
    """Compiles text in the Lifting language and returns its wavelet, or the one called ``name`` if it has several.

    A `LanguageError` lists all errors, with their places and remedies.

    Parameters
    ----------
    text : str
        Text in the Lifting language.
    name : str, optional
        Name of the wavelet, for a text with several.

    Returns
    -------
    Wavelet
        The wavelet.

    Examples
    --------
    >>> haar = wavelet("wavelet mine { domain integer; odd -= even[0]; even += (odd[0] + 1) >> 1; }")
    >>> haar.name, haar.domain
    ('mine', 'integer')
    """
    schemes = _lifting.Scheme.compile(text, "wavelet")
    names = [scheme.name for scheme in schemes]
    if name is None and len(schemes) == 1:
        return Wavelet(names[0], _scheme=schemes[0])
    if name in names:
        return Wavelet(name, _scheme=schemes[names.index(name)])
    raise LiftingError(f"the text has the wavelets {', '.join(names) or 'none'}: choose one with `name`")


def of_text(text):
    """The wavelet of a name, of a text in the language, or of a filter bank in JSON, as metadata and graphs store it.
    """
    if text.startswith("["):
        import json

        name, filters = json.loads(text)
        return Wavelet(name, filters)
    return wavelet(text) if "{" in text else as_wavelet(text)


@functools.lru_cache(maxsize=1024)
def key_of(wavelet, with_banks=False):
    """A string for `of_text`, as graphs store it: the wavelet's name in the catalogue, or its text.

    ``with_banks`` allows filter banks without lifting steps.
    """
    made = as_wavelet(wavelet)
    if with_banks and isinstance(made._engine, _lifting.Bank):
        import json

        return json.dumps([made.name, made.filter_bank])
    try:
        known = _find(made.name)
    except LiftingError:
        return made.text
    return made.name if known.text == made.text else made.text


def catalogue() -> dict[str, tuple[str, list[str]]]:
    """All wavelets of the catalogue: a dictionary from name to family and aliases.

    >>> catalogue()["legall53"]
    ('JPEG 2000', ['legall5_3', 'jpeg2000_5_3'])
    """
    return {name: (family, aliases) for name, family, aliases in _lifting.Scheme.catalogue()}


def show(wavelet: WaveletLike, levels: int = 3) -> str:
    """A wavelet's properties as text: steps, filters, moments, and gains of ``levels`` levels.

    Parameters
    ----------
    wavelet : str or Wavelet
        Wavelet.
    levels : int, optional
        Number of levels.

    Returns
    -------
    str
        Report.

    Examples
    --------
    >>> "vanishing moments" in show("cdf97")
    True
    """
    return as_wavelet(wavelet).show(levels)


def plot(wavelet: WaveletLike, path: str | os.PathLike[str] | None = None, width: float = 88) -> Figure:
    """SVG figure of a wavelet's functions, frequency responses and steps, ``width`` millimetres wide.

    Parameters
    ----------
    wavelet : str or Wavelet
        Wavelet.
    path : path, optional
        File to write.
    width : float, optional
        Width in millimetres.

    Returns
    -------
    Figure
        Figure, which notebooks show.

    Examples
    --------
    >>> plot("db2").svg.startswith("<svg")
    True
    """
    return as_wavelet(wavelet).plot(path, width)


def factor(
    bank: WaveletLike | Sequence[ArrayLike], *, into: Literal['lifting', 'lattice'] = "lifting", name: str | None = None
) -> Wavelet:
    """Factors a filter bank into ``lifting`` steps or into a ``lattice``.

    Parameters
    ----------
    bank : str, Wavelet or sequence of filters
        Wavelet, or the filters ``dec_lo, dec_hi`` in PyWavelets' convention. ``rec_lo, rec_hi`` may follow, and are
        checked.
    into : {'lifting', 'lattice'}, optional
        Lifting steps, or a lattice.
    name : str, optional
        Name of the result.

    Returns
    -------
    Wavelet
        Wavelet of these steps.

    Examples
    --------
    >>> factor("db2", into="lattice").text.count("rotate")
    2
    """
    if isinstance(bank, (str, Wavelet)):
        with scratch_folder() as folder:
            source = _written(folder, "given.lift", as_wavelet(bank).text)
            return _factored(folder, source, into, name)
    return Wavelet(name or "factored", _scheme=_factor_bank([np.asarray(f, float) for f in bank], name, into))


def _command(arguments):
    """Runs the compiler's command line; its errors name the arguments of Python's functions."""
    try:
        _lifting.command_line(arguments)
    except LiftingError as error:
        text = str(error)
        for option, name in _OPTIONS.items():
            text = re.sub(rf"(?<!\w){option}(?: <\w+>)?(?![\w-])", name, text)
        lines = (line for line in text.splitlines() if not re.search(r"try '--help'|Usage:", line))
        text = re.sub(r"(?<![\w-])--([a-z]+)", r"\1", "\n".join(lines))
        raise type(error)(text.rstrip(" │\n").replace("liftc ", "")) from None


#: Options of the command line, and the arguments that they come from.
_OPTIONS = {"--as": "into", "--emit": "emit", "--sample": "sample", "--shape": "shape", "-l": "levels"}
_OPTIONS |= {"--levels": "levels", "--name": "name", "-o": "folder"}


def _factored(folder, source, into, name):
    target = os.path.join(folder, "factored.lift")
    arguments = ["factor", source, "--as", into, "--sample", "f64", "-o", target]
    if name is not None and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        arguments += ["--name", name]
    _command(arguments)
    with open(target, encoding="utf-8") as file:
        return wavelet(file.read())


def _written(folder, name, text):
    """Path of a new file in a folder."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _factor_bank(filters, name, into="lifting"):
    """The native scheme of filters in PyWavelets' conventions."""
    length = len(filters[0])
    if len(filters) not in (2, 4) or any(f.ndim != 1 or len(f) != length for f in filters):
        raise LiftingError("a bank needs two or four filters of one length: dec_lo, dec_hi (, rec_lo, rec_hi)")
    if length < 2 or length % 2:
        raise LiftingError(f"the filters have {length} taps, but an even number is needed: pad them with zeros")
    with scratch_folder() as folder:
        import json

        bank = zip(("dec_lo", "dec_hi", "rec_lo", "rec_hi"), (f.tolist() for f in filters))
        source = _written(folder, "custom.json", json.dumps(dict(bank)))
        return _factored(folder, source, into, name)._scheme


def emit(
    wavelet: WaveletLike,
    folder: str | os.PathLike[str],
    *,
    emit: str = "cuda,c",
    sample: str | Sequence[str] | None = None,
    shape: Sequence[int] | None = None,
    levels: int | None = None,
    options: Sequence[str] = (),
) -> "list[Path]":
    """Writes a wavelet's kernels into a folder, like ``liftc``, and returns the paths of the files.

    Parameters
    ----------
    wavelet : str or Wavelet
        Wavelet.
    folder : path
        Folder for the files.
    emit : str, optional
        Languages: ``cuda``, ``c``, ``rust`` and ``opencl``, with commas between them.
    sample : str, or sequence of str, optional
        Sample types, such as ``f32``.
    shape : sequence of int, optional
        Shape of the data that the functions are for.
    levels : int, optional
        Number of levels, with ``shape``.
    options : sequence of str, optional
        Further arguments of the command line.

    Returns
    -------
    list of pathlib.Path
        Paths of the files.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in emit("dd137", folder, emit="c")]
    ['dd137.c', 'dd137.h']
    """
    from pathlib import Path

    made = as_wavelet(wavelet)
    with scratch_folder() as scratch:
        source = _written(scratch, f"{made._scheme.name}.lift", made.text)
        arguments = [source, "-o", os.path.join(os.fspath(folder), ""), "--emit", emit]
        if sample is not None:
            arguments += ["--sample", sample if isinstance(sample, str) else ",".join(sample)]
        if shape is not None:
            arguments += ["--shape", "x".join(str(n) for n in shape)]
        if levels is not None:
            arguments += ["-l", str(levels)]
        before = {p: p.stat().st_mtime_ns for p in Path(folder).glob("*")} if os.path.isdir(folder) else {}
        _command([*arguments, *options])
    return sorted(p for p in Path(folder).glob("*") if before.get(p) != p.stat().st_mtime_ns)


def qmf(filter: ArrayLike) -> Array:
    """The quadrature mirror of a filter: the reversed filter, with every second sign changed.

    Parameters
    ----------
    filter : array_like
        Filter.

    Returns
    -------
    numpy.ndarray
        Mirrored filter.

    Examples
    --------
    >>> qmf([1.0, 2, 3, 4])
    array([ 4., -3.,  2., -1.])
    """
    mirrored = np.array(filter)[::-1].copy()
    mirrored[1::2] *= -1
    return mirrored


def orthogonal_filter_bank(scaling_filter: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """Filter bank ``dec_lo, dec_hi, rec_lo, rec_hi`` of an orthogonal scaling filter of even length.

    Parameters
    ----------
    scaling_filter : array_like
        Scaling filter of even length.

    Returns
    -------
    dec_lo, dec_hi, rec_lo, rec_hi : numpy.ndarray
        Filters.

    Examples
    --------
    >>> [f.tolist() for f in orthogonal_filter_bank([1.0, 1.0])][0]
    [0.7071067811865476, 0.7071067811865476]
    """
    scaling = np.asarray(scaling_filter, dtype=np.float64)
    if len(scaling) % 2:
        raise ValueError(f"the scaling filter has {len(scaling)} taps, but an even number is needed: add a zero")
    rec_lo = np.sqrt(2) * scaling / scaling.sum()
    rec_hi = qmf(rec_lo)
    return rec_lo[::-1], rec_hi[::-1], rec_lo, rec_hi
