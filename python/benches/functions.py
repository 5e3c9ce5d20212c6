"""Times of PyWavelets' functions compared with PyWavelets, one thread: `python functions.py [SECONDS A ROW]`.

Prints a table: the speed-up by medians, the median time in µs, and the fastest and the slowest of seven.
"""

import statistics
import sys
import time

import lifting
import numpy as np
import pywt

RUNS = 7
rng = np.random.default_rng(0)
line, short = rng.normal(size=4096), rng.normal(size=64)
image, volume = rng.normal(size=(512, 512)), rng.normal(size=(64, 64, 64))
#: Forward functions with their inverses and arguments.
PAIRS = [
    ("dwt", "idwt", short, "db2", ()),
    ("dwt", "idwt", line, "db4", ()),
    ("dwt2", "idwt2", image, "db4", ()),
    ("dwtn", "idwtn", volume, "db4", ()),
    ("dwt2", "idwt2", image + 1j * image, "db4", ()),
    ("wavedec", "waverec", line, "db4", ()),
    ("wavedec2", "waverec2", image, "db4", ()),
    ("wavedecn", "waverecn", volume, "db4", ()),
    ("fswavedecn", "fswaverecn", image, "db4", ()),
    ("swt", "iswt", line, "db4", (3,)),
    ("swt2", "iswt2", image, "db4", (3,)),
    ("swtn", "iswtn", volume, "db4", (2,)),
    ("mra", "imra", line, "db4", (3,)),
    ("mra2", "imra2", image, "db4", (2,)),
]
MODES, KINDS = ("symmetric", "smooth", "antisymmetric"), ("soft", "hard", "garrote")
OTHERS = [
    *((f"pad, {mode}", lambda p, mode=mode: p.pad(image, 8, mode)) for mode in MODES),
    *((f"threshold, {kind}", lambda p, kind=kind: p.threshold(image, 0.5, kind)) for kind in KINDS),
    ("threshold_firm", lambda p: p.threshold_firm(image, 0.5, 1)),
    ("WaveletPacket, 5 levels", lambda p: p.WaveletPacket(line, "db4", maxlevel=5).get_level(5)),
    ("WaveletPacket2D, 3 levels", lambda p: p.WaveletPacket2D(image, "db4", maxlevel=3).get_level(3)),
    ("upcoef, 5 levels", lambda p: p.upcoef("a", short, "db4", 5)),
    ("coeffs_to_array", lambda p: p.coeffs_to_array(COEFFS)),
    ("ravel_coeffs", lambda p: p.ravel_coeffs(COEFFS)),
    ("dwt2, bank of 62 taps", lambda p: p.dwt2(image, BANKS[p])),
    ("swt, bank of 62 taps", lambda p: p.swt(line, BANKS[p], 3)),
    ("Wavelet, bank", lambda p: p.Wavelet("bank", BANKS[p].filter_bank)),
]
COEFFS = pywt.wavedec2(image, "db4", level=3)
BANKS = {p: p.Wavelet("bank", pywt.Wavelet("dmey").filter_bank) for p in (pywt, lifting)}


def times(call, seconds):
    """Microseconds of a call, sorted."""
    call()
    began = time.perf_counter()
    call()
    count = max(1, int(seconds / RUNS / (time.perf_counter() - began)))
    made = []
    for _ in range(RUNS):
        began = time.perf_counter()
        for _ in range(count):
            call()
        made.append((time.perf_counter() - began) / count * 1e6)
    return sorted(made)


def row(name, call, seconds):
    ours, theirs = times(lambda: call(lifting), seconds), times(lambda: call(pywt), seconds)
    speed_up = statistics.median(theirs) / statistics.median(ours)
    print(f"| {name} | {speed_up:.1f} | {statistics.median(ours):.1f} | {ours[0]:.1f} to {ours[-1]:.1f} |", flush=True)


if __name__ == "__main__":
    seconds = float(sys.argv[1]) if sys.argv[1:] else 0.3
    lifting.set_threads(1)
    print("| function | speed-up | µs | spread |\n|---|---|---|---|")
    for forward, inverse, x, wavelet, arguments in PAIRS:
        size = "×".join(map(str, x.shape)) + (", complex" if x.dtype.kind == "c" else "")
        row(f"`{forward}`, {size}", lambda p: getattr(p, forward)(x, wavelet, *arguments), seconds)
        made = {p: getattr(p, forward)(x, wavelet, *arguments) for p in (pywt, lifting)}
        given = () if inverse.startswith(("imra", "fs")) else (wavelet,)
        parts = inverse == "idwt"
        row(f"`{inverse}`", lambda p: getattr(p, inverse)(*(made[p] if parts else [made[p]]), *given), seconds)
    for name, call in OTHERS:
        row(f"`{name.replace(', ', '`, ', 1)}" + ("" if ", " in name else "`"), call, seconds)
