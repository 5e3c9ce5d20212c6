"""Arrays of other libraries: no copies, results of the input's library, and NumPy's bits."""

import lifting
import numpy as np
import pytest
from needs import need, need_gpu

KINDS = ["float16", "bfloat16", "float32", "float64", "int16", "int32", "int64", "complex64", "complex128"]


def sample(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype.startswith("int"):
        return rng.integers(-1000, 1000, shape, dtype)
    if dtype.startswith("complex"):
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return rng.normal(size=shape).astype(need("ml_dtypes").bfloat16 if dtype == "bfloat16" else dtype)


def plan_for(x, dtype, **more):
    return lifting.Plan(x.shape, "legall53" if dtype.startswith("int") else "cdf97", 2, dtype, **more)


def to_torch(x):
    torch = need("torch")
    if x.dtype.name == "bfloat16":
        return torch.from_numpy(x.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(x.copy())


def bits(x):
    """Bytes of an array of any library."""
    if type(x).__module__ == "torch":
        torch = need("torch")
        x = x.detach().cpu().contiguous()
        x = (x.view(torch.int16) if x.dtype == torch.bfloat16 else x).numpy()
    return np.asarray(x).tobytes()


@pytest.mark.parametrize("dtype", KINDS)
def test_torch_has_numpys_bits(dtype):
    torch = need("torch")
    x = sample((9, 14), dtype)
    plan, given = plan_for(x, dtype), to_torch(x)
    expected = plan.forward(x)
    got = plan.forward(given)
    assert isinstance(got, torch.Tensor) and got.dtype == given.dtype and bits(got) == bits(expected)
    assert bits(plan.inverse(got)) == bits(plan.inverse(expected))
    out = torch.zeros(14, 9, dtype=given.dtype).T
    assert plan.forward(given, out=out) is out and bits(out) == bits(expected)
    assert plan.forward(given, out=given) is given and bits(given) == bits(expected)
    assert bits(plan.inverse_to(1, out)) == bits(plan.inverse_to(1, expected))


def test_torch_views_are_read_in_place():
    x = sample((20, 30, 3), "float32")
    plan = lifting.Plan((10, 26), "cdf97", 2)
    whole = to_torch(x)
    given = whole[::2, 4:, 1]
    assert bits(plan.forward(given)) == bits(plan.forward(x[::2, 4:, 1]))
    mixed = np.zeros((10, 26), "float32")
    plan.forward(given, out=mixed)
    assert bits(mixed) == bits(plan.forward(given))
    with pytest.raises(lifting.LiftingError, match="share memory"):
        plan.forward(given, out=whole[::2, 3:-1, 1])
    with pytest.raises(lifting.LiftingError, match="the array has float64: convert it"):
        plan.forward(given.double())
    with pytest.raises(lifting.LiftingError, match="plans do not record gradients: use `lifting.torch`"):
        plan.forward(given.clone().requires_grad_())
    with pytest.raises(lifting.LiftingError, match="resolve_conj"):
        lifting.Plan(4, "haar", dtype="complex64").forward(need("torch").zeros(4, dtype=need("torch").complex64).conj())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int16", "int32", "complex64"])
def test_jax_has_numpys_bits(dtype):
    jax = need("jax")
    x = sample((9, 14), dtype)
    plan = plan_for(x, dtype)
    expected, got = plan.forward(x), plan.forward(jax.numpy.asarray(x))
    assert isinstance(got, jax.Array) and got.dtype == x.dtype and bits(got) == bits(expected)
    assert bits(plan.inverse(got)) == bits(plan.inverse(expected))
    with pytest.raises(lifting.LiftingError, match="`out` must be a writable array"):
        plan.forward(x, out=got)


def test_complex_samples_are_pairs_of_real_ones():
    x = sample((3, 10, 12), "complex128")
    plan = lifting.Plan(x.shape, "db3", 2, "complex128", axes=(1, 2), origins=(0, 0, 0), boundary="edge")
    real = lifting.Plan(x.shape, "db3", 2, "float64", axes=(1, 2), boundary="edge")
    coefficients = plan.forward(x)
    assert plan.shape == coefficients.shape == x.shape and coefficients.dtype == x.dtype
    assert (coefficients == real.forward(x.real) + 1j * real.forward(x.imag)).all()
    assert plan.level_shape(1) == (3, 5, 6) and plan["LL2"] == real["LL2"]
    assert np.allclose(plan.inverse(coefficients), x)
    y = sample(x.shape, "complex128", 1)
    assert np.isclose(np.vdot(y, plan.forward(x)), np.vdot(plan.adjoint(y), x))
    strided = np.zeros((2, *x.shape), x.dtype)[1, :, ::-1]
    assert (plan.forward(x, out=strided) == coefficients).all()


def test_read_only_and_foreign_arrays():
    x = sample((8, 8), "float32")
    plan = lifting.Plan(x.shape, "cdf97")
    frozen = x.copy()
    frozen.flags.writeable = False
    assert bits(plan.forward(Foreign(frozen))) == bits(plan.forward(x))
    with pytest.raises(lifting.LiftingError, match="read-only"):
        plan.forward(x, out=Foreign(frozen))
    out = np.zeros_like(x)
    plan.forward(x, out=Foreign(out))
    assert bits(out) == bits(plan.forward(x))
    with pytest.raises(TypeError, match="must have samples f32, but has DLPack code 2 and 64 bits"):
        plan.forward(Foreign(x.astype("float64")))
    with pytest.raises(lifting.LiftingError, match="`out` must be a writable array, not a list"):
        plan.forward(x, out=[1.0])
    with pytest.raises(BufferError, match="must make an unused capsule"):
        plan.forward(Foreign(None))


class Foreign:
    """An array of another library, with DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return None if self.array is None else self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return (1, 0) if self.array is None else self.array.__dlpack_device__()


def test_stream_handles():
    from lifting._arrays import handle

    class Torchs:
        cuda_stream = 0

    class Cupys:
        ptr = 77

    class Anyones:
        def __cuda_stream__(self):
            return 0, 99

    assert [handle(s) for s in (Torchs(), Cupys(), Anyones(), 2)] == [1, 77, 99, 2]
    with pytest.raises(lifting.LiftingError, match="pass one of torch or CuPy"):
        handle("default")


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", KINDS)
def test_torch_on_a_gpu(dtype):
    torch = need("torch")
    need_gpu(torch)
    x = sample((33, 70), dtype)
    host, plan = plan_for(x, dtype), plan_for(x, dtype, device="cuda")
    expected, given = host.forward(x), to_torch(x).cuda()
    got = plan.forward(given)
    assert got.is_cuda and bits(got) == bits(expected)
    assert bits(plan.inverse(got)) == bits(host.inverse(expected))
    assert bits(plan.inverse_to(1, got)) == bits(host.inverse_to(1, expected))
    if not dtype.startswith("int"):
        assert bits(plan.adjoint(got)) == bits(host.adjoint(expected))
        assert bits(plan.inverse_adjoint(given)) == bits(host.inverse_adjoint(x))
    out = torch.empty_like(given)
    assert plan.forward(given, out=out) is out and bits(out) == bits(expected)
    kept = given.clone()
    assert plan.forward(kept, out=kept) is kept and bits(kept) == bits(expected)
    with pytest.raises(lifting.LiftingError, match="contiguous"):
        plan.forward(given.T.contiguous().T)
    with pytest.raises(lifting.LiftingError, match="make it with device"):
        host.forward(given)
    with pytest.raises(lifting.LiftingError, match="`out` must be a Tensor"):
        plan.forward(given, out=x)


@pytest.mark.gpu
def test_streams_and_graphs_of_torch():
    torch = need("torch")
    need_gpu(torch)
    x = sample((512, 512), "float32")
    plan = lifting.Plan(x.shape, "cdf97", 3, device="cuda")
    expected = bits(lifting.Plan(x.shape, "cdf97", 3).forward(x))
    given, side = to_torch(x).cuda(), torch.cuda.Stream()
    for _ in range(20):
        changed = given * 2 / 2
        out = plan.forward(changed, stream=side)
        side.synchronize()
        assert bits(out) == expected
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        got = plan.forward(given)
    side.synchronize()
    assert bits(got) == expected
    graph, out = torch.cuda.CUDAGraph(), torch.zeros_like(given)
    with torch.cuda.graph(graph):
        plan.forward(given, out=out)
    out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert bits(out) == expected


@pytest.mark.gpu
def test_cupy_on_a_gpu():
    cupy = need("cupy")
    x = sample((33, 70), "float32")
    plan, expected = lifting.Plan(x.shape, "cdf97", 2, device="cuda"), lifting.Plan(x.shape, "cdf97", 2).forward(x)
    got = plan.forward(cupy.asarray(x))
    assert isinstance(got, cupy.ndarray) and bits(cupy.asnumpy(got)) == bits(expected)
    with pytest.raises(lifting.LiftingError, match="contiguous"):
        plan.forward(cupy.asarray(x.T.copy()).T)
    stream = cupy.cuda.Stream(non_blocking=True)
    out = cupy.empty_like(got)
    plan.forward(cupy.asarray(x), out=out, stream=stream)
    stream.synchronize()
    assert bits(cupy.asnumpy(out)) == bits(expected)


@pytest.mark.gpu
def test_strided_arrays_of_cupy():
    """Plans on a GPU reject strided arrays; contiguous copies give the host's bits."""
    cupy = need("cupy")
    whole = sample((20, 60, 3), "float32")
    plan, host = (lifting.Plan((20, 28), "cdf97", 2, device=device) for device in ("cuda", "cpu"))
    given, expected = cupy.asarray(whole)[:, 4:60:2, 1], host.forward(whole[:, 4:60:2, 1])
    with pytest.raises(lifting.LiftingError, match="contiguous"):
        plan.forward(given)
    assert bits(cupy.asnumpy(plan.forward(cupy.ascontiguousarray(given)))) == bits(expected)
    # CuPy exports invalid strides for reversed axes.
    with pytest.raises(lifting.LiftingError, match="contiguous"):
        plan.forward(cupy.asarray(whole)[::-1, 59:3:-2, 1])
