"""PyWavelets' modes in `lifting.torch`: bits of the NumPy functions, and gradients of every order."""

import lifting
import numpy as np
import pytest
from bits import same
from needs import need, need_gpu

torch = need("torch")
import lifting.torch as lt  # noqa: E402
from lifting import _torch_modes  # noqa: E402

MODES = lifting.Modes.modes
WAVELETS = ["haar", "db3", "sym4", "coif1", "bior2.2", "rbio3.1", "bior4.4"]
#: A wavelet that is exact for small integers.
EXACT = "wavelet exact { domain real; odd -= 1/2*even[0] + 1/2*even[1]; even += 1/4*odd[-1] + 1/2*odd[0]; }"


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)


def flat(coeffs):
    """Flattens coefficients into a list of bands."""
    return [coeffs[0], *(band for level in coeffs[1:] for band in level.values())]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_bits_equal_those_of_numpy_arrays(mode, dims):
    x = torch.randn(2, 6, 9, 12)
    for wavelet in ("db3", "bior2.2"):
        axes = range(4 - dims, 4)
        coeffs = lt.wavedecn(x, wavelet, mode, 2, dims=dims)
        expected = lifting.wavedecn(x.numpy(), wavelet, mode, 2, axes)
        for ours, theirs in zip(coeffs[1:], expected[1:], strict=True):
            assert list(ours) == [key for key in sorted(theirs)]
            assert all(ours[key].numpy().tobytes() == theirs[key].tobytes() for key in ours)
        assert coeffs[0].numpy().tobytes() == expected[0].tobytes()
        back = lifting.waverecn(expected, wavelet, mode, axes)
        assert lt.waverecn(coeffs, wavelet, mode, dims=dims).numpy().tobytes() == back.tobytes()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("wavelet", WAVELETS)
def test_gradients(wavelet, mode):
    x = torch.randn(2, 5, 8, dtype=torch.float64, requires_grad=True)

    def forward(x):
        return tuple(flat(lt.wavedecn(x, wavelet, mode, 2)))

    assert torch.autograd.gradcheck(forward, x, fast_mode=True)
    assert torch.autograd.gradgradcheck(forward, x, fast_mode=True)
    bands = [band.detach().requires_grad_() for band in forward(x)]

    def inverse(*bands):
        like = lt.wavedecn(x.detach(), wavelet, mode, 2)
        details = iter(bands[1:])
        return lt.waverecn([bands[0], *({key: next(details) for key in level} for level in like[1:])], wavelet, mode)

    assert torch.autograd.gradcheck(inverse, bands, fast_mode=True)
    assert torch.autograd.gradgradcheck(inverse, bands, fast_mode=True)


def everything(x, wavelet, mode, dims):
    """Bands, their synthesis, and the gradients of both."""
    x = x.clone().requires_grad_()
    bands = flat(lt.wavedecn(x, wavelet, mode, 2, dims=dims))
    (gradient,) = torch.autograd.grad(sum(band.square().sum() for band in bands), x)
    low, *details = lt.wavedecn(x.detach(), wavelet, mode, 2, dims=dims)
    low.requires_grad_()
    back = lt.waverecn([low, *details], wavelet, mode, dims=dims)
    some = lt.waverecn([low, {}, details[-1]], wavelet, mode, dims=dims)
    return *bands, gradient, back, some, torch.autograd.grad(back.square().sum(), low)[0]


@pytest.mark.parametrize("mode", MODES)
def test_plans_of_devices_have_the_same_bits(mode, monkeypatch):
    for shape, dims, dtype in [((2, 5), 1, torch.float64), ((2, 3, 5, 4), 2, torch.float16)]:
        x = torch.randn(shape).to(dtype)
        expected = everything(x, "db2", mode, dims)
        with monkeypatch.context() as context:
            # The interpreter of GPU kernels takes tensors in host memory.
            context.setattr(_torch_modes, "_device", lambda tensor: "interpreter")
            got = everything(x, "db2", mode, dims)
        assert all(same(a.detach(), b.detach()) for a, b in zip(got, expected, strict=True))


@pytest.mark.gpu
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("wavelet", ["haar", "db4", "bior4.4"])
def test_a_gpu_has_the_same_bits(wavelet, mode):
    need_gpu(torch)
    for shape, dims in [((3, 101), 1), ((2, 3, 61, 130), 2), ((2, 17, 20, 33), 3)]:
        for dtype in (torch.float32, torch.float64, torch.float16):
            x = torch.randn(shape).to(dtype)
            expected, got = everything(x, wavelet, mode, dims), everything(x.cuda(), wavelet, mode, dims)
            assert all(same(a.detach(), b.detach().cpu()) for a, b in zip(expected, got, strict=True))
    x = torch.randn(2, 9, 12, dtype=torch.float64, device="cuda").requires_grad_()
    assert torch.autograd.gradcheck(lambda x: tuple(flat(lt.wavedecn(x, wavelet, mode, 1))), x, fast_mode=True)
    run = torch.compile(lambda x: lt.wavedec2(x, wavelet, mode, 1)[0] * 2, fullgraph=True, backend="aot_eager")
    assert torch.equal(run(x.detach()), lt.wavedec2(x.detach(), wavelet, mode, 1)[0] * 2)


@pytest.mark.parametrize("mode", MODES)
def test_gradients_are_the_transpose(mode):
    wavelet = lifting.wavelet(EXACT)
    x = torch.randint(-9, 9, (3, 7, 10)).double().requires_grad_()
    bands = flat(lt.wavedecn(x, wavelet, mode, 1))
    y = [torch.randint(-9, 9, band.shape).double() for band in bands]
    (gradient,) = torch.autograd.grad(bands, x, y)
    assert sum((a * b).sum() for a, b in zip(bands, y, strict=True)) == (x * gradient).sum()


def test_types_of_samples():
    x = torch.randn(3, 9, 14, dtype=torch.float64)
    expected = lt.wavedec2(x, "db2", level=2)[1][0]
    for dtype, bound in ((torch.float32, 1e-5), (torch.float16, 2e-2), (torch.bfloat16, 2e-1)):
        given = x.to(dtype).requires_grad_()
        got = lt.wavedec2(given, "db2", level=2)
        assert got[0].dtype == dtype and (got[1][0].double() - expected).abs().max() < bound
        assert torch.autograd.grad(got[0].sum(), given)[0].dtype == dtype
    z = torch.complex(x, x.flip(-1)).requires_grad_()
    coeffs = lt.wavedec(z, "db2", "smooth", 2)
    assert torch.equal(coeffs[1].real, lt.wavedec(z.real, "db2", "smooth", 2)[1])
    assert torch.allclose(lt.waverec(coeffs, "db2", "smooth"), z)
    assert torch.autograd.gradcheck(lambda z: lt.wavedec(z, "db2", "smooth", 1)[1], z, fast_mode=True)
    assert lt.wavedec2(torch.zeros(0, 4, 4), "haar")[0].shape == (0, 1, 1)


def test_graphs_batches_and_forward_mode():
    def run(x):
        coeffs = lt.wavedec2(x, "db2", "reflect", 2)
        return lt.waverec2([coeffs[0].tanh(), *coeffs[1:]], "db2", "reflect").sin()

    x, v = torch.randn(2, 4, 6, 8, dtype=torch.float64)
    compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
    given = x.clone().requires_grad_()
    expected, got = (torch.autograd.grad(function(given).sum(), given)[0] for function in (run, compiled))
    assert torch.equal(expected, got) and torch.equal(run(x), compiled(x))
    assert torch.equal(torch.vmap(run)(x), run(x))
    _, tangent = torch.func.jvp(run, (x,), (v,))
    assert torch.allclose(tangent, torch.autograd.functional.jvp(run, x, v)[1])
    assert torch.allclose(torch.func.jacfwd(run)(x[:1]), torch.func.jacrev(run)(x[:1]))


def test_missing_bands_are_zero():
    low, (horizontal, vertical, diagonal) = lt.wavedec2(torch.randn(6, 9), "db2", level=1)
    low.requires_grad_()
    some = lt.waverec2([low, (None, vertical, None)], "db2")
    zeros = torch.zeros_like(low)
    assert torch.equal(some, lt.waverec2([low, (zeros, vertical, zeros)], "db2"))
    assert torch.autograd.grad(some.sum(), low)[0].shape == low.shape


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lt.wavedec2(np.zeros((4, 4)), "haar"), "must be a tensor"),
        (lambda: lt.wavedec2(torch.zeros(4), "haar"), "invalid number of axes 2: the tensor allows 1 to 1"),
        (lambda: lt.wavedec2(torch.zeros(4, 4, dtype=torch.int32), "haar"), "unsupported sample type torch.int32"),
        (lambda: lt.wavedec2(torch.zeros(4, 4), "dd137", level=1), "is an integer wavelet"),
        (lambda: lt.wavedec2(torch.zeros(4, 1), "haar", "reflect", 1), "axis -1 has 1 samples"),
        (lambda: lt.wavedec2(torch.zeros(4, 4, device="meta"), "haar", level=1), "not on meta"),
    ],
)
def test_errors(make, message):
    with pytest.raises(lifting.LiftingError, match=message):
        make()
