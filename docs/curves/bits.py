#!/usr/bin/env python3
"""Bits a sample of the codec, JPEG 2000 (OpenJPEG) and HTJ2K (OpenJPH): bits.py LIFTC PICTURE.pgm...

Compares lossless streams, and the smallest ones that reach 40 dB; prints the tables of docs/curves/README.md.
Pictures are 8-bit grey PGM. Needs opj_compress, opj_decompress, ojph_compress and ojph_expand (apt install
libopenjp2-tools openjph-tools), and numpy."""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

WANTED = 40.0


def read(path, shape=None):
    """The samples of a PGM. A known shape skips parsing the header, in which some programs write comments."""
    if shape is None:
        magic, width, height, white = path.read_bytes().split(maxsplit=4)[:4]
        assert (magic, white) == (b"P5", b"255"), f"{path}: expected an 8-bit grey PGM"
        shape = int(height), int(width)
    return np.frombuffer(path.read_bytes()[-shape[0] * shape[1] :], np.uint8).reshape(shape)


def run(*command):
    subprocess.run([str(word) for word in command], check=True, capture_output=True)


class Bits:
    """Results of all coders for one picture."""

    def __init__(self, liftc, picture, folder):
        self.liftc, self.picture, self.image = liftc, picture, read(picture)
        self.back = folder / "back.pgm"
        self.streams = {end: folder / f"a.{end}" for end in ("lpc", "j2k", "j2c")}

    def size(self, end):
        return 8 * self.streams[end].stat().st_size / self.image.size

    def psnr(self):
        error = np.mean((self.image.astype(float) - read(self.back, self.image.shape).astype(float)) ** 2)
        return 10 * np.log10(255**2 / error) if error else np.inf

    def lifting(self, *options):
        run(self.liftc, "encode", self.picture, "-o", self.streams["lpc"], *options)
        return self.size("lpc")

    def jpeg2000(self, *options):
        run("opj_compress", "-i", self.picture, "-o", self.streams["j2k"], *options)
        return self.size("j2k")

    def ht(self, *options):
        run("ojph_compress", "-i", self.picture, "-o", self.streams["j2c"], *options)
        return self.size("j2c")

    def at_wanted(self, coded, back, low, high):
        """The size, in bits a sample, at the largest parameter from low to high that reaches the wanted PSNR."""
        best = np.inf
        for _ in range(12):
            middle = (low * high) ** 0.5
            bits = coded(middle)
            run(*back, "-o", self.back)
            if self.psnr() >= WANTED:
                low, best = middle, min(best, bits)
            else:
                high = middle
        return best

    def lossless(self):
        both = [self.lifting(), self.lifting("--passes", 3)]
        return [self.jpeg2000(), self.ht("-reversible", "true"), *both]

    def lossy(self):
        expand = ("opj_decompress", "-i", self.streams["j2k"])
        other = self.at_wanted(lambda rate: self.jpeg2000("-I", "-r", rate), expand, 2, 200)
        expand = ("ojph_expand", "-i", self.streams["j2c"])
        ht = self.at_wanted(lambda step: self.ht("-qstep", f"{step:.6f}"), expand, 0.001, 0.5)
        return [other, ht, *(self.lifting("--psnr", WANTED, "--passes", passes) for passes in (2, 3))]


def table(title, rows):
    print(f"\n| {title} | JPEG 2000 | HTJ2K | Lifting | | 3 passes | |\n|---|---|---|---|---|---|---|")
    more = []
    for name, (other, ht, *ours) in rows:
        more.append([100 * (bits / other - 1) for bits in (ht, *ours)])
        cells = "".join(f" {bits:.3f} | {m:+.1f} % |" for bits, m in zip(ours, more[-1][1:]))
        print(f"| {name} | {other:.3f} | {ht:.3f} |{cells}", flush=True)
    ht, *ours = np.mean(more, axis=0)
    print(f"| mean | | {ht:+.1f} % |" + "".join(f" | {m:+.1f} % |" for m in ours))


def main():
    liftc, *pictures = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        all_of = [Bits(liftc, pathlib.Path(picture), pathlib.Path(folder)) for picture in pictures]
        table("lossless", ((bits.picture.stem, bits.lossless()) for bits in all_of))
        table(f"at {WANTED:g} dB", ((bits.picture.stem, bits.lossy()) for bits in all_of))


if __name__ == "__main__":
    main()
