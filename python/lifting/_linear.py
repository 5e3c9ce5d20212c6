"""Shared parts of the PyTorch and JAX modules: adjoints, and PyWavelets' transforms level by level."""

import functools
import itertools

from . import _dwt
from ._lifting import LiftingError
from ._multilevel import _cut, _sequence
from ._wavelet import of_text

#: The adjoint of each transform.
ADJOINT = {"forward": "adjoint", "adjoint": "forward", "inverse": "inverse_adjoint", "inverse_adjoint": "inverse"}

#: The wavelet of a key made by `key_of`.
wavelet_of = functools.lru_cache(maxsize=256)(of_text)


def modes_of(mode, dims):
    """Names of the modes of the last ``dims`` axes."""
    return tuple(mode.name for mode in _dwt.modes_per_axis(mode, range(dims)))


def keys(dims):
    """Keys of a level's bands, in the order of the native extension."""
    return ["".join(letters) for letters in itertools.product("ad", repeat=dims)]


def check_lengths(lengths, modes):
    """Raises an error if a transformed axis is too short for its mode."""
    for axis, (n, mode) in enumerate(zip(lengths, modes, strict=True)):
        if n == 0 or n == 1 and mode in ("reflect", "antireflect"):
            raise LiftingError(f"axis {axis - len(modes)} has {n} samples, too few for mode {mode!r}: choose another")


def analysis(x, levels, dims, one_level):
    """Several levels of analysis: ``[cAn, {…}, …, {…}]``; ``one_level`` maps data to bands by key."""
    details = []
    for _ in range(levels):
        bands = one_level(x)
        x = bands.pop("a" * dims)
        details.append(bands)
    return [x, *reversed(details)]


def synthesis(coeffs, dims, one_level):
    """Several levels of synthesis of such a list; ``one_level`` maps bands by key to data."""
    x, details = _sequence(coeffs)
    for bands in details:
        there = [band for band in bands.values() if band is not None]
        if x is not None and there:
            x = _cut(x, there[0].shape, range(x.ndim))
        x = one_level({**bands, "a" * dims: x})
    return x
