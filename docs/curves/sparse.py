#!/usr/bin/env python3
"""Lossless bits a sample of sparse and smooth pictures, compared with JPEG 2000: sparse.py LIFTC

Prints the table of docs/curves/README.md. Needs numpy and imagecodecs, whose JPEG 2000 is OpenJPEG."""

import pathlib
import subprocess
import sys
import tempfile

import imagecodecs
import numpy as np


def pictures():
    """Names and pictures of 512 × 512 samples."""
    random = np.random.default_rng(1)
    y, x = np.mgrid[:512, :512]
    yield "gradient", ((x * 255 / 511 + y * 100 / 511) / 1.4).astype("u1")
    yield "gradient, 16 bits", (x * 40000 / 511 + y * 20000 / 511).astype("u2")
    yield "cone", np.clip(255 - np.hypot(x - 256, y - 256) / 1.5, 0, 255).astype("u1")
    yield "mask of 0 and 65535", ((np.hypot(x - 256, y - 200) < 150) * 65535).astype("u2")
    yield "constant", np.full((512, 512), 77, "u1")
    screen = np.full((512, 512), 240, "u1")
    screen[:40], screen[:, :90] = 60, 220
    glyphs = random.random((26, 9, 6)) < 0.45
    for row in range(60, 500, 14):
        for column in range(100, 500, 7):
            screen[row : row + 9, column : column + 6][glyphs[random.integers(26)]] = 20
    yield "screen", screen
    stars = np.zeros((512, 512), "u2")
    for row, column in random.integers(2, 510, (300, 2)):
        stars[row - 1 : row + 2, column - 1 : column + 2] += np.uint16(random.integers(50, 9000))
    yield "stars", stars
    labels = np.floor(6 * np.sin(x / 50) + 5 * np.cos(y / 37 + x / 90)) + 12
    yield "labels", labels.astype("u1")
    inside = np.hypot((x - 256) / 180, (y - 256) / 220) < 1
    scan = inside * (900 + 300 * np.cos(x / 40) * np.sin(y / 30) + 60 * random.standard_normal((512, 512)))
    yield "scan, 12 bits", np.clip(scan, 0, 4095).astype("u2")
    yield "scan, stretched to 16 bits", (np.clip(scan, 0, 1600).astype("u4") * 65535 // 1600).astype("u2")


def main():
    (liftc,) = sys.argv[1:]
    print("| lossless | JPEG 2000 | Lifting | |\n|---|---|---|---|")
    more = []
    with tempfile.TemporaryDirectory() as folder:
        source, stream = pathlib.Path(folder, "a.npy"), pathlib.Path(folder, "a.lpc")
        for name, picture in pictures():
            np.save(source, picture)
            subprocess.run([liftc, "encode", source, "-o", stream], check=True, capture_output=True)
            other = len(imagecodecs.jpeg2k_encode(picture, level=0, reversible=True, codecformat="j2k"))
            other, ours = (8 * size / picture.size for size in (other, stream.stat().st_size))
            more.append(100 * (ours / other - 1))
            print(f"| {name} | {other:.3f} | {ours:.3f} | {more[-1]:+.1f} % |")
    print(f"| mean | | | {np.mean(more):+.1f} % |")


if __name__ == "__main__":
    main()
