"""Filter banks of dual trees, and the matrices that apply them to blocks of samples.

The first level filters every sample with odd symmetric filters (`FIRST`). Later levels have two trees of orthogonal
filters with a delay of a quarter of a sample (`LATER`): tree a filters even samples, tree b odd ones with the reversed
filters. Low-pass coefficients of tree a are at even places, high-pass ones at odd places.

Sources: `antonini` is CDF 9/7 of M. Antonini et al., "Image coding using wavelet transform", IEEE Trans. Image Process.
1 (1992), table II; `legall` is CDF 5/3 of D. Le Gall and A. Tabatabai, ICASSP 1988. All others are N. Kingsbury's:
"Complex wavelets for shift invariant analysis and filtering of signals", Appl. Comput. Harmon. Anal. 10 (2001),
section 4, and "Rotation-invariant local feature matching with complex wavelets", EUSIPCO 2006, for `_bp`. The digits
are those of the tables that he distributes.
"""

import functools
from typing import Literal, NamedTuple

import numpy as np

Biort = Literal["antonini", "legall", "near_sym_a", "near_sym_b", "near_sym_b_bp"]
QShift = Literal["qshift_06", "qshift_a", "qshift_b", "qshift_c", "qshift_d", "qshift_b_bp"]

#: Bands of an axis. The third exists in banks ``_bp`` only and replaces the high-pass band of diagonals.
LOW, HIGH, DIAGONAL = range(3)


def _ratios(divisor, *taps):
    return tuple(tap / divisor for tap in taps)


_NEAR_SYM_B = (
    _ratios(5120, -9, 0, 114, -240, -247, 1520, 2844),
    _ratios(1146880, -81, 0, 1539, -2160, -8208, 27360, 63816, -59280, -343786, 641600),
)

#: Analysis filters of first levels by band, up to their centers.
FIRST = {
    "antonini": (
        (0.026748757410809976, -0.01686411844287498, -0.07822326652898946, 0.2668641184428749, 0.6029490182363593),
        (0.04563588155712561, -0.02877176311425121, -0.29563588155712767, 0.5575435262285023),
    ),
    "legall": (_ratios(8, -1, 2, 6), _ratios(4, -1, 2)),
    "near_sym_a": (_ratios(20, -1, 5, 12), _ratios(280, 3, -15, -73, 170)),
    "near_sym_b": _NEAR_SYM_B,
    "near_sym_b_bp": (
        *_NEAR_SYM_B,
        (
            *(-0.0003682500256732022, -0.0006222535855797443, -7.817824798259496e-05, 0.004185820847068102),
            *(0.008191787178883645, -0.007423274024802628, -0.0615384268799117, -0.1481582309116905),
            *(-0.11707630163921576, 0.6529082158435902),
        ),
    ),
}

_QSHIFT_B = (
    *(0.003253142763653182, -0.00388321199915849, 0.03466034684485349, -0.03887280126882779),
    *(-0.11720388769911527, 0.27529538466888204, 0.7561456438925225, 0.5688104207121227),
    *(0.011866092033797, -0.1067118046866654, 0.023825384794920298, 0.01702522388155399),
    *(-0.005439475937274115, -0.004556895628475491),
)

#: Low-pass filters h0a of later levels; then the filter h2a of diagonals.
LATER = {
    "qshift_06": (
        (
            *(0.03516383657149474, 0.0, -0.08832942445107285, 0.23389032060723564, 0.7602723690661257),
            *(0.5875182977235605, 0.0, -0.11430183714424873, 0.0, 0.0),
        ),
    ),
    "qshift_a": (
        (
            *(0.051130405283831656, -0.013975370246888838, -0.10983605166597087, 0.26383956105893763),
            *(0.7666284677930372, 0.5636557101270515, 0.0008736226952170968, -0.1002312195074762),
            *(-0.0016896812725281543, -0.006181881892116438),
        ),
    ),
    "qshift_b": (_QSHIFT_B,),
    "qshift_c": (
        (
            *(-0.0047616119384559135, -0.00044602278926228516, -7.144197327965012e-05, 0.034914612306842195),
            *(-0.03727389579989796, -0.11591145742744076, 0.2763686431330317, 0.7563937651990367),
            *(0.567134484100133, 0.01463740596447335, -0.11255888425752203, 0.02228926326692271),
            *(0.018498682724156248, -0.0072026778782583465, -0.0002276522058977718, 0.002430349945148675),
        ),
    ),
    "qshift_d": (
        (
            *(-0.002284127440270531, 0.0012098941630734423, -0.011834794515430786, 0.0012834569993443994),
            *(0.044365221606616996, -0.05327610880304726, -0.1133058863621428, 0.2809028632221865),
            *(0.7528160380878561, 0.5658080673964587, 0.024550152433666563, -0.12018854471079482),
            *(0.018156493945546453, 0.03152637712208465, -0.006628794612430063, -0.0025761743066007948),
            *(0.0012775586538069982, 0.002411869456666278),
        ),
    ),
    "qshift_b_bp": (
        _QSHIFT_B,
        (
            *(-2.43562670333119e-05, -0.009595143054161103, -0.025455435181424572, -0.026368561379365885),
            *(-0.007624747581512476, 0.26269188061668647, 0.43678738578031734, -0.8381378400904721),
            *(-0.0447647940175083, 0.1732414728674278, 0.061444653375592864, 0.021010057728309713),
            *(-0.0004329193033811051, -0.0027716534934753667),
        ),
    ),
}


class Blocks(NamedTuple):
    """Blocks of a transform along an axis: a block of the result is a window of samples times a matrix."""

    #: Samples of a window, and the number of them that lie before its own ``step`` samples.
    window: int
    halo: int
    #: Distance of windows in samples, and length of the result's blocks.
    step: int
    made: int


def has_diagonal(name):
    """Whether a bank has a filter of its own for diagonals."""
    return name.endswith("_bp")


def blocks(name, inverse):
    """Blocks of a level of analysis, or with ``inverse`` of synthesis."""
    if name in FIRST:
        reach = max(map(len, FIRST[name])) - 1
        return Blocks(16 + 2 * reach, reach, 16, 16)
    taps = len(LATER[name][0])
    margin = taps // 4
    if inverse:
        # A sample depends on at most 2·margin coefficients before and after its own.
        return Blocks(8 * margin, 2 * margin, 4 * margin, 8 * margin)
    return Blocks(8 * margin + 2 * (taps - 2), taps - 2, 8 * margin, 4 * margin)


@functools.lru_cache(maxsize=256)
def matrices(name, bands, inverse):
    """Matrices of shape (window, made) in double precision, for ``bands``: pairs of a band and a factor."""
    make = _first if name in FIRST else _synthesis_of_later if inverse else _later
    return [factor * make(name, band, inverse) for band, factor in bands]


@functools.lru_cache(maxsize=256)
def joined(name, bands, inverse):
    """One matrix for all bands: next to each other in analysis, one below the other in synthesis."""
    return np.concatenate(matrices(name, bands, inverse), 0 if inverse else 1)


def _first(name, band, inverse):
    """Matrix of a first level, whose filters are symmetric."""
    if inverse and band != DIAGONAL:
        # The other band's analysis filter with alternating signs, positive at the center.
        half = np.array(FIRST[name][HIGH - band])
        half = half * (-1.0) ** np.arange(len(half) - 1, -1, -1)
    else:
        half = np.array(FIRST[name][band])
    taps = np.concatenate([half, half[-2::-1]])
    window, halo, step, _ = blocks(name, inverse)
    matrix = np.zeros((window, step))
    for i in range(step):
        first = i + halo - len(taps) // 2
        matrix[first : first + len(taps), i] = taps
    return matrix


def _trees(name, band):
    """Taps of tree a and of tree b, for positions that descend."""
    taps = np.array(LATER[name][1 if band == DIAGONAL else 0])
    if band == HIGH:
        # The quadrature mirror filter.
        mirrored = taps * (-1.0) ** np.arange(1, len(taps) + 1)
        return mirrored, mirrored[::-1]
    return taps[::-1], taps


def _later(name, band, inverse=False, pairs=None):
    """Matrix from samples to pairs of coefficients of a later level, one of each tree."""
    tree_a, tree_b = _trees(name, band)
    taps = len(tree_a)
    pairs = pairs or blocks(name, False).made // 2
    matrix = np.zeros((4 * pairs + 2 * (taps - 2), 2 * pairs))
    place = 0 if band == LOW else 1
    for i in range(pairs):
        positions = 4 * i + 2 * (taps - 1) - 2 * np.arange(taps)
        matrix[positions, 2 * i + place] = tree_a
        matrix[positions + 1, 2 * i + 1 - place] = tree_b
    return matrix


def _synthesis_of_later(name, band, inverse):
    """Matrix from coefficients to samples of a later level: the transpose of analysis."""
    window, halo, _, made = blocks(name, inverse)
    analysis = _later(name, band, pairs=window // 2)
    first = len(LATER[name][0]) - 2 + 2 * halo
    return analysis[first : first + made].T
