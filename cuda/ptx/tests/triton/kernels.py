"""Kernels of the kind Triton's tutorials teach, written for these tests. `ci/triton` compiles them to ptx/."""

import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, z, n, BLOCK: tl.constexpr):
    """z = x + y, a block of elements a program."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(z + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(x, y, stride, columns, BLOCK: tl.constexpr):
    """A program a row, which fits into one block."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * stride + at, mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * stride + at, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """c = a b in halves, summed in single precision; a tile of M × N a program. Tiles at the ends are masked."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, k, K):
        i = first + inner
        left = tl.load(a + rows[:, None] * k + i[None, :], mask=(rows[:, None] < m) & (i[None, :] < k), other=0.0)
        right = tl.load(b + i[:, None] * n + columns[None, :], mask=(i[:, None] < k) & (columns[None, :] < n), other=0.0)
        total = tl.dot(left, right, total)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16), mask=inside)


@triton.jit
def layer_norm(x, weight, bias, y, means, inverses, columns, epsilon, BLOCK: tl.constexpr):
    """A program a row, in steps of a block; mean and inverse deviation are kept for the backward pass."""
    row = tl.program_id(0)
    x += row * columns
    y += row * columns
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        off = tl.where(at < columns, tl.load(x + at, mask=at < columns, other=0.0) - mean, 0.0)
        squares += off * off
    inverse = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)
    tl.store(means + row, mean)
    tl.store(inverses + row, inverse)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        inside = at < columns
        scaled = (tl.load(x + at, mask=inside) - mean) * inverse
        tl.store(y + at, scaled * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside), mask=inside)


@triton.jit
def layer_norm_backward(dy, x, weight, means, inverses, dx, dweight, dbias, columns, BLOCK: tl.constexpr):
    """Gradients of a row, which fits into one block; those of weight and bias are summed by atomics."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    inverse = tl.load(inverses + row)
    scaled = (tl.load(x + row * columns + at, mask=inside, other=0.0) - tl.load(means + row)) * inverse
    scaled = tl.where(inside, scaled, 0.0)
    slope = tl.load(dy + row * columns + at, mask=inside, other=0.0)
    weighted = slope * tl.load(weight + at, mask=inside, other=0.0)
    along = tl.sum(weighted * scaled, axis=0) / columns
    mean = tl.sum(weighted, axis=0) / columns
    tl.store(dx + row * columns + at, (weighted - scaled * along - mean) * inverse, mask=inside)
    tl.atomic_add(dweight + at, slope * scaled, mask=inside)
    tl.atomic_add(dbias + at, slope, mask=inside)


@triton.jit
def attention(q, k, v, out, length, scale, ROWS: tl.constexpr, STEP: tl.constexpr, WIDTH: tl.constexpr):
    """softmax(scale q kᵀ) v for a tile of rows of one head, in one pass over keys and values."""
    head = tl.program_id(1) * length * WIDTH
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    width = tl.arange(0, WIDTH)
    queries = tl.load(q + head + rows[:, None] * WIDTH + width[None, :], mask=rows[:, None] < length, other=0.0)
    largest = tl.full((ROWS,), -1.0e30, dtype=tl.float32)
    total = tl.zeros((ROWS,), dtype=tl.float32)
    result = tl.zeros((ROWS, WIDTH), dtype=tl.float32)
    for first in range(0, length, STEP):
        at = first + tl.arange(0, STEP)
        keys = tl.load(k + head + at[None, :] * WIDTH + width[:, None], mask=at[None, :] < length, other=0.0)
        scores = tl.dot(queries, keys) * scale
        scores = tl.where(at[None, :] < length, scores, -1.0e30)
        higher = tl.maximum(largest, tl.max(scores, axis=1))
        shrink = tl.exp(largest - higher)
        powers = tl.exp(scores - higher[:, None])
        total = total * shrink + tl.sum(powers, axis=1)
        values = tl.load(v + head + at[:, None] * WIDTH + width[None, :], mask=at[:, None] < length, other=0.0)
        result = tl.dot(powers.to(tl.float16), values, result * shrink[:, None])
        largest = higher
    result = result / total[:, None]
    tl.store(out + head + rows[:, None] * WIDTH + width[None, :], result.to(tl.float16), mask=rows[:, None] < length)


@triton.jit
def attention_causal(q, k, v, out, length, scale, ROWS: tl.constexpr, STEP: tl.constexpr, WIDTH: tl.constexpr):
    """As attention, where a row sees no later keys. Tiles are large enough that sm_90 gets wgmma, once from registers."""
    head = tl.program_id(1) * length * WIDTH
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    width = tl.arange(0, WIDTH)
    queries = tl.load(q + head + rows[:, None] * WIDTH + width[None, :], mask=rows[:, None] < length, other=0.0)
    largest = tl.full((ROWS,), -1.0e30, dtype=tl.float32)
    total = tl.zeros((ROWS,), dtype=tl.float32)
    result = tl.zeros((ROWS, WIDTH), dtype=tl.float32)
    for first in range(0, (tl.program_id(0) + 1) * ROWS, STEP):
        at = first + tl.arange(0, STEP)
        keys = tl.load(k + head + at[None, :] * WIDTH + width[:, None], mask=at[None, :] < length, other=0.0)
        scores = tl.dot(queries, keys) * scale
        scores = tl.where((at[None, :] <= rows[:, None]) & (at[None, :] < length), scores, -1.0e30)
        higher = tl.maximum(largest, tl.max(scores, axis=1))
        shrink = tl.exp(largest - higher)
        powers = tl.exp(scores - higher[:, None])
        total = total * shrink + tl.sum(powers, axis=1)
        values = tl.load(v + head + at[:, None] * WIDTH + width[None, :], mask=at[:, None] < length, other=0.0)
        result = tl.dot(powers.to(tl.float16), values, result * shrink[:, None])
        largest = higher
    result = result / total[:, None]
    tl.store(out + head + rows[:, None] * WIDTH + width[None, :], result.to(tl.float16), mask=rows[:, None] < length)


@triton.jit
def product(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, COLUMNS: tl.constexpr, SUM: tl.constexpr):
    """c = a b, of one tile and any number of steps along K. COLUMNS: a lies by columns, and b by rows, else the reverse."""
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros((M, N), SUM)
    for first in range(0, k, K):
        at = first + tl.arange(0, K)
        if COLUMNS:
            left, right = tl.load(a + at[None, :] * M + rows[:, None]), tl.load(b + at[:, None] * N + columns[None, :])
        else:
            left, right = tl.load(a + rows[:, None] * k + at[None, :]), tl.load(b + columns[None, :] * k + at[:, None])
        total = tl.dot(left, right, total, out_dtype=SUM)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def dropout(x, y, n, p, seed, BLOCK: tl.constexpr):
    """Zero with probability p, by Philox; the others grow by 1 / (1 - p)."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, at) > p
    values = tl.load(x + at, mask=at < n)
    tl.store(y + at, tl.where(kept, values / (1 - p), 0.0), mask=at < n)


@triton.jit
def then(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def recurrence(a, b, y, R: tl.constexpr, BLOCK: tl.constexpr):
    """y[t] = a[t] y[t - 1] + b[t] along rows, as a scan of pairs."""
    at = tl.arange(0, R)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    _, sums = tl.associative_scan((tl.load(a + at), tl.load(b + at)), 1, then)
    tl.store(y + at, sums)


@triton.jit
def order(x, sorted, where, R: tl.constexpr, BLOCK: tl.constexpr):
    """Rows in order, and the place of the largest element of each."""
    rows = tl.arange(0, R)
    at = rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    values = tl.load(x + at)
    tl.store(sorted + at, tl.sort(values, dim=1))
    tl.store(where + rows, tl.argmax(values, axis=1))


@triton.jit
def histogram(x, bins, lock, largest, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    """Counts by value, and the largest value under a lock."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(bins + tl.arange(0, BINS), tl.histogram(values, BINS, mask=at < n))
    most = tl.max(values, axis=0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(largest, tl.maximum(tl.load(largest), most))
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def formats(x, e4m3, e5m2, bytes, y, BLOCK: tl.constexpr):
    """To floats of eight bits and to integers, and from a stored pattern back."""
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at)
    tl.store(e4m3 + at, values.to(tl.float8e4nv))
    tl.store(e5m2 + at, values.to(tl.float8e5))
    pattern = tl.load(bytes + at)
    tl.store(y + at, pattern.to(tl.float8e4nv, bitcast=True).to(tl.float32))
    tl.store(y + BLOCK + at, pattern.to(tl.float8e5, bitcast=True).to(tl.float32))
    tl.store(y + 2 * BLOCK + at, pattern.to(tl.float8e4nv, bitcast=True).to(tl.bfloat16).to(tl.float32))
