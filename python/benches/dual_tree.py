"""Speed of `dtcwt` and `idtcwt` relative to the `dtcwt` package: a line, an image and a volume of float64, in turns.

    OPENBLAS_NUM_THREADS=1 python python/benches/dual_tree.py [--times 7]

Ratios are of the medians of both libraries.
"""

import argparse
import importlib.metadata
import statistics
import time

import lifting
import numpy

# Version 0.14.0 needs functions of NumPy 1.
numpy.asfarray = lambda x, dtype=None: numpy.asarray(x, dtype if dtype and dtype.kind in "fc" else float)
numpy.issubsctype = numpy.issubdtype
import dtcwt  # noqa: E402

CASES = [((16_000,), 5), ((512, 512), 4), ((64, 64, 64), 3)]


def milliseconds(run, times):
    run()
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        taken.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=7)
    times = parser.parse_args().times
    theirs = importlib.metadata.version("dtcwt")
    print(f"lifting {lifting.__version__}, dtcwt {theirs}, NumPy {numpy.__version__}")
    print("| data | levels | forward | ms | inverse | ms |")
    print("|---|---|---|---|---|---|")
    for shape, level in CASES:
        data = numpy.random.default_rng(0).normal(size=shape)
        transform = (dtcwt.Transform1d, dtcwt.Transform2d, dtcwt.Transform3d)[len(shape) - 1]()
        made, expected = lifting.dtcwt(data, level), transform.forward(data.copy(), level)
        cells = []
        for ours, others in (
            (lambda: lifting.dtcwt(data, level), lambda: transform.forward(data.copy(), level)),
            (lambda: lifting.idtcwt(made), lambda: transform.inverse(expected)),
        ):
            ours, others = (statistics.median(milliseconds(run, times) for _ in range(3)) for run in (ours, others))
            cells.append(f"{others / ours:.1f} | {ours:.2f}")
        print(f"| {'×'.join(map(str, shape))} | {level} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
