"""`lifting.torch`: bits of plans, gradients of every order, half precision, compiled graphs, learnt taps."""

import lifting
import numpy as np
import pytest
from needs import need, need_gpu

torch = need("torch")
import lifting.torch as lt  # noqa: E402

#: Wavelets of each family of the catalogue.
FAMILIES = "haar db2 db4 sym5 coif2 bior2.4 bior3.5 rbio3.1 cdf97 legall53f".split()
BOUNDARIES = ["whole-symmetric", "half-symmetric", "periodic", "edge", "zero"]


def families():
    """Real wavelets: one of each family of the catalogue, and the common ones."""
    seen, chosen = set(), []
    for name, (family, _) in lifting.catalogue().items():
        usual = name in FAMILIES
        if (usual or family not in seen) and lifting.Wavelet(name).domain == "real":
            seen.add(family)
            chosen.append(name)
    return chosen


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("wavelet", families())
def test_gradients(wavelet, boundary):
    shape = (2, 6, 8) if boundary == "periodic" else (2, 5, 7)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    for function in (lt.forward, lt.inverse):
        levels = 1 if boundary == "periodic" else 2

        def run(x, function=function, levels=levels):
            return function(x, wavelet, levels, boundary=boundary)

        assert torch.autograd.gradcheck(run, x, fast_mode=True)
        assert torch.autograd.gradgradcheck(run, x, fast_mode=True)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_every_number_of_axes(dims):
    x = torch.randn(2, 4, 8, 12, dtype=torch.float64, requires_grad=True)
    plan = lifting.Plan(x.shape, "db3", 2, "float64", axes=range(4 - dims, 4))
    y = lt.forward(x, "db3", 2, dims=dims)
    assert y.detach().numpy().tobytes() == plan.forward(x.detach().numpy()).tobytes()
    made = [getattr(lt, f"{way}{dims}d")("db3", 2) for way in ("Forward", "Inverse")]
    assert torch.equal(made[0](x), y) and torch.allclose(made[1](y), x)
    assert torch.autograd.gradcheck(made[0], x[:1, :, :4, :4].detach().requires_grad_())
    y.square().sum().backward()
    assert x.grad.numpy().tobytes() == plan.adjoint(2 * y.detach().numpy()).tobytes()
    assert list(made[0].bands(y)) == list(plan.subbands)


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float16, 2e-2), (torch.bfloat16, 1e-1)])
def test_half_precision(dtype, bound):
    x = torch.randn(3, 17, 30)
    half, single = (x.to(kind).requires_grad_() for kind in (dtype, torch.float32))
    results = [lt.forward(given, "cdf97", 2) for given in (half, single)]
    assert results[0].dtype == dtype and (results[0].float() - results[1]).abs().max() < bound * 4
    for y in results:
        y.float().square().sum().backward()
    assert half.grad.dtype == dtype and (half.grad.float() - single.grad).abs().max() < bound * 10
    with torch.autocast("cpu", dtype):
        assert torch.equal(lt.forward(half, "cdf97", 2), results[0])
        assert lt.forward(single, "cdf97", 2).dtype == torch.float32


def test_integers_are_lossless_and_complex_samples_are_pairs():
    x = torch.randint(-(2**15), 2**15, (2, 9, 11), dtype=torch.int16)
    assert torch.equal(lt.inverse(lt.forward(x, "dd137", 3), "dd137", 3), x)
    z = torch.randn(8, 12, dtype=torch.complex128, requires_grad=True)
    y = lt.forward(z, "db2", 2)
    assert torch.equal(y.real, lt.forward(z.real, "db2", 2))
    assert torch.equal(lt.forward(z.conj(), "db2", 2), y.conj().resolve_conj())
    assert torch.autograd.gradcheck(lambda z: lt.forward(z, "db2", 2), z)
    assert lt.forward(torch.zeros(0, 4, 4)).shape == (0, 4, 4)


def test_compiled_in_one_graph():
    def loss(x):
        return lt.inverse(lt.forward(x, "cdf97", 2).tanh(), "cdf97", 2).square().sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    x = torch.randn(3, 16, 20, requires_grad=True)
    expected, got = (torch.autograd.grad(function(x), x)[0] for function in (loss, compiled))
    assert torch.equal(expected, got) and torch.equal(loss(x), compiled(x))
    layer = torch.compile(lt.Forward2d(lifting.Wavelet("db4"), 2), fullgraph=True, backend="aot_eager")
    assert torch.equal(layer(x), lt.forward(x, "db4", 2))
    torch.library.opcheck(torch.ops.lifting.run.default, (x.detach(), "forward", "cdf97", 2, 2, ""))


def test_vmap_and_functional_gradients():
    x = torch.randn(4, 5, 6, 8)
    mapped = torch.vmap(lambda x: lt.forward(x, "cdf97", 2), in_dims=1)(x)
    assert torch.equal(mapped, lt.forward(x.movedim(1, 0), "cdf97", 2))
    gradients = torch.vmap(torch.func.grad(lambda x: lt.forward(x, "db2").square().sum()))(x[0])
    whole = torch.func.grad(lambda x: lt.forward(x, "db2").square().sum())(x[0])
    assert torch.equal(gradients, whole)


def test_forward_mode_and_nesting():
    def run(x):
        return lt.inverse(lt.forward(x, "cdf97", 2).square(), "cdf97", 2)

    x, v = torch.randn(2, 5, 6, dtype=torch.float64)
    _, tangent = torch.func.jvp(run, (x,), (v,))
    assert torch.allclose(tangent, lt.inverse(2 * lt.forward(x, levels=2) * lt.forward(v, levels=2), levels=2))
    assert torch.allclose(torch.func.jacfwd(run)(x), torch.func.jacrev(run)(x))
    hessian = torch.func.hessian(lambda x: lt.forward(x, "haar").pow(3).sum())(x)
    assert torch.allclose(hessian, torch.autograd.functional.hessian(lambda x: lt.forward(x, "haar").pow(3).sum(), x))
    mapped = torch.func.grad(lambda x: torch.vmap(lt.forward)(x[None]).square().sum())(x)
    assert torch.equal(mapped, torch.func.grad(lambda x: lt.forward(x).square().sum())(x))
    with torch.no_grad():
        assert not lt.forward(x.clone().requires_grad_()).requires_grad


def test_custom_wavelets():
    mine = lifting.wavelet("wavelet mine { domain real; odd -= even[0]; even += odd[0]*1/2; }")
    x = torch.randn(8, 8, requires_grad=True)
    assert torch.allclose(lt.inverse(lt.forward(x, mine, 2), mine, 2), x, atol=1e-6)
    layer = lt.Forward2d(mine, 2)
    assert repr(layer) == "Forward2d('mine', levels=2)" and torch.equal(layer(x), lt.forward(x, mine, 2))


@pytest.mark.parametrize("boundary", ["whole-symmetric", "half-symmetric", "periodic", "edge"])
def test_learnt_taps(boundary):
    steps = ((-0.3, 0.1, 0.7), (0.2, 0.25, -0.1, 0.4), (0.11,))
    shape, levels = ((3, 8, 16), 2) if boundary == "periodic" else ((3, 9, 14), 3)
    layer = lt.LearnableLifting(steps, levels, boundary=boundary, scale=0.2).double()
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    y = layer(x)
    assert torch.allclose(layer.inverse(y), x, atol=1e-12)
    assert torch.allclose(y, lt.forward(x, layer.wavelet(), levels, boundary=boundary), atol=1e-12)
    assert {n: b.shape for n, b in layer.bands(y).items()} == {
        n: b.shape for n, b in lt.bands(y, layer.wavelet(), levels, boundary=boundary).items()
    }
    if boundary != "periodic":
        assert torch.allclose(layer(x[..., :1]), lt.forward(x[..., :1], layer.wavelet(), levels, boundary=boundary))

    def of_taps(*taps):
        names = [name for name, _ in layer.named_parameters()]
        return torch.func.functional_call(layer, dict(zip(names, taps, strict=True)), (x.detach(),))

    taps = [p.detach().clone().requires_grad_() for p in layer.parameters()]
    assert torch.autograd.gradcheck(of_taps, taps, fast_mode=True)
    assert torch.autograd.gradgradcheck(of_taps, taps, fast_mode=True)
    assert torch.autograd.gradcheck(layer.inverse, y.detach().requires_grad_(), fast_mode=True)


def test_taps_of_zero_are_left_out():
    layer = lt.LearnableLifting([(0.0, -1.0, 0.0), (0.0, 0.0), (0.0, 0.5)], levels=2, dims=1).double()
    x = torch.randn(3, 17, dtype=torch.float64)
    assert torch.allclose(layer(x), lt.forward(x, layer.wavelet(), 2, dims=1))


def test_taps_are_learnt():
    """Trained from zero on straight lines, the predict step becomes linear interpolation."""
    layer = lt.LearnableLifting(((0.0, 0.0), (0.0, 0.0)), dims=1)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.05)
    x = torch.randn(256, 1) * torch.linspace(-1, 1, 32) + torch.randn(256, 1)
    for _ in range(300):
        optimiser.zero_grad()
        layer.bands(layer(x))["H1"][..., :-1].square().mean().backward()
        optimiser.step()
    assert torch.allclose(layer.steps[0], torch.tensor([-0.5, -0.5]), atol=1e-2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lt.forward(np.zeros((4, 4))), "must be a tensor, not a ndarray"),
        (lambda: lt.forward(torch.zeros(4, 4, dtype=torch.uint8)), "unsupported sample type torch.uint8: choose one"),
        (lambda: lt.forward(torch.zeros(4)), "invalid number of axes 2: the tensor allows 1 to 1"),
        (lambda: lt.forward(torch.zeros(4, 4), "cdf79"), "did you mean cdf97"),
        (lambda: lt.forward(torch.zeros(4, 5), boundary="periodic"), "axis 1 has 5 samples"),
        (lambda: lt.Forward2d("cdf79"), "did you mean cdf97"),
        (lambda: lt.LearnableLifting(boundary="zero"), "unknown border rule 'zero'; choose one of whole-symmetric"),
        (lambda: lt.LearnableLifting([[]]), "at least one tap"),
        (lambda: lt.LearnableLifting(boundary="periodic")(torch.zeros(4, 5)), "periodic borders need an even number"),
    ],
)
def test_errors(make, message):
    with pytest.raises(lifting.LiftingError, match=message):
        make()


@pytest.mark.gpu
@pytest.mark.parametrize("wavelet", ["cdf97", "db4", "haar"])
def test_a_gpu_has_the_same_bits(wavelet):
    need_gpu(torch)
    x = torch.randn(3, 64, 128 + 8)
    results = []
    for device in ("cpu", "cuda"):
        given = x.to(device).requires_grad_()
        y = lt.forward(given, wavelet, 3)
        (gradient,) = torch.autograd.grad(y.square().sum(), given)
        results.append([t.detach().cpu() for t in (y, lt.inverse(y, wavelet, 3), gradient)])
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))
    graph, given = torch.cuda.CUDAGraph(), x.cuda()
    with torch.cuda.graph(graph):
        out = lt.forward(given, wavelet, 3)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out.cpu(), results[0][0])
    compiled = torch.compile(lambda x: lt.forward(x, wavelet, 3) * 2, fullgraph=True)
    assert torch.equal(compiled(given).cpu(), 2 * results[0][0])
    small = torch.randn(4, 6).double().cuda().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: lt.forward(x, wavelet, 1), small)
