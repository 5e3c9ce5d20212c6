"""A pytest plugin that makes `import pywt` import `lifting`, for test files written for PyWavelets.

Recorded signals and images of `pywt.data` stay PyWavelets' own, since lifting's are synthetic. So does `pywt._pytest`,
which reads recorded results.
"""

import importlib
import sys
import types

import numpy.exceptions

import lifting
from lifting import _swt

recorded = importlib.import_module("pywt.data")
helpers = importlib.import_module("pywt._pytest")
for name in [name for name in sys.modules if name == "pywt" or name.startswith("pywt.")]:
    del sys.modules[name]

#: Private modules that PyWavelets' tests import, with lifting's counterparts.
SUBMODULES = {
    "_extensions": {},
    "_extensions._pywt": {
        "ContinuousWavelet": lifting.ContinuousWavelet,
        "Modes": lifting.Modes,
        "Wavelet": lifting.Wavelet,
    },
    "data": {name: getattr(recorded, name) for name in lifting.data.__all__}
    | {"demo_signal": lifting.data.demo_signal},
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
pywt._pytest = sys.modules["pywt._pytest"] = helpers
