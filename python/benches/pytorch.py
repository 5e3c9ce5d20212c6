"""Speed relative to ptwt, PyTorch's wavelets by convolution: forward, inverse, and their gradients.

    python python/benches/pytorch.py [--device cuda] [--wavelets haar,db4,bior4.4] [--times 20] [--calls 5] [--ieee]

The data is float32, in two and three dimensions, and the libraries take turns. GPU times are from the GPU's clock, with
a few calls queued one after another, as in programs; with --calls 1 the GPU waits for each call. ptwt is measured with
whole filters (`wavedec2`) and axis by axis (`fswavedec2`), and the faster one counts. Each library uses its default
border rule. A time is a median, also given in copies of the same data; ∇ is a gradient. The last line is for a small
image, whose time is that of the calls.

cuDNN rounds factors to 10 bits by PyTorch's defaults; --ieee turns that off.
"""

import argparse
import importlib.metadata
import math
import statistics
import sys
import time

import lifting
import lifting.torch as lt
import ptwt
import torch

#: Shape, number of transformed axes (the last ones), and levels.
PROBLEMS = [
    ((1, 4096, 4096), 2, 4),
    ((1, 1080, 1920), 2, 3),
    ((48, 512, 512), 2, 3),
    ((1, 256, 256, 256), 3, 3),
    ((8, 64, 64, 64), 3, 2),
    ((1, 64, 64), 2, 1),
]
#: Column titles; ∇ is the gradient.
WAYS = {"forward": "forward", "∇ forward": "its ∇", "inverse": "inverse", "∇ inverse": "its ∇"}


def seconds(run, device, calls):
    """Seconds of one run; on a GPU, the mean of ``calls`` queued runs."""
    if device.type == "cpu":
        begin = time.perf_counter()
        run()
        return time.perf_counter() - begin
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    for _ in range(calls):
        run()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 1000 / calls


def seconds_if_able(name, run, device, calls):
    """Seconds of one run; infinite, with a message, if PyTorch cannot run ptwt's convolutions."""
    try:
        return seconds(run, device, calls)
    except RuntimeError as failure:
        if name not in ("whole", "by axis"):
            raise
        print(f"ptwt, {name}: {str(failure).splitlines()[0]}", file=sys.stderr)
        return math.inf


def flat(coeffs):
    """All tensors of ptwt's nested coefficients, as a list."""
    if isinstance(coeffs, torch.Tensor):
        return [coeffs]
    return [tensor for part in (coeffs.values() if isinstance(coeffs, dict) else coeffs) for tensor in flat(part)]


def rebuilt(coeffs, tensors):
    """Coefficients nested like ``coeffs``, with tensors from an iterator."""
    if isinstance(coeffs, torch.Tensor):
        return next(tensors)
    if isinstance(coeffs, dict):
        return {key: rebuilt(part, tensors) for key, part in coeffs.items()}
    parts = [rebuilt(part, tensors) for part in coeffs]
    return type(coeffs)(*parts) if hasattr(coeffs, "_fields") else tuple(parts)


def ways(forward, inverse, x):
    """Functions to time, by column. ``forward`` returns a list of tensors, which ``inverse`` takes."""
    coeffs = [tensor.detach() for tensor in forward(x)]
    variable = x.clone().requires_grad_()
    made = forward(variable)
    variables = [tensor.clone().requires_grad_() for tensor in coeffs]
    back = inverse(variables)
    error = float((back.detach()[tuple(slice(n) for n in x.shape)] - x).abs().max())
    if error > 0.05:
        raise SystemExit(f"the reconstruction has an error of {error}: at most 0.05 is allowed")
    return {
        "forward": lambda: forward(x),
        "inverse": lambda: inverse(coeffs),
        "∇ forward": lambda: torch.autograd.grad(made, variable, coeffs, retain_graph=True),
        "∇ inverse": lambda: torch.autograd.grad(back, variables, back.detach(), retain_graph=True),
    }


def of_ptwt(analysis, synthesis, x, wavelet, level):
    """Functions to time for a pair of ptwt's functions."""
    like = analysis(x, wavelet, level=level)
    return ways(
        lambda x: flat(analysis(x, wavelet, level=level)),
        lambda coeffs: synthesis(rebuilt(like, iter(coeffs)), wavelet),
        x,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--wavelets", default="haar,db4,bior4.4")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--calls", type=int, default=5, help="calls queued together on a GPU")
    parser.add_argument("--largest", type=int, default=1 << 24, help="leave out problems with more samples")
    parser.add_argument("--ieee", action="store_true", help="disable TF32 in ptwt's convolutions")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    torch.backends.cudnn.allow_tf32 = not arguments.ieee
    torch.manual_seed(0)
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else f"{torch.get_num_threads()} threads"
    theirs = importlib.metadata.version("ptwt")
    print(f"lifting {lifting.__version__}, ptwt {theirs}, PyTorch {torch.__version__}, {where}, IEEE: {arguments.ieee}")
    print("| wavelet | data | levels | " + " | ".join(f"{way} | µs | copies" for way in WAYS.values()) + " |")
    print("|---" * (3 + 3 * len(WAYS)) + "|")
    for shape, dims, level in PROBLEMS:
        x = torch.randn(shape, device=device)
        if x.numel() > arguments.largest:
            continue
        target = torch.empty_like(x)
        for wavelet in arguments.wavelets.split(","):
            whole = getattr(ptwt, f"wavedec{dims}"), getattr(ptwt, f"waverec{dims}")
            by_axis = getattr(ptwt, f"fswavedec{dims}"), getattr(ptwt, f"fswaverec{dims}")
            runs = {
                "lifting": ways(
                    lambda x: [lt.forward(x, wavelet, level, dims=dims)],  # noqa: B023
                    lambda coeffs: lt.inverse(coeffs[0], wavelet, level, dims=dims),  # noqa: B023
                    x,
                ),
                "whole": of_ptwt(*whole, x, wavelet, level),
                "by axis": of_ptwt(*by_axis, x, wavelet, level),
                "copy": dict.fromkeys(WAYS, lambda: target.copy_(x)),  # noqa: B023
            }
            cells = []
            for way in WAYS:
                taken = {name: [] for name in runs}
                for _ in range(arguments.times):
                    for name, run in runs.items():
                        taken[name].append(seconds_if_able(name, run[way], device, arguments.calls))
                # Drops the first runs, in which cuDNN chooses algorithms.
                of = {name: statistics.median(times[len(times) // 5 :]) for name, times in taken.items()}
                ratio = min(of["whole"], of["by axis"]) / of["lifting"]
                times_faster = f"{ratio:.1f}" if ratio < math.inf else "ptwt fails"
                cells.append(f"{times_faster} | {of['lifting'] * 1e6:.0f} | {of['lifting'] / of['copy']:.1f}")
            sizes = "×".join(map(str, shape))
            print(f"| {wavelet} | {sizes} | {level} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
