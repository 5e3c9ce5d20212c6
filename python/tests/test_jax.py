"""`lifting.jax`: bits of plans, compilation, batches, derivatives of every order, and errors through XLA."""


import lifting
import numpy as np
import pytest
from needs import need, need_jax_gpu

jax = need("jax")
import jax.numpy as jnp  # noqa: E402
import lifting.jax as lj  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

BOUNDARIES = ["whole-symmetric", "half-symmetric", "periodic", "edge", "zero"]
REALS = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


def families():
    """One wavelet of each family of the catalogue."""
    return list({family: name for name, (family, _) in lifting.catalogue().items()}.values())


@pytest.fixture(autouse=True)
def wide():
    """Enables JAX's 64-bit types."""
    with jax.enable_x64(True):
        yield


def sample(shape, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    if dtype.startswith("int"):
        return rng.integers(-1000, 1000, shape, dtype)
    if dtype.startswith("complex"):
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return rng.normal(size=shape).astype(jnp.dtype(dtype))


def same(got, expected):
    return got.dtype == expected.dtype and np.asarray(got).tobytes() == np.asarray(expected).tobytes()


@pytest.mark.parametrize("wavelet", families())
def test_bits_equal_those_of_plans(wavelet):
    dtype = "int32" if lifting.Wavelet(wavelet).domain == "integer" else "float32"
    for boundary in BOUNDARIES:
        x = sample((2, 8, 16) if boundary == "periodic" else (2, 7, 10), dtype)
        plan = lifting.Plan(x.shape, wavelet, 2, dtype, boundary, axes=(1, 2), ill_conditioned=True)
        expected = plan.forward(x)
        for run in (lj.forward, jax.jit(lj.forward, static_argnums=(1, 2), static_argnames="boundary")):
            assert same(run(x, wavelet, 2, boundary=boundary), expected)
        assert same(lj.inverse(expected, wavelet, 2, boundary=boundary), plan.inverse(expected))


def test_denormal_numbers_are_kept():
    """XLA's own arithmetic on a CPU flushes them to zero."""
    x = sample((16, 64)) * np.float32(1e-40)
    plan = lifting.Plan(x.shape, "cdf97", 2)
    assert x.any() and same(jax.jit(lambda x: lj.forward(x, "cdf97", 2))(x), plan.forward(x))
    coeffs, expected = lj.wavedec2(x, "db2", level=1), lifting.wavedec2(x, "db2", level=1)
    assert same(coeffs[0], expected[0]) and same(coeffs[1][2], expected[1][2])


@pytest.mark.parametrize("dtype", [*REALS, "int16", "int32", "int64"])
def test_every_type_of_samples(dtype):
    wavelet = "dd137" if dtype.startswith("int") else "cdf97"
    x = sample((3, 9, 14), dtype)
    plan = lifting.Plan(x.shape, wavelet, 2, dtype, axes=(1, 2))
    y = jax.jit(lambda x: lj.forward(x, wavelet, 2))(x)
    assert same(y, plan.forward(x)) and same(lj.inverse(y, wavelet, 2), plan.inverse(plan.forward(x)))
    if dtype.startswith("int"):
        assert (lj.inverse(y, wavelet, 2) == x).all()
        return
    (gradient,) = jax.vjp(lambda x: lj.forward(x, wavelet, 2), x)[1](y)
    assert same(gradient, plan.adjoint(plan.forward(x)))
    (gradient,) = jax.vjp(lambda y: lj.inverse(y, wavelet, 2), y)[1](jnp.asarray(x))
    assert same(gradient, plan.inverse_adjoint(x))


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("shape", [(2, 5, 9, 13), (1, 4, 1, 8), (3, 2, 3, 1)])
def test_every_number_of_axes(dims, shape):
    x = sample(shape)
    plan = lifting.Plan(shape, "cdf97", 2, axes=range(4 - dims, 4))
    y = lj.forward(x, "cdf97", 2, dims=dims)
    assert same(y, plan.forward(x))
    named = lj.bands(y, "cdf97", 2, dims=dims)
    assert list(named) == list(lifting.Plan(shape[4 - dims :], "cdf97", 2).subbands)
    assert same(lj.with_bands(jnp.zeros_like(y), named, "cdf97", 2, dims=dims), y)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("wavelet", ["haar", "cdf97", "db4", "bior2.4"])
def test_derivatives(wavelet, boundary):
    x = sample((2, 4, 8), "float64")
    for function in (lj.forward, lj.inverse):

        def run(x, function=function):
            return function(x, wavelet, 2, boundary=boundary) ** 2

        check_grads(run, (x,), order=2, modes=["fwd", "rev"], rtol=1e-4)


def test_gradients_have_the_bits_of_adjoints():
    x = sample((3, 9, 14))
    plan = lifting.Plan(x.shape, "cdf97", 2, axes=(1, 2))
    gradient = jax.jit(jax.grad(lambda x: (lj.forward(x, "cdf97", 2) ** 2).sum()))(x)
    assert same(gradient, plan.adjoint(2 * plan.forward(x)))
    _, tangent = jax.jvp(lambda x: lj.forward(x, "cdf97", 2), (x,), (2 * x,))
    assert same(tangent, plan.forward(2 * x))
    turned = jax.linear_transpose(lambda x: lj.inverse(x, "cdf97", 2), x)(x)[0]
    assert same(turned, plan.inverse_adjoint(x))


def test_batches_have_the_bits_of_plans():
    x = sample((4, 5, 6, 8))
    mapped = jax.vmap(lambda x: lj.forward(x, "cdf97", 2), in_axes=1, out_axes=2)(x)
    assert same(mapped, jnp.moveaxis(lj.forward(jnp.moveaxis(x, 1, 0), "cdf97", 2), 0, 2))
    twice = jax.jit(jax.vmap(jax.vmap(lambda x: lj.forward(x, "cdf97"), in_axes=-1), in_axes=0))(x)
    assert same(twice, lj.forward(jnp.moveaxis(x, -1, 1), "cdf97"))
    one = jax.vmap(jax.grad(lambda x: (lj.forward(x) ** 2).sum()))(x)
    assert same(one, jax.grad(lambda x: (lj.forward(x) ** 2).sum())(x))
    hessian = jax.hessian(lambda x: (lj.forward(x, "haar", dims=1) ** 2).sum())(sample(6, "float64"))
    assert np.allclose(hessian, 2 * np.eye(6))


def test_within_loops_and_remat():
    x = sample((6, 8))

    def step(x, _):
        return lj.inverse(lj.forward(x, "cdf97", 2), "cdf97", 2), None

    plan, expected = lifting.Plan(x.shape, "cdf97", 2), x
    for _ in range(5):
        expected = plan.inverse(plan.forward(expected))
    assert same(jax.jit(lambda x: jax.lax.scan(step, x, length=5)[0])(x), expected)
    loss = jax.checkpoint(lambda x: jnp.tanh(lj.forward(x, "cdf97", 2)).sum())
    assert np.allclose(jax.grad(loss)(x), jax.grad(lambda x: jnp.tanh(lj.forward(x, "cdf97", 2)).sum())(x))


def test_compiled_programs_are_portable():
    x = sample((7, 12))
    checks = [jax.export.DisabledSafetyCheck.custom_call("lifting")]
    exported = jax.export.export(jax.jit(lambda x: lj.forward(x, "cdf97", 2)), disabled_checks=checks)(x)
    text = exported.mlir_module()
    assert 'wavelet = "cdf97"' in text and 'transform = "forward"' in text
    assert same(exported.call(x), lifting.Plan(x.shape, "cdf97", 2).forward(x))


def test_custom_wavelets():
    mine = lifting.wavelet("wavelet mine { domain real; odd -= even[0]; even += odd[0]*1/2; }")
    x = sample((8, 8))
    assert same(jax.jit(lambda x: lj.forward(x, mine, 2))(x), lifting.Plan(x.shape, mine, 2).forward(x))
    bank = lifting.Wavelet("mine", lifting.Wavelet("db2").filter_bank)
    assert np.allclose(lj.inverse(lj.forward(x, bank, 2), bank, 2), x, atol=1e-5)


def test_empty_arrays_and_single_samples():
    assert lj.forward(jnp.zeros((0, 4, 4))).shape == (0, 4, 4)
    x = sample((1, 1))
    assert same(lj.forward(x, "cdf97"), lifting.Plan((1, 1), "cdf97").forward(x))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lj.forward([[1.0]]), "must be a JAX or NumPy array, not a list"),
        (lambda: lj.forward(jnp.zeros((4, 4), "uint8")), "unsupported sample type uint8: choose one of"),
        (lambda: lj.forward(jnp.zeros(4)), "invalid number of axes 2: the array allows 1 to 1"),
        (lambda: lj.forward(jnp.zeros((4, 4)), "cdf79"), "did you mean cdf97"),
        (lambda: lj.forward(jnp.zeros((4, 5)), boundary="periodic"), "axis 1 has 5 samples"),
        (lambda: lj.forward(jnp.zeros((4, 4)), boundary="mirror"), "mirror"),
        (lambda: lj.forward(jnp.zeros((4, 4)), levels=-1), "must not be negative"),
        (lambda: jax.jit(lambda x: lj.forward(x, "dd137"))(jnp.zeros((4, 4))), "integer"),
        (lambda: jax.grad(lambda x: lj.forward(x, "cdf79").sum())(jnp.zeros((4, 4))), "did you mean cdf97"),
        (lambda: lj.with_bands(jnp.zeros((4, 4)), {"HH2": 0}), "sub-band 'HH2'; choose one of LL1, HL1, LH1, HH1"),
    ],
)
def test_errors_at_tracing(make, message):
    with pytest.raises(lifting.LiftingError, match=message):
        make()


def foreign(results=1, shape=(4, 4), dtype="float32", argument="float32", **changed):
    """Calls the handler directly, without `lifting.jax`."""
    attributes = {"transform": "forward", "wavelet": "cdf97", "boundary": ""}
    attributes |= {"rank": np.int32(2), "levels": np.int32(1)} | changed
    attributes = {name: value for name, value in attributes.items() if value is not None}
    result = jax.ShapeDtypeStruct(shape, jnp.dtype(dtype))
    return jax.ffi.ffi_call("lifting", [result] * results)(jnp.zeros((4, 4), argument), **attributes)[0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"transform": "forwards"}, "unknown transform `forwards`"),
        ({"wavelet": "cdf79"}, "did you mean cdf97"),
        ({"wavelet": "wavelet mine { domain real; odd -= odd[0]; }"}, "lifting: .*odd"),
        ({"wavelet": None}, "the call has no attribute `wavelet`"),
        ({"wavelet": np.int32(1)}, "the call has no attribute `wavelet`"),
        ({"boundary": "mirror"}, "mirror"),
        ({"rank": np.int32(3)}, "invalid number of axes 3: the array allows 1 to 2"),
        ({"rank": np.float32(1.5)}, "the attribute `rank` must be an integer"),
        ({"levels": np.int64(-1)}, "invalid level count -1"),
        ({"shape": (4, 5)}, r"the shape and type of the argument, \[4, 4\] .* but has \[4, 5\]"),
        ({"dtype": "float64"}, "the shape and type of the argument"),
        ({"argument": "uint8", "dtype": "uint8"}, "unsupported XLA sample type 6"),
        ({"argument": "int32", "dtype": "int32"}, "lifting: .*integer|lifting: .*real"),
        ({"results": 3}, "a transform must have one argument"),
    ],
)
def test_errors_through_xla(changed, message):
    with pytest.raises(jax.errors.JaxRuntimeError, match=message):
        foreign(**changed).block_until_ready()
    assert same(foreign(), jnp.zeros((4, 4), "float32"))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [*REALS, "int16", "int32", "int64"])
def test_a_gpu_has_the_same_bits(dtype):
    gpu = need_jax_gpu(jax)
    integer = dtype.startswith("int")
    wavelet, x = "dd137" if integer else "cdf97", sample((3, 65, 130), dtype)
    plan, given = lifting.Plan(x.shape, wavelet, 3, dtype, axes=(1, 2)), jax.device_put(x, gpu)

    def adjoint(function):
        return lambda x: jax.vjp(lambda x: function(x, wavelet, 3), x)[1](x)[0]

    runs = {"forward": lambda x: lj.forward(x, wavelet, 3), "inverse": lambda x: lj.inverse(x, wavelet, 3)}
    if not integer:
        runs |= {"adjoint": adjoint(lj.forward), "inverse_adjoint": adjoint(lj.inverse)}
    for transform, run in runs.items():
        expected = getattr(plan, transform)(x)
        for _ in range(3):
            got = jax.jit(run)(given)
            assert got.devices() == {gpu} and same(got, expected)
        assert same(jax.jit(jax.vmap(run))(given[None])[0], expected)


@pytest.mark.gpu
def test_work_on_a_gpu_is_captured():
    gpu = need_jax_gpu(jax)
    x = sample((64, 128))

    def run(x):
        return lj.inverse(lj.forward(x * 2, "cdf97", 3) + 1, "cdf97", 3)

    options = {"xla_gpu_enable_command_buffer": "FUSION,CUSTOM_CALL", "xla_gpu_graph_min_graph_size": 1}
    given = jax.device_put(x, gpu)
    compiled = jax.jit(run).lower(given).compile(compiler_options=options)
    plan = lifting.Plan(x.shape, "cdf97", 3)
    for k in range(4):
        expected = plan.inverse(plan.forward((x + k) * 2) + 1)
        assert same(compiled(given + k), expected)


@pytest.mark.gpu
def test_errors_on_a_gpu():
    gpu = need_jax_gpu(jax)
    with jax.default_device(gpu), pytest.raises(jax.errors.JaxRuntimeError, match="invalid level count -1"):
        foreign(levels=np.int32(-1)).block_until_ready()
