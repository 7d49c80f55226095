"""Arithmetic that gives the same bits in any batch, on any number of threads and on any processor.

A float sum depends on its order, and the order on the number of rows, the library and the processor. So
nothing here sums floats. Activations and weights are rounded to whole numbers with a scale for each row;
their products are added exactly, in whatever order. What is left are single additions, multiplications,
divisions, roots and roundings, which IEEE 754 defines to the last bit.

Rounding to eight bits costs little once no channel sticks out. So activations are multiplied with a
Hadamard matrix in blocks, and weights with its inverse (Ashkboos et al., QuaRot, 2024).
"""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

# of an activation: the largest whole number
TOP = 127
# Without VNNI a processor adds the products of two neighbours in 16 bits. An activation is shifted to
# 0..255 there, and 255 · 128 fits, so two neighbouring weights of a row are at most 128 together.
PAIR_TOP = 128
# a sum of so many products is below 2**24, so that it is exact in fp32 too: 127 · 64 · 2048
COLUMNS_AT_ONCE = 2048
# side of the blocks of a Hadamard matrix, where the number of channels allows it
BLOCK = 64

# 2**f for f in [-0.5, 0.5]: interpolation at Chebyshev nodes, relative error 4e-6
_POWER = (0.00966637, 0.05592198, 0.2402235, 0.693121, 1.0)


class IntegerMatrix(NamedTuple):
    """A matrix as whole numbers.

    Attributes:
        integers: int8, (rows, columns).
        scales: float32, (rows,): what a row is multiplied with.
    """

    integers: Tensor
    scales: Tensor


class IntegerRows(NamedTuple):
    """Activations as whole numbers.

    Attributes:
        integers: float32 that hold whole numbers, (rows, columns).
        scale: float32, (rows, 1).
    """

    integers: Tensor
    scale: Tensor


def rounded_matrix(weights: Tensor) -> IntegerMatrix:
    """A matrix in whole numbers; the range of a row is its largest pair of neighbours.

    A narrower range, which cuts what is rare, made the answers of SmolLM2 no better.

    Args:
        weights: floats, (rows, columns), an even number of columns.
    """
    pairs = weights.float().reshape(len(weights), -1, 2)
    sizes = pairs.abs()
    scale = sizes.sum(-1).amax(1).clamp_(min=1e-30).div_(PAIR_TOP)
    sizes.div_(scale[:, None, None]).round_()
    larger, smaller = sizes.max(-1, keepdim=True), sizes.amin(-1, keepdim=True)
    # int8 holds 127; where both of a pair were rounded up, the larger one takes it back
    limits = torch.minimum(PAIR_TOP - smaller, torch.full_like(smaller, TOP))
    sizes.scatter_(-1, larger.indices, torch.minimum(larger.values, limits))
    sizes.copysign_(pairs)
    return IntegerMatrix(sizes.reshape(weights.shape).to(torch.int8), scale)


def hadamard_side(n_channels: int) -> int:
    """Side of the blocks for so many channels: the largest power of two in it, at most `BLOCK`."""
    return math.gcd(n_channels, BLOCK)


def rotate(values: Tensor, side: int, dim: int = -1) -> Tensor:
    """Values times the orthonormal Hadamard matrix in blocks along a dimension; twice gives them back.

    In float64 and by single additions, so that the bits are the same everywhere.
    """
    rows_last = values.double().movedim(dim, -1)
    parts = rows_last.reshape(*rows_last.shape[:-1], -1, side)
    step = 1
    while step < side:
        halves = parts.reshape(*parts.shape[:-1], -1, 2, step)
        first, second = halves[..., 0, :], halves[..., 1, :]
        parts = torch.stack([first + second, first - second], -2).reshape(parts.shape)
        step *= 2
    return (parts / math.sqrt(side)).reshape(rows_last.shape).movedim(-1, dim)


def hadamard_signs(side: int) -> Tensor:
    """The matrix of one block without its norm: 1 and -1, float32, (side, side)."""
    return (rotate(torch.eye(side), side) * math.sqrt(side)).round_().float()


def rounded_rows(rows: Tensor, top: int = TOP) -> IntegerRows:
    """Activations in whole numbers up to `top`, each row with its own scale."""
    peak = rows.abs().amax(-1, keepdim=True).clamp_(min=1e-30)
    return IntegerRows((rows * (top / peak)).round_(), peak / top)


Product = Callable[[Tensor, IntegerMatrix], Tensor]
"""Activations (rows, columns) in whole numbers times a matrix, float32 (rows, rows of the matrix)."""


def integer_product(rows: Tensor, matrix: IntegerMatrix) -> Tensor:
    """The product by the processor's or the GPU's instructions for int8."""
    n_rows = len(rows)
    integers = rows.to(torch.int8)
    if rows.is_cuda and n_rows % 32:
        integers = torch.nn.functional.pad(integers, (0, 0, 0, 32 - n_rows % 32))
    # torch offers this product under no public name
    sums = torch._int_mm(integers, matrix.integers.t())[:n_rows]
    return sums.float().mul_(matrix.scales)


def float_product(rows: Tensor, matrix: IntegerMatrix) -> Tensor:
    """The product by floats that hold whole numbers, exact because no sum reaches 2**24."""
    parts = zip(
        rows.split(COLUMNS_AT_ONCE, 1), matrix.integers.split(COLUMNS_AT_ONCE, 1), strict=True
    )
    sums = [torch.nn.functional.linear(part, integers.float()) for part, integers in parts]
    if len(sums) == 1:
        return sums[0].mul_(matrix.scales)
    total = sum((part.to(torch.int32) for part in sums[1:]), sums[0].to(torch.int32))
    return total.float().mul_(matrix.scales)


def fastest_product(device: str) -> Product:
    """The faster of the two products here, of those that are exact; the bits are the same."""
    columns = torch.arange(256) % 2
    # the most that neighbours may hold, in all four ways to sign them
    integers = torch.where(columns == 0, PAIR_TOP - 1, 1).repeat(256, 1)
    integers[1::4] *= -1
    integers[2::4, 0::2] *= -1
    integers[3::4, 1::2] *= -1
    matrix = IntegerMatrix(integers.to(torch.int8).to(device), torch.ones(256, device=device))
    rows = torch.full((64, 256), float(TOP), device=device)
    rows[1::2] *= -1
    sums = rows.double() @ matrix.integers.double().t()
    seconds: dict[Product, float] = {}
    for product in (float_product, integer_product):
        try:
            is_exact = torch.equal(product(rows, matrix).double(), sums)
        except RuntimeError:
            is_exact = False  # this build of torch has none for the device
        if is_exact:
            seconds[product] = _seconds(product, rows, matrix)
    return min(seconds, key=lambda product: seconds[product])


def _seconds(product: Product, rows: Tensor, matrix: IntegerMatrix) -> float:
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        product(rows, matrix)
        times.append(time.perf_counter() - begun)
    return min(times)


def power_of_two_(values: Tensor, shift: int = 0) -> Tensor:
    """2**values times 2**shift, in place; for values from -100 to 100."""
    whole = values.round()
    values.sub_(whole)
    powers = values.mul(_POWER[0])
    for coefficient in _POWER[1:-1]:
        powers.add_(coefficient).mul_(values)
    powers.add_(_POWER[-1])
    # a float's exponent stands above 23 bits of its fraction
    bits = whole.add_(127 + shift).to(torch.int32).bitwise_left_shift_(23)
    return powers.mul_(bits.view(torch.float32))


def swish_gate(gate: Tensor, values: Tensor) -> Tensor:
    """values · gate · sigmoid(gate)."""
    # e**-gate
    powers = power_of_two_(gate.mul(-math.log2(math.e)).clamp_(-60, 60))
    return powers.add_(1).reciprocal_().mul_(gate).mul_(values)
