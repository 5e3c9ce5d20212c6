"""Families of PyWavelets' wavelets: names, full names and symmetry."""

import re

_SPLINES = "1.1 1.3 1.5 2.2 2.4 2.6 2.8 3.1 3.3 3.5 3.7 3.9 4.4 5.5 6.8".split()
#: Discrete families: full name, symmetry, names of the wavelets.
DISCRETE = {
    "haar": ("Haar", "asymmetric", ["haar"]),
    "db": ("Daubechies", "asymmetric", [f"db{n}" for n in range(1, 39)]),
    "sym": ("Symlets", "near symmetric", [f"sym{n}" for n in range(2, 21)]),
    "coif": ("Coiflets", "near symmetric", [f"coif{n}" for n in range(1, 18)]),
    "bior": ("Biorthogonal", "symmetric", [f"bior{n}" for n in _SPLINES]),
    "rbio": ("Reverse biorthogonal", "symmetric", [f"rbio{n}" for n in _SPLINES]),
    "dmey": ("Discrete Meyer (FIR Approximation)", "symmetric", ["dmey"]),
}
#: Continuous families. `shan`, `fbsp` and `cmor` take parameters after the name. The symmetry of `gaus` and `cgau`
#: depends on the order.
CONTINUOUS = {
    "gaus": ("Gaussian", None, [f"gaus{n}" for n in range(1, 9)]),
    "mexh": ("Mexican hat wavelet", "symmetric", ["mexh"]),
    "morl": ("Morlet wavelet", "symmetric", ["morl"]),
    "cgau": ("Complex Gaussian wavelets", None, [f"cgau{n}" for n in range(1, 9)]),
    "shan": ("Shannon wavelets", "asymmetric", ["shan"]),
    "fbsp": ("Frequency B-Spline wavelets", "asymmetric", ["fbsp"]),
    "cmor": ("Complex Morlet wavelets", "asymmetric", ["cmor"]),
}
_KINDS = {"all": DISCRETE | CONTINUOUS, "discrete": DISCRETE, "continuous": CONTINUOUS}


#: Lengths of the filters of spline wavelets, in the order of their names.
_SPLINE_LENGTHS = dict(zip(_SPLINES, (2, 6, 10, 6, 10, 14, 18, 4, 8, 12, 16, 20, 10, 12, 18), strict=True))


def with_length(length: int, is_orthogonal: bool) -> list[str]:
    """Names of the discrete wavelets whose filters have a length."""
    if not is_orthogonal:
        names = [name for name, n in _SPLINE_LENGTHS.items() if n == length]
        return [kind + name for name in names for kind in ("bior", "rbio")]
    orders = {"db": length / 2, "sym": length / 2, "coif": length / 6}
    return [name for family, n in orders.items() if (name := f"{family}{n:g}") in DISCRETE[family][2]]


def is_continuous(name: str) -> bool:
    """Whether a name, in lower case, is that of a continuous wavelet, with or without parameters."""
    family, rest = name[:4], name[4:]
    if family in ("shan", "fbsp", "cmor"):
        return re.fullmatch(r"[0-9.\-]*", rest) is not None
    return family in CONTINUOUS and name in CONTINUOUS[family][2]


def wavelist(family: str | None = None, kind: str = "all") -> list[str]:
    """Names of PyWavelets' wavelets, of a family or all.

    Parameters
    ----------
    family : str, optional
        Short name of a family, one of `families`. ``kind`` is then ignored.
    kind : {"all", "discrete", "continuous"}, optional
        Kind of the wavelets, all by default.

    Returns
    -------
    list of str
        Names in natural order. `shan`, `fbsp` and `cmor` are given without their parameters.

    Raises
    ------
    ValueError
        The family or the kind is unknown.

    Examples
    --------
    >>> wavelist("dmey"), wavelist(kind="continuous")[-3:]
    (['dmey'], ['mexh', 'morl', 'shan'])
    """
    if kind not in _KINDS:
        raise ValueError(f"unknown kind {kind!r}; choose one of {', '.join(_KINDS)}")
    if family is not None:
        if family not in _KINDS["all"]:
            raise ValueError(f"unknown family {family!r}; choose one of {', '.join(_KINDS['all'])}")
        return list(_KINDS["all"][family][2])
    return sorted((name for _, _, names in _KINDS[kind].values() for name in names), key=_natural)


def _natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def families(short: bool = True) -> list[str]:
    """Families of `wavelist`.

    Parameters
    ----------
    short : bool, optional
        Whether names are short.

    Returns
    -------
    list of str
        Short or full names.

    Examples
    --------
    >>> families()
    ['haar', 'db', 'sym', 'coif', 'bior', 'rbio', 'dmey', 'gaus', 'mexh', 'morl', 'cgau', 'shan', 'fbsp', 'cmor']
    """
    return [name if short else full for name, (full, _, _) in _KINDS["all"].items()]
