"""A pytest plugin that makes `import pywt` import `lifting`, for test files written for PyWavelets.

`pywt.data`, with images and signals only, stays PyWavelets' own.
"""

import importlib
import sys
import types

import numpy.exceptions

import lifting
from lifting import _swt

real = importlib.import_module("pywt.data")
for name in [name for name in sys.modules if name == "pywt" or name.startswith("pywt.")]:
    del sys.modules[name]

#: Private modules that PyWavelets' tests import, with lifting's counterparts.
SUBMODULES = {
    "_extensions": {},
    "_extensions._pywt": {"Modes": lifting.Modes, "Wavelet": lifting.Wavelet},
    "_extensions._swt": {"swt_axis": _swt.swt_axis},
    "_utils": {"AxisError": numpy.exceptions.AxisError},
}

pywt = types.ModuleType("pywt")
pywt.__dict__.update({name: value for name, value in vars(lifting).items() if not name.startswith("__")})
pywt.__path__ = []
pywt.__file__ = __file__
sys.modules["pywt"] = pywt
for name, contents in SUBMODULES.items():
    module = types.ModuleType(f"pywt.{name}")
    module.__path__ = []
    module.__dict__.update(contents)
    sys.modules[module.__name__] = module
    parent, _, last = name.rpartition(".")
    setattr(sys.modules[f"pywt.{parent}"] if parent else pywt, last, module)
pywt.data = sys.modules["pywt.data"] = real
