#!/usr/bin/env python3
"""Rate-distortion curves of the codec, JPEG 2000 (OpenJPEG) and HTJ2K (OpenJPH): curves.py FOLDER

Writes FOLDER/NAME.svg for each picture, and prints the table of docs/curves/README.md. Needs opj_compress,
opj_decompress, ojph_compress and ojph_expand (apt install libopenjp2-tools openjph-tools), and numpy, scikit-image and
lifting (pip install ./python)."""

import pathlib
import subprocess
import sys
import tempfile

import lifting
import numpy as np
import skimage.data

PICTURES = ["camera", "brick", "coins", "moon"]
RATES = [0.125, 0.1875, 0.25, 0.375, 0.5, 0.75, 1, 1.5, 2, 2.5, 3]
STEPS = [2.0 ** -(n / 2) for n in range(5, 17)]
COLOURS = {
    "Lifting 9/7": "#c0392b",
    "Lifting 5/3, a lossless stream cut": "#e59866",
    "JPEG 2000 9/7": "#1f618d",
    "HTJ2K 9/7": "#7fb3d5",
}


def psnr(image, back):
    error = np.mean((image.astype(float) - back.astype(float)) ** 2)
    return 10 * np.log10(255**2 / error) if error else np.inf


def write(path, image):
    path.write_bytes(b"P5\n%d %d\n255\n" % image.shape[::-1] + image.tobytes())


def read(path, shape):
    return np.frombuffer(path.read_bytes()[-shape[0] * shape[1] :], np.uint8).reshape(shape)


def run(*command):
    subprocess.run([str(word) for word in command], check=True, capture_output=True)


def curves(image):
    """The points of each coder's curve: bits a sample, and PSNR in dB."""
    points = {name: [] for name in COLOURS}
    layered = lifting.encode(image, layers=16)

    def add(name, length, back):
        points[name].append((8 * length / image.size, psnr(image, back)))

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source, stream, back = folder / "a.pgm", folder / "a.j2k", folder / "b.pgm"
        write(source, image)
        for rate in RATES:
            length = int(rate * image.size / 8)
            coded = lifting.encode(image, "cdf97", bpp=rate)
            add("Lifting 9/7", len(coded), lifting.decode(coded))
            if length < len(layered):
                add("Lifting 5/3, a lossless stream cut", length, lifting.decode(layered[:length], cut=True))
            run("opj_compress", "-i", source, "-o", stream, "-I", "-r", 8 / rate)
            run("opj_decompress", "-i", stream, "-o", back)
            add("JPEG 2000 9/7", stream.stat().st_size, read(back, image.shape))
        stream = folder / "a.j2c"
        for step in STEPS:
            run("ojph_compress", "-i", source, "-o", stream, "-qstep", step)
            run("ojph_expand", "-i", stream, "-o", back)
            add("HTJ2K 9/7", stream.stat().st_size, read(back, image.shape))
    return {name: sorted(p for p in found if np.isfinite(p[1])) for name, found in points.items()}


def more_bits(points, reference):
    """The additional bits of a curve over a reference, in per cent, on average over their common PSNR.

    Bjøntegaard's difference, by linear interpolation of the logarithm.
    """
    (bits, quality), (other, its) = (np.array(p).T for p in (points, reference))
    at = np.linspace(max(quality[0], its[0]), min(quality[-1], its[-1]), 200)
    return 100 * (np.exp(np.mean(np.interp(at, quality, np.log(bits)) - np.interp(at, its, np.log(other)))) - 1)


def svg(name, points):
    """The curves as an SVG figure."""
    width, height, left, top, right, bottom = 640, 420, 56, 34, 16, 46
    low = np.floor(min(p[1] for found in points.values() for p in found) / 5) * 5
    high = np.ceil(min(60, max(p[1] for found in points.values() for p in found)) / 5) * 5

    def place(bits, quality):
        x = left + (width - left - right) * min(bits, RATES[-1]) / RATES[-1]
        return x, height - bottom - (height - top - bottom) * (quality - low) / (high - low)

    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{width / 2}" y="20" text-anchor="middle" font-size="14">{name}</text>',
        f'<text x="{width / 2}" y="{height - 8}" text-anchor="middle">bits a sample</text>',
        f'<text transform="translate(14 {height / 2}) rotate(-90)" text-anchor="middle">PSNR in dB</text>',
    ]
    for bits in np.arange(0, RATES[-1] + 0.1, 0.5):
        x, y = place(bits, low)
        text.append(f'<path d="M{x:.1f} {y:.1f}V{top}" stroke="#ddd"/>')
        text.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{bits:g}</text>')
    for quality in np.arange(low, high + 1, 5):
        x, y = place(0, quality)
        text.append(f'<path d="M{x:.1f} {y:.1f}H{width - right}" stroke="#ddd"/>')
        text.append(f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{quality:g}</text>')
    for i, (label, colour) in enumerate(COLOURS.items()):
        line = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*p) for p in points[label] if p[0] <= RATES[-1]))
        text.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        y = height - bottom - 14 - 18 * (len(COLOURS) - 1 - i)
        text.append(f'<path d="M{width - 262} {y - 4}h24" stroke="{colour}" stroke-width="2"/>')
        text.append(f'<text x="{width - 232}" y="{y}">{label}</text>')
    return "\n".join([*text, "</svg>", ""])


def main():
    folder = pathlib.Path(sys.argv[1])
    rivals = [name for name in COLOURS if name != "JPEG 2000 9/7"]
    print("| picture |", " | ".join(rivals), "|")
    print("|---|" + "---|" * len(rivals))
    for name in PICTURES:
        points = curves(np.ascontiguousarray(getattr(skimage.data, name)()))
        (folder / f"{name}.svg").write_text(svg(name, points))
        more = (f"{more_bits(points[rival], points['JPEG 2000 9/7']):+.1f} %" for rival in rivals)
        print(f"| {name} |", " | ".join(more), "|", flush=True)


if __name__ == "__main__":
    main()
