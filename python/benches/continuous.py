"""Speed of `cwt` relative to PyWavelets: lines of float64, 32 scales from 1 to 128, both methods, in turns.

    python python/benches/continuous.py [--lengths 1000,16000,256000] [--wavelets morl,cmor1.5-1.0,mexh] [--times 5]

Ratios are of the smallest times of both libraries.
"""

import argparse
import importlib.metadata
import time

import lifting
import numpy
import pywt


def seconds(run, times):
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", default="1000,16000,256000")
    parser.add_argument("--wavelets", default="morl,cmor1.5-1.0,mexh")
    parser.add_argument("--times", type=int, default=5)
    arguments = parser.parse_args()
    theirs = importlib.metadata.version("PyWavelets")
    print(f"lifting {lifting.__version__}, PyWavelets {theirs}, NumPy {numpy.__version__}")
    print("| samples | wavelet | conv | ms | fft | ms |")
    print("|---|---|---|---|---|---|")
    scales = numpy.geomspace(1, 128, 32)
    for length in map(int, arguments.lengths.split(",")):
        data = numpy.random.default_rng(0).normal(size=length)
        for wavelet in arguments.wavelets.split(","):
            cells = []
            for method in ("conv", "fft"):
                taken = {pywt: [], lifting: []}
                for _ in range(2):
                    for module, times in taken.items():
                        run = lambda: module.cwt(data, scales, wavelet, method=method)  # noqa: E731
                        times.append(seconds(run, arguments.times))
                ours = min(taken[lifting])
                cells.append(f"{min(taken[pywt]) / ours:.1f} | {1e3 * ours:.1f}")
            print(f"| {length} | {wavelet} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
