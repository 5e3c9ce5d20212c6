"""Writes tests/data/reference/: coefficients of crops of real pictures, and checksums of whole ones.

    python tests/reference/generate.py

Needs numpy, pillow and PyWavelets. The Rust tests (tests/tests/reference.rs) hold the oracle to these files.
"""

import json
from pathlib import Path

import numpy as np
import pywt
from PIL import Image

import ccsds
import jpeg2000
import vc2

DATA = Path(__file__).parent.parent / "data"
OUT = DATA / "reference"


def fnv(array):
    """FNV-1a of the little-endian 32-bit samples."""
    h = 0xCBF29CE484222325
    for b in np.ascontiguousarray(array, dtype="<i4").tobytes():
        h = (h ^ b) * 0x100000001B3 % 2**64
    return f"{h:016x}"


def noise(shape, span):
    """Reproducible samples in ±span: a 64-bit linear congruential generator."""
    state, values = 1, []
    for _ in range(shape[0] * shape[1]):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append((state >> 33) % (2 * span + 1) - span)
    return np.array(values).reshape(shape)


def save(name, array):
    dtype = np.float64 if array.dtype == np.float64 else np.int32
    assert dtype == np.float64 or np.abs(array).max() < 2**31
    if dtype == np.int32 and np.abs(array).max() < 2**15:
        dtype = np.int16
    np.save(OUT / f"{name}.npy", array.astype(dtype))


def pywavelets():
    """One level of x by every wavelet that is PyWavelets' under another name."""
    splines = [f"bior{p}.{q}" for p, qs in {1: [1, 3, 5], 2: [2, 4, 6, 8], 3: [1, 3, 5, 7, 9]}.items() for q in qs]
    x = (noise((1, 32), 1000)[0]).tolist()
    out = {"x": x, "periodization": {}, "reflect": {}}
    for name in ["haar", "db1", "rbio1.1", *splines, "bior4.4"]:
        low, high = pywt.dwt(x, name, mode="periodization")
        out["periodization"][name] = [low.tolist(), high.tolist()]
    # Filters of odd length: reflection of the signal and of each step's reads agree. Odd and even lengths of x.
    for name in [s for s in splines if s.startswith("bior2")] + ["bior4.4"]:
        for n in (31, 32):
            low, high = pywt.dwt(x[:n], name, mode="reflect")
            out["reflect"][f"{name} {n}"] = [low.tolist(), high.tolist()]
    (OUT / "pywavelets.json").write_text(json.dumps(out, indent=1) + "\n")


def projections():
    """What PyWavelets makes of noise, forward and inverse, four levels, one to three axes, for each of its 105 wavelets that
    reconstruct: inner products of the result with four vectors of signs, so that no coefficient goes unseen."""
    lines = ["# PyWavelets " + pywt.__version__ + ": name, axes, direction, norm, four inner products with signs"]
    names = [n for f in ["haar", "db", "sym", "coif", "bior", "rbio"] for n in pywt.wavelist(f)]
    assert len(names) == 105
    for name in names:
        for shape in [(256,), (32, 48), (16, 16, 32)]:
            x = noise((1, int(np.prod(shape))), 1000).astype(float).reshape(shape)
            zero = pywt.wavedecn(0 * x, name, mode="periodization", level=4)
            slices = pywt.coeffs_to_array(zero)[1]
            forward = pywt.coeffs_to_array(pywt.wavedecn(x, name, mode="periodization", level=4))[0]
            assert forward.shape == shape
            coefficients = pywt.array_to_coeffs(x, slices, output_format="wavedecn")
            inverse = pywt.waverecn(coefficients, name, mode="periodization")
            signs = np.sign(noise((1, 4 * x.size), 1 << 30)).reshape(4, x.size)
            for direction, y in [("forward", forward), ("inverse", inverse)]:
                numbers = [np.linalg.norm(y), *(signs @ y.ravel())]
                lines.append(f"{name} {len(shape)} {direction} " + " ".join(repr(float(v)) for v in numbers))
    (OUT / "pywavelets.txt").write_text("\n".join(lines) + "\n")


def main():
    OUT.mkdir(exist_ok=True)
    camera = np.array(Image.open(DATA / "camera.png")).astype(np.int64)
    chelsea = np.array(Image.open(DATA / "chelsea.png")).astype(np.int64)
    sums = []

    def whole(name, array):
        sums.append(f"{name} {fnv(array)}")

    # VC-2: a crop, the whole picture, and the standard's synthesis of noise.
    for name in vc2.FILTERS:
        crop = camera[96:128, 200:240]
        coefficients = vc2.analysis(crop, name, 3)
        assert (vc2.synthesis(coefficients, name, 3) == crop).all()
        save(f"vc2-{name}", coefficients)
        whole(f"vc2-{name}-camera", vc2.analysis(camera, name, 3))
        whole(f"vc2-{name}-noise", vc2.synthesis(noise((48, 64), 2000), name, 4))

    # JPEG 2000: odd sizes and odd tile coordinates.
    crop = chelsea[100:137, 201:230, 1]
    for v0, u0 in [(0, 0), (1, 0), (0, 1), (5, 3), (10, 7)]:
        save(f"jpeg2000-53-{v0}-{u0}", jpeg2000.analysis(crop, 3, True, v0, u0))
    for v0, u0 in [(0, 0), (5, 3)]:
        save(f"jpeg2000-97-{v0}-{u0}", jpeg2000.analysis(crop, 3, False, v0, u0))
    # Thin tiles: lines of one sample at even and odd places.
    for v0 in (0, 1):
        save(f"jpeg2000-thin-{v0}", jpeg2000.analysis(crop[:1, :11], 3, True, v0, 3))
        save(f"jpeg2000-thin97-{v0}", jpeg2000.analysis(crop[:1, :11], 3, False, v0, 3))
    whole("jpeg2000-53-camera", jpeg2000.analysis(camera, 5, True))
    for channel in range(3):
        whole(f"jpeg2000-53-chelsea-{channel}", jpeg2000.analysis(chelsea[:, :, channel], 3, True, 1, 1))

    # CCSDS.
    save("ccsds", ccsds.analysis(camera[40:88, 300:364], 3))
    whole("ccsds-camera", ccsds.analysis(camera[:256, :320], 3))

    (OUT / "checksums.txt").write_text("\n".join(sums) + "\n")
    pywavelets()
    projections()


if __name__ == "__main__":
    main()
