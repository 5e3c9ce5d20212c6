"""Optional libraries of tests: tests skip without them, and fail under `LIFTING_REQUIRE_TORCH=1` and the like."""

import importlib
import os

import pytest


def need(name):
    """Imports a module, or skips the tests."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        variable = f"LIFTING_REQUIRE_{name.partition('.')[0].upper()}"
        if os.environ.get(variable) == "1":
            raise RuntimeError(f"{variable}=1, but {name} cannot be imported: pip install {name}") from error
        pytest.skip(f"{name} is not installed", allow_module_level=True)


def need_gpu(torch):
    """Skips the test without a GPU."""
    if not torch.cuda.is_available():
        if os.environ.get("LIFTING_REQUIRE_GPU") == "1":
            raise RuntimeError("LIFTING_REQUIRE_GPU=1, but PyTorch has no GPU")
        pytest.skip("PyTorch has no GPU")


def need_jax_gpu(jax):
    """JAX's first GPU; skips the test without one."""
    try:
        return jax.devices("cuda")[0]
    except RuntimeError as error:
        if os.environ.get("LIFTING_REQUIRE_GPU") == "1":
            raise RuntimeError("LIFTING_REQUIRE_GPU=1, but JAX has no GPU") from error
        pytest.skip("JAX has no GPU, or no plugin for it")
