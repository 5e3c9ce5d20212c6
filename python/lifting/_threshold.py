"""Thresholds for coefficients."""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ._dwt import as_array
from ._types import Array


def _scaled(data, value, substitute, gain):
    """Data times ``gain`` of its magnitude, at least 0.

    NaN stays NaN. ``substitute`` replaces magnitudes below ``value``."""
    magnitude = np.abs(data)
    if np.ndim(value) == 0 and 0 < value < math.inf and data.ndim:
        # The factor is 0 where the magnitude is; adding 0 makes zeros positive.
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = gain(magnitude)
            scaled = data * np.maximum(factor, 0, out=factor)
        scaled += 0
        return np.where(magnitude < value, substitute, scaled) if substitute else scaled
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = gain(magnitude).clip(min=0, max=None, out=None)
        scaled = data * factor
    scaled = np.where((factor <= 0) | (magnitude == 0), 0, scaled).astype(scaled.dtype, copy=False)
    return np.where(magnitude < value, substitute, scaled) if substitute else scaled


def threshold(
    data: ArrayLike,
    value: float,
    mode: Literal['soft', 'hard', 'garrote', 'garotte', 'greater', 'less'] = "soft",
    substitute: float = 0,
) -> Array:
    """Replaces small values of the data by ``substitute``.

    Of the other magnitudes, ``soft`` subtracts ``value``, ``garrote`` subtracts ``value²/|x|``, and ``hard`` nothing.
    ``greater`` replaces values below ``value``, ``less`` values above it.

    Parameters
    ----------
    data : array_like
        Data.
    value : float
        Threshold.
    mode : {'soft', 'hard', 'garrote', 'greater', 'less'}, optional
        Kind of the threshold.
    substitute : float, optional
        Replacement of small values.

    Returns
    -------
    numpy.ndarray
        Thresholded data.

    Examples
    --------
    >>> threshold([-3, 1, 2], 1.5).tolist()
    [-1.5, 0.0, 0.5]
    >>> threshold([-3, 1, 2], 1.5, "hard", -9).tolist()
    [-3, -9, 2]
    >>> threshold([1, 2, 3], 2, "soft", -9).tolist()
    [-9.0, 0.0, 1.0]
    """
    data = as_array(data)
    if mode in ("soft", "garotte", "garrote"):
        power = 1 if mode == "soft" else 2
        return _scaled(data, value, substitute, lambda magnitude: 1 - (value / magnitude) ** power)
    if mode == "hard":
        return np.where(np.abs(data) < value, substitute, data)
    if mode in ("greater", "less"):
        if np.iscomplexobj(data):
            raise ValueError(f"the threshold {mode} takes only real data")
        return np.where(data < value if mode == "greater" else data > value, substitute, data)
    raise ValueError(f"unknown threshold {mode!r}; choose one of soft, hard, garrote, greater, less")


def threshold_firm(data: ArrayLike, value_low: float, value_high: float) -> Array:
    """Firm (semi-soft) threshold: zero below ``value_low``, unchanged above ``value_high``, linear between.

    Parameters
    ----------
    data : array_like
        Data.
    value_low : float
        Magnitudes up to this one become zero.
    value_high : float
        Magnitudes above this one stay.

    Returns
    -------
    numpy.ndarray
        Thresholded data.

    Examples
    --------
    >>> threshold_firm([1.0, 2.5, 5.0], 2, 4).round(6).tolist()
    [0.0, 1.0, 5.0]
    """
    if value_low < 0:
        raise ValueError(f"invalid value_low {value_low}: it must be at least 0")
    if value_high < value_low:
        raise ValueError(f"invalid value_high {value_high}: it must be at least value_low, {value_low}")
    data = as_array(data)
    magnitude = np.abs(data)
    if value_low == value_high:
        return np.where(magnitude < value_low, 0, data)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = value_high * (1 - value_low / magnitude) / (value_high - value_low)
    return np.where(magnitude > value_high, data, data * np.where(magnitude > value_low, between, 0))
