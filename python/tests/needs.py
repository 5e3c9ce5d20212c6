"""Libraries that some tests need. Without one they are skipped, unless `LIFTING_REQUIRE_TORCH=1` and the like."""

import importlib
import os

import pytest


def need(name):
    """The module of that name."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        variable = f"LIFTING_REQUIRE_{name.partition('.')[0].upper()}"
        if os.environ.get(variable) == "1":
            raise RuntimeError(f"{variable}=1, and {name} cannot be imported: pip install {name}") from error
        pytest.skip(f"{name} is not installed", allow_module_level=True)


def need_gpu(torch):
    """Skips where there is no GPU."""
    if not torch.cuda.is_available():
        if os.environ.get("LIFTING_REQUIRE_GPU") == "1":
            raise RuntimeError("LIFTING_REQUIRE_GPU=1, and PyTorch has no GPU")
        pytest.skip("there is no GPU")


def need_jax_gpu(jax):
    """JAX's first GPU; skips where there is none."""
    try:
        return jax.devices("cuda")[0]
    except RuntimeError as error:
        if os.environ.get("LIFTING_REQUIRE_GPU") == "1":
            raise RuntimeError("LIFTING_REQUIRE_GPU=1, and JAX has no GPU") from error
        pytest.skip("there is no GPU, or JAX has no plugin for it")
