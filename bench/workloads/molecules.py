"""An equivariant network for atoms: features of degree 0, 1 and 2, messages that are
tensor products with spherical harmonics, energies and forces."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np

from bench.case import Case, Row, Work, nbytes, normal

DEGREES = (0, 1, 2)
SIZES = tuple(2 * degree + 1 for degree in DEGREES)
# Which degrees of features and of harmonics give which degree of messages.
PATHS = tuple(
    (a, b, c) for a, b, c in itertools.product(DEGREES, repeat=3) if abs(a - b) <= c <= a + b
)
# The first layer has scalars alone.
FIRST_PATHS = tuple(path for path in PATHS if path[0] == 0)
LAYERS = (FIRST_PATHS, PATHS)
RADIAL, HIDDEN, CUTOFF = 8, 32, 3.0


def complex_coupling(j1, m1, j2, m2, j, m):
    """Racah's sum for ⟨j1 m1 j2 m2 | j m⟩."""
    if m != m1 + m2 or not abs(j1 - j2) <= j <= j1 + j2:
        return 0.0
    f = math.factorial
    scale = (2 * j + 1) * f(j + j1 - j2) * f(j - j1 + j2) * f(j1 + j2 - j) / f(j1 + j2 + j + 1)
    scale *= math.prod(f(n) for n in (j + m, j - m, j1 - m1, j1 + m1, j2 - m2, j2 + m2))
    total = 0.0
    for k in range(j1 + j2 + j + 1):
        below = (k, j1 + j2 - j - k, j1 - m1 - k, j2 + m2 - k, j - j2 + m1 + k, j - j1 - m2 + k)
        if min(below) >= 0:
            total += (-1) ** k / math.prod(map(f, below))
    return math.sqrt(scale) * total


def to_real(degree):
    """Rows: real harmonics, m = -degree … degree, of the complex ones."""
    change = np.zeros((2 * degree + 1,) * 2, complex)
    for m in range(1, degree + 1):
        change[degree + m, degree + m] = (-1) ** m / math.sqrt(2)
        change[degree + m, degree - m] = 1 / math.sqrt(2)
        change[degree - m, degree - m] = 1j / math.sqrt(2)
        change[degree - m, degree + m] = -1j * (-1) ** m / math.sqrt(2)
    change[degree, degree] = 1
    return change


def coupling(a, b, c):
    """Clebsch-Gordan coefficients of real harmonics: they turn as the factors do."""
    table = np.zeros((2 * a + 1, 2 * b + 1, 2 * c + 1), complex)
    for i, j in np.ndindex(2 * a + 1, 2 * b + 1):
        m = i - a + j - b
        if abs(m) <= c:
            table[i, j, m + c] = complex_coupling(a, i - a, b, j - b, c, m)
    real = np.einsum("ai,bj,ck,ijk->abc", *(to_real(d).conj() for d in (a, b)), to_real(c), table)
    # Where the sum of degrees is odd, all of them are imaginary.
    return (real.imag if (a + b + c) % 2 else real.real).astype(np.float32)


def harmonics(r):
    """Of unit vectors, for each degree; m goes from -degree to degree."""
    x, y, z = r[:, 0], r[:, 1], r[:, 2]
    root = math.sqrt(3)
    return [
        jnp.ones_like(r[:, :1]),
        jnp.stack([y, z, x], 1),
        jnp.stack(
            [root * x * y, root * y * z, z * z - (x * x + y * y) / 2, root * x * z,
             root / 2 * (x * x - y * y)],
            1,
        ),
    ]  # fmt: skip


def layer(params, number, features, angles, radial, senders, receivers):
    """Messages along edges, their sums, and products of these with themselves."""
    name, paths = f"layer{number}_", LAYERS[number]
    atoms = features[0].shape[0]
    hidden = jax.nn.silu(radial @ params[name + "radial0"])
    weights = (hidden @ params[name + "radial1"]).reshape(len(radial), len(paths), -1)
    messages = [0.0] * len(DEGREES)
    for i, (a, b, c) in enumerate(paths):
        messages[c] += jnp.einsum(
            "ec,eci,ej,ijk->eck",
            weights[:, i],
            features[a][senders],
            angles[b],
            params[f"coupling{a}{b}{c}"],
        )
    sums = [jax.ops.segment_sum(m, receivers, atoms) for m in messages]
    mixed = [jnp.einsum("nci,cd->ndi", s, params[f"{name}mix{d}"]) for d, s in enumerate(sums)]
    pairs = [0.0] * len(DEGREES)
    for a, b, c in PATHS:
        pairs[c] += jnp.einsum("nci,ncj,ijk->nck", mixed[a], mixed[b], params[f"coupling{a}{b}{c}"])
    gates = jax.nn.sigmoid(mixed[0])
    return [
        gates * m + jnp.einsum("nci,cd->ndi", p, params[f"{name}pair{d}"])
        for d, (m, p) in enumerate(zip(mixed, pairs, strict=True))
    ]


def energy(params, positions, species, senders, receivers):
    vectors = positions[receivers] - positions[senders]
    lengths = jnp.sqrt((vectors * vectors).sum(1))
    waves = jnp.arange(1, RADIAL + 1) * (math.pi / CUTOFF)
    fading = 0.5 * (jnp.cos(lengths * (math.pi / CUTOFF)) + 1)
    radial = jnp.sin(lengths[:, None] * waves) / lengths[:, None] * fading[:, None]
    angles = harmonics(vectors / lengths[:, None])
    features = [jnp.asarray(params["species"])[species][:, :, None]]
    for number in range(len(LAYERS)):
        features = layer(params, number, features, angles, radial, senders, receivers)
    hidden = jax.nn.silu(features[0][:, :, 0] @ params["readout0"])
    return (hidden @ params["readout1"]).sum()


def energy_and_forces(params, positions, species, senders, receivers):
    gradient = jax.value_and_grad(energy, 1)
    value, gradient = gradient(params, positions, species, senders, receivers)
    return value, -gradient


def make_params(channels):
    params = {"species": normal(4, channels)}
    for path in PATHS:
        params["coupling" + "".join(map(str, path))] = coupling(*path)
    for number, paths in enumerate(LAYERS):
        name = f"layer{number}_"
        params[name + "radial0"] = normal(RADIAL, HIDDEN, scale=RADIAL**-0.5, seed=number)
        params[name + "radial1"] = normal(
            HIDDEN, len(paths) * channels, scale=0.5 * HIDDEN**-0.5, seed=number
        )
        for degree in DEGREES:
            for kind in ("mix", "pair"):
                params[f"{name}{kind}{degree}"] = normal(
                    channels, channels, scale=0.5 * channels**-0.5, seed=2 * number + degree
                )
    params["readout0"] = normal(channels, HIDDEN, scale=channels**-0.5)
    params["readout1"] = normal(HIDDEN, 1, scale=HIDDEN**-0.5)
    return params


def neighbours(atoms, edges):
    """Atoms in a box, and the closest pairs of them, in both directions."""
    side = math.ceil(atoms ** (1 / 3))
    grid = np.array(list(np.ndindex(side, side, side))[:atoms], np.float32)
    positions = grid + normal(atoms, 3, scale=0.08)
    distances = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    first, second = np.triu_indices(atoms, 1)
    near = np.argsort(distances[first, second], kind="stable")[: edges // 2]
    first, second = first[near].astype(np.int32), second[near].astype(np.int32)
    return positions, np.concatenate([first, second]), np.concatenate([second, first])


def count_flops(atoms, edges, channels):
    """Of energies; every coefficient but zeros is one product and one sum."""
    flops = 0.0
    for paths in LAYERS:
        for a, b, c in paths:
            terms = np.count_nonzero(coupling(a, b, c))
            flops += 2 * edges * terms + 2 * edges * channels * SIZES[c] * (SIZES[a] + 1)
        for path in PATHS:
            flops += 4 * atoms * channels * np.count_nonzero(coupling(*path))
        flops += 4 * atoms * channels**2 * sum(SIZES)
        flops += 2 * edges * HIDDEN * (RADIAL + len(paths) * channels)
    return flops


def network(atoms, edges, channels):
    params = make_params(channels)
    positions, senders, receivers = neighbours(atoms, edges)
    species = np.random.default_rng(0).integers(0, 4, atoms).astype(np.int32)
    inputs = (positions, species, senders, receivers)
    # Forward, and backward twice.
    flops = 3 * count_flops(atoms, len(senders), channels)
    work = Work(flops, nbytes(*inputs, *params.values()), 4 + positions.nbytes)
    return Case(energy_and_forces, inputs, work, params, tolerance=1e-4)


ROWS = [
    Row(
        "equivariant",
        "equivariant network, 96 atoms, 1018 edges, forces",
        network,
        (96, 1018, 24),
        (97, 1002, 23),
    ),
]
