"""What the modules of libraries with derivatives share: adjoints, and levels of PyWavelets' transforms one by one."""

import functools
import itertools

from . import _dwt
from ._lifting import LiftingError
from ._multilevel import _cut, _sequence
from ._wavelet import of_text

#: What takes gradients back, and what takes these back.
ADJOINT = {"forward": "adjoint", "adjoint": "forward", "inverse": "inverse_adjoint", "inverse_adjoint": "inverse"}

#: The wavelet of a key.
wavelet_of = functools.lru_cache(maxsize=256)(of_text)


def modes_of(mode, dims):
    """The name of a mode for each of the last axes."""
    return tuple(mode.name for mode in _dwt.modes_per_axis(mode, range(dims)))


def keys(dims):
    """The keys of a level's bands, in the order of the native half."""
    return ["".join(letters) for letters in itertools.product("ad", repeat=dims)]


def check_lengths(lengths, modes):
    """Axes that are transformed have samples enough for their modes."""
    for axis, (n, mode) in enumerate(zip(lengths, modes, strict=True)):
        if n == 0 or n == 1 and mode in ("reflect", "antireflect"):
            raise LiftingError(f"axis {axis - len(modes)} has {n} samples: too few for mode {mode!r}")


def analysis(x, levels, dims, one_level):
    """Levels of analysis, of which ``one_level`` takes data to bands by their keys: ``[cAn, {…}, …, {…}]``."""
    details = []
    for _ in range(levels):
        bands = one_level(x)
        x = bands.pop("a" * dims)
        details.append(bands)
    return [x, *reversed(details)]


def synthesis(coeffs, dims, one_level):
    """Levels of synthesis of such a list, of which ``one_level`` takes bands by their keys to data."""
    x, details = _sequence(coeffs)
    for bands in details:
        there = [band for band in bands.values() if band is not None]
        if x is not None and there:
            x = _cut(x, there[0].shape, range(x.ndim))
        x = one_level({**bands, "a" * dims: x})
    return x
