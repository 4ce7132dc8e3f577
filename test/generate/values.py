"""Elements of generated tensors: small numbers first, then random ones, ties, and the edges of the type."""
import numpy as np

FLOATS = (np.float32, np.float16, np.float64)
SIGNED = (np.int64, np.int32, np.int8, np.int16)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS

TAME = ("small", "random", "ties")  # sums of them mean something
KINDS = TAME + ("special", "edges")


def edges(dtype):
    if np.issubdtype(dtype, np.floating):
        info = np.finfo(dtype)
        return [np.nan, np.inf, -np.inf, 0.0, -0.0, info.max, info.min, info.tiny, info.smallest_subnormal, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 88.0, -104.0]
    info = np.iinfo(dtype)
    return [info.max, info.min, 0, 1, info.max - 1, info.min + 1]


def make(dtype, shape, kind, seed):
    rng, count = np.random.default_rng(seed), int(np.prod(shape, dtype=np.int64))
    if dtype == np.bool_:
        flat = np.arange(count) % 2 if kind == "small" else rng.integers(0, 2, count)
        return flat.astype(bool).reshape(shape)
    low = 0 if np.issubdtype(dtype, np.unsignedinteger) else -4
    if kind == "small":
        flat = (np.arange(count) * 7) % 9 + low
    elif kind == "ties":
        flat = rng.integers(low // 4, 2, count)
    elif kind == "random" or (kind == "special" and not np.issubdtype(dtype, np.floating)):
        flat = rng.standard_normal(count) * 2 if np.issubdtype(dtype, np.floating) else rng.integers(low * 5, 21, count)
    elif kind == "special":
        flat = rng.standard_normal(count)
        flat[rng.random(count) < 0.2] = rng.choice([np.nan, np.inf, -np.inf, -0.0])
    else:
        some = np.array(edges(dtype), dtype)
        flat = some[rng.integers(0, len(some), count)]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(flat).astype(dtype).reshape(shape)
