"""Wavelet transforms by lifting.

Plans are prepared once and executed many times, with the same bits on every machine and device:

>>> import lifting, numpy
>>> plan = lifting.Plan((6, 8), "legall53", levels=2, dtype="int16")
>>> image = numpy.arange(48, dtype="int16").reshape(6, 8)
>>> coefficients = plan.forward(image)
>>> bool((plan.inverse(coefficients) == image).all())
True

`encode` and `decode` compress images. PyWavelets' functions are available under their names, with all nine modes:

>>> low, high = lifting.dwt([1.0, 2, 3, 4, 5, 6], "db2")
>>> low.shape
(4,)

``import lifting as pywt`` therefore runs code that uses PyWavelets, with its discrete and continuous transforms.
"""

from ._lifting import DeviceError, LanguageError, LiftingError, __version__
from . import data
from ._cache import clear_cache
from ._codec import decode, encode, metadata, transcode
from ._continuous import (
    ContinuousWavelet,
    DiscreteContinuousWavelet,
    central_frequency,
    centrfrq,
    frequency2scale,
    integrate_wavelet,
    intwave,
    orthfilt,
    scal2frq,
    scale2frequency,
)
from ._cwt import cwt, icwt
from ._dtcwt import dtcwt, idtcwt
from ._dtcwt_levels import Pyramid
from ._dwt import (
    downcoef,
    dwt,
    dwt2,
    dwt_coeff_len,
    dwt_max_level,
    dwtn,
    idwt,
    idwt2,
    idwtn,
    pad,
    set_threads,
    upcoef,
)
from ._families import families, wavelist
from ._mra import imra, imra2, imran, mra, mra2, mran
from ._mixed import MixedPlan
from ._multilevel import (
    FswavedecnResult,
    array_to_coeffs,
    coeffs_to_array,
    dwtn_max_level,
    fswavedecn,
    fswaverecn,
    ravel_coeffs,
    unravel_coeffs,
    wavedec,
    wavedec2,
    wavedecn,
    wavedecn_shapes,
    wavedecn_size,
    waverec,
    waverec2,
    waverecn,
)
from ._operator import WaveletOperator
from ._packets import BaseNode, Node, Node2D, NodeND, WaveletPacket, WaveletPacket2D, WaveletPacketND
from ._plan import Plan, Subband, Tile
from ._swt import iswt, iswt2, iswtn, swt, swt2, swt_max_level, swtn
from ._threshold import threshold, threshold_firm
from ._wavelet import (
    Modes,
    Wavelet,
    catalogue,
    emit,
    factor,
    orthogonal_filter_bank,
    plot,
    qmf,
    show,
    wavelet,
)

__all__ = [
    "BaseNode", "ContinuousWavelet", "DeviceError", "DiscreteContinuousWavelet", "FswavedecnResult", "LanguageError",
    "LiftingError", "MixedPlan", "Modes", "Node", "Node2D", "NodeND", "Plan", "Pyramid", "Subband", "Tile", "Wavelet",
    "WaveletOperator", "WaveletPacket", "WaveletPacket2D", "WaveletPacketND", "array_to_coeffs", "catalogue",
    "central_frequency", "centrfrq", "clear_cache", "coeffs_to_array", "cwt", "data", "decode", "downcoef", "dtcwt",
    "dwt", "dwt2", "dwt_coeff_len", "dwt_max_level", "dwtn", "dwtn_max_level", "emit", "encode", "factor", "families",
    "frequency2scale", "fswavedecn", "fswaverecn", "icwt", "idtcwt", "idwt", "idwt2", "idwtn", "imra", "imra2", "imran",
    "integrate_wavelet", "intwave", "iswt", "iswt2", "iswtn", "metadata", "mra", "mra2", "mran", "orthfilt",
    "orthogonal_filter_bank", "pad", "plot", "qmf", "ravel_coeffs", "scal2frq", "scale2frequency", "set_threads",
    "show", "swt", "swt2", "swt_max_level", "swtn", "threshold", "threshold_firm", "transcode", "unravel_coeffs",
    "upcoef", "wavedec", "wavedec2", "wavedecn", "wavedecn_shapes", "wavedecn_size", "wavelet", "wavelist", "waverec",
    "waverec2", "waverecn",
]
