"""Speed relative to PyWavelets: 4096², float32, 4 levels, one thread, every mode, in turns.

    python python/benches/pywavelets.py [--side 4096] [--wavelets db4,bior4.4] [--times 3] [--processor]

Ratios are of medians, followed by our time in copies of the same image. --processor compares processor time, which
depends less on other load.
"""

import argparse
import importlib.metadata
import statistics
import time

import lifting
import numpy
import pywt


def seconds(run, times, clock):
    taken = []
    for _ in range(times):
        begin = clock()
        run()
        taken.append(clock() - begin)
    return statistics.median(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--levels", type=int, default=4)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--wavelets", default="haar,db2,db4,bior4.4")
    parser.add_argument("--modes", default=",".join(pywt.Modes.modes))
    parser.add_argument("--processor", action="store_true", help="count processor time")
    arguments = parser.parse_args()
    clock = time.process_time if arguments.processor else time.perf_counter
    lifting.set_threads(1)
    image = numpy.random.default_rng(0).normal(size=(arguments.side, arguments.side)).astype("float32")
    target = numpy.empty_like(image)
    theirs = importlib.metadata.version("PyWavelets")
    print(f"lifting {lifting.__version__}, PyWavelets {theirs}, NumPy {numpy.__version__}")
    print("| wavelet | mode | forward | inverse | forward, copies | inverse, copies |")
    print("|---|---|---|---|---|---|")
    for wavelet in arguments.wavelets.split(","):
        for mode in arguments.modes.split(","):
            taken = {}
            for _ in range(2):
                for module in (pywt, lifting):
                    forward = lambda: module.wavedec2(image, wavelet, mode, arguments.levels)  # noqa: E731
                    coeffs = forward()
                    inverse = lambda: module.waverec2(coeffs, wavelet, mode)  # noqa: E731
                    times = arguments.times if module is lifting else 1
                    for name, run in (("forward", forward), ("inverse", inverse)):
                        taken.setdefault((module.__name__, name), []).append(seconds(run, times, clock))
                taken.setdefault("copy", []).append(seconds(lambda: numpy.copyto(target, image), 5, clock))
            best = {key: min(values) for key, values in taken.items()}
            ratios = [best["pywt", name] / best["lifting", name] for name in ("forward", "inverse")]
            copies = [best["lifting", name] / best["copy"] for name in ("forward", "inverse")]
            print(f"| {wavelet} | {mode} | {ratios[0]:.1f} | {ratios[1]:.1f} | {copies[0]:.1f} | {copies[1]:.1f} |")


if __name__ == "__main__":
    main()
