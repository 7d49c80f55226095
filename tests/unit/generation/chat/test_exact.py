"""Sums that are exact whatever computes them, and roundings that lose little."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiny_chat
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldwork.generation.chat.exact import (
    PAIR_TOP,
    TOP,
    IntegerMatrix,
    fastest_product,
    float_product,
    integer_product,
    power_of_two_,
    rounded_matrix,
    rounded_rows,
    swish_gate,
)
from fieldwork.generation.chat.pool import LIBRARY


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("n_columns", [64, 576, 8960])
def test_both_products_are_exact_at_the_limits(n_columns: int) -> None:
    """Every neighbour as large as it may be: the sums that a processor could lose."""
    integers = torch.where(torch.arange(n_columns) % 2 == 0, PAIR_TOP - 1, 1).repeat(4, 1)
    integers[1] *= -1
    integers[2] = torch.where(torch.arange(n_columns) % 4 < 2, 64, -64)
    integers[3] = 64
    matrix = IntegerMatrix(integers.to(torch.int8), torch.ones(4))
    rows = torch.full((3, n_columns), float(TOP))
    rows[1] *= -1
    rows[2, ::2] *= -1
    expected = (rows.long() @ integers.long().t()).float()
    for product in (float_product, integer_product, fastest_product("cpu")):
        is_right = torch.equal(product(rows, matrix), expected)
        # a processor without an int8 instruction may lose what exceeds 16 bits, and is not taken then
        assert is_right or product is integer_product


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(1, 40), st.integers(0, 5))
def test_a_row_does_not_depend_on_the_others(n_rows: int, half: int, seed: int) -> None:
    matrix = rounded_matrix(random(6, 2 * half, seed=seed))
    rows = rounded_rows(random(n_rows, 2 * half, seed=seed + 1)).integers
    whole = integer_product(rows, matrix)
    assert torch.equal(whole, float_product(rows, matrix))
    for i in range(n_rows):
        assert torch.equal(integer_product(rows[i : i + 1], matrix), whole[i : i + 1])


def test_a_rounded_matrix_is_near_and_no_pair_is_too_large() -> None:
    weights = random(200, 128)
    weights[3, 5] = 40.0  # a row with one far value
    weights[4] = 0.0
    matrix = rounded_matrix(weights)
    pairs = matrix.integers.int().abs().reshape(200, -1, 2)
    assert int(pairs.sum(-1).max()) <= PAIR_TOP
    assert int(pairs.max()) <= TOP
    errors = matrix.integers * matrix.scales[:, None] - weights
    lost = errors.square().sum(1).sqrt() / weights.square().sum(1).sqrt().clamp(min=1e-9)
    others = torch.arange(200) != 3
    assert float(lost[others].max()) < 0.02
    assert bool((matrix.integers[4] == 0).all())


def test_powers_and_gates_are_accurate() -> None:
    values = torch.linspace(-100, 100, 100_001)
    expected = torch.exp2(values.double())
    error = power_of_two_(values.clone()).double() / expected - 1
    assert float(error.abs().max()) < 1e-5
    gate, factor = random(1000) * 20, random(1000, seed=1)
    swish = torch.nn.functional.silu(gate.double()) * factor.double()
    assert torch.allclose(swish_gate(gate, factor).double(), swish, rtol=2e-5, atol=1e-7)


PROGRAM = """
import sys
from pathlib import Path
from tiny_chat import digest_of
print(digest_of(Path(sys.argv[1]), Path(sys.argv[2])))
"""


def test_older_processors_and_more_threads_give_the_same_bytes(
    tiny_folder: Path, tmp_path: Path
) -> None:
    """Libraries are held to the instructions of older processors, which add in other orders."""
    older = {"ONEDNN_MAX_CPU_ISA": "SSE41", "ATEN_CPU_CAPABILITY": "default"}
    older |= {"OMP_NUM_THREADS": "2"}
    if sys.platform == "linux" and os.uname().machine == "x86_64":
        older["MKL_ENABLE_INSTRUCTIONS"] = "SSE4_2"
    folders = (LIBRARY, Path(tiny_chat.__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tiny_folder), str(tmp_path / "older")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders)), **older},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == tiny_chat.digest_of(tiny_folder, tmp_path / "newer")
