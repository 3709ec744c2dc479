"""The model once more: slow, in numpy and scipy, straight from its equations.

Parameters go from free coordinates to natural ones with functions that also take complex
numbers, so that the Jacobian is a complex step and exact to rounding.
"""

import itertools

import jax
import numpy as np
from scipy import special, stats

from dpmf.kernels.factor import JITTER
from dpmf.likelihoods import (
    Bernoulli,
    Gaussian,
    NegativeBinomial,
    Ordinal,
    PairedGaussian,
    PairedPoisson,
    Poisson,
    StudentT,
)
from dpmf.model.state import Parameters, Side
from model.problem import LENGTHS

GAP = {"rows": (1, 50), "cols": (2, 40)}
LENGTH, HOME, POOLED_HOME = (1, 90), (0.2, 9), (0.3, 7)
LOG_VOLUME = [0, 0, np.log(2), np.log(np.pi**2 / 2)]  # of all correlation matrices, by size


# From free coordinates to natural parameters.


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.log(1 + np.exp(x))


def between(free, low, high):
    """Uniform on the log scale."""
    return np.exp(np.log(low) + (np.log(high) - np.log(low)) * sigmoid(free))


def correlation_factor(free, rank):
    """A row of the factor holds partial correlations of what earlier entries left."""
    factor, partial = np.zeros((rank, rank), free.dtype), iter(np.tanh(free))
    for i in range(rank):
        left = 1.0
        for j in range(i):
            r = next(partial)
            factor[i, j] = r * np.sqrt(left)
            left = left * (1 - r**2)
        factor[i, i] = np.sqrt(left)
    return factor


def natural(free: Parameters, spec, rotation) -> Parameters:
    """Natural parameters; `rotation` is orthogonal and its first column constant."""
    rank = spec.rank
    mu_v = 0.54 + free.cols.mean
    c = softplus(mu_v)
    mu_u = spec.scale / np.sqrt(rank) * (rotation @ free.rows.mean) / c
    s_u = spec.spread / np.sqrt(rank) / c
    s_v = c / sigmoid(mu_v)
    return Parameters(
        natural_side(free.rows, mu_u, s_u, GAP["rows"], spec),
        natural_side(free.cols, mu_v, s_v, GAP["cols"], spec),
        natural_noise(free.noise, spec.spread),
    )


def natural_side(free: Side, mean, unit, gap, spec) -> Side:
    pooled, added = free.pooled_sd is not None, free.intercept_sd is not None
    return Side(
        mean,
        np.exp(free.sd) * unit,
        correlation_factor(free.corr, spec.rank),
        {
            "season+week.gap": between(free.theta["season+week.gap"], *gap),
            "season+week.length": between(free.theta["season+week.length"], *LENGTH),
            "home.length": between(free.theta["home.length"], *HOME),
        },
        np.exp(free.pooled_sd) * unit if pooled else None,
        {"home.length": between(free.pooled_theta["home.length"], *POOLED_HOME)}
        if pooled
        else None,
        spec.spread * np.exp(free.intercept_sd) if added else None,
    )


def natural_noise(free, spread):
    maps = {
        "sigma": lambda x: spread * np.exp(x),
        "rho": lambda x: 2 * sigmoid(x) - 1,
        "nu": lambda x: 2 + 10 * np.exp(x),
        "overdispersion": np.exp,
        "shared": lambda x: 0.5 * np.exp(x),
        "first_cut": lambda x: 3 * x,
        "middle_cut": lambda x: 3 * x,
        "log_gaps": lambda x: x,
        "gap_sd": np.exp,
    }
    return {name: maps[name](x) for name, x in free.items()}


def density_coordinates(values: Parameters):
    """What the prior is a density of: correlations rather than their factor."""

    def side(one: Side):
        correlation = one.corr @ one.corr.T
        lower = np.tril_indices(len(correlation), -1)
        return one._replace(corr=correlation[lower])

    parts = Parameters(side(values.rows), side(values.cols), values.noise)
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(parts)])


def log_jacobian(free: Parameters, spec, rotation):
    """log |d natural / d free|, one complex step per coordinate."""
    leaves, tree = jax.tree.flatten(free)
    flat = np.concatenate([np.ravel(leaf) for leaf in leaves])
    ends = np.cumsum([np.size(leaf) for leaf in leaves])[:-1]
    step, columns = 1e-30, []
    for i in range(len(flat)):
        moved = flat.astype(complex)
        moved[i] += 1j * step
        parts = zip(np.split(moved, ends), leaves, strict=True)
        parts = [part.reshape(leaf.shape) for part, leaf in parts]
        values = natural(jax.tree.unflatten(tree, parts), spec, rotation)
        columns.append(density_coordinates(values).imag / step)
    return np.linalg.slogdet(np.array(columns).T)[1]


# The prior of natural parameters.


def log_prior(values: Parameters, spec):
    """Log density of `density_coordinates`; a part that is None has no share in it."""
    rank, root = spec.rank, np.sqrt(spec.rank)
    total = stats.norm.logpdf(values.rows.mean, 0, spec.scale / root).sum()
    total += stats.norm.logpdf(values.cols.mean, 0.54, 1).sum()
    for side, spread, gap in [
        (values.rows, spec.spread / root, GAP["rows"]),
        (values.cols, 1.0, GAP["cols"]),
    ]:
        for sd in (side.sd, side.pooled_sd):
            total += 0 if sd is None else stats.halfnorm.logpdf(sd, scale=spread).sum()
        if side.intercept_sd is not None:
            total += stats.halfnorm.logpdf(side.intercept_sd, scale=spec.spread)
        total -= 0 if side.corr is None else LOG_VOLUME[rank]
        own = {"season+week.gap": gap, "season+week.length": LENGTH, "home.length": HOME}
        total += log_prior_theta(side.theta, own)
        total += log_prior_theta(side.pooled_theta, {"home.length": POOLED_HOME})
    return total + log_prior_noise(values.noise, spec.spread)


def log_prior_theta(theta, bounds):
    return sum(
        stats.loguniform.logpdf(x, *bounds[name]).sum() for name, x in (theta or {}).items()
    )


def log_prior_noise(noise, spread):
    densities = {
        "sigma": lambda x: stats.halfnorm.logpdf(x, scale=spread),
        "rho": lambda x: stats.uniform.logpdf(x, -1, 2),
        "nu": lambda x: stats.gamma.logpdf(x, 2, loc=2, scale=10),
        "overdispersion": lambda x: stats.halfnorm.logpdf(x),
        "shared": lambda x: stats.halfnorm.logpdf(x, scale=0.5),
        "first_cut": lambda x: stats.norm.logpdf(x, 0, 3),
        "middle_cut": lambda x: stats.norm.logpdf(x, 0, 3),
        "log_gaps": lambda x: stats.norm.logpdf(x, 0, 1),
        "gap_sd": lambda x: stats.halfnorm.logpdf(x),
    }
    return sum(np.sum(densities[name](x)) for name, x in noise.items())


# From functions to the probability of values.


def warped_time(season, week, gap):
    return week + sum(length + gap for known, length in LENGTHS.items() if known < season)


def first_seen(points):
    return list(dict.fromkeys(points))


def jittered_factor(correlation, points):
    gram = np.array([[correlation(x, z) for z in points] for x in points])
    return np.linalg.cholesky((gram + JITTER * np.eye(len(points))) / (1 + JITTER))


def squared_exponential(length):
    return lambda x, z: np.exp(-0.5 * ((x - z) / length) ** 2)


def features(side: Side, white, pooled_white, data):
    """u of every member at every input: a dictionary from (member, input) to R^K."""
    cells = [tuple(x) for x in data.inputs.reshape(-1, 3)]
    times, homes = first_seen(x[:2] for x in cells), first_seen(x[2] for x in cells)
    inputs = [(*time, home) for time, home in itertools.product(times, homes)]
    rank, members = white.shape[:2]
    functions, shared = np.zeros((rank, members, len(inputs))), np.zeros((rank, len(inputs)))
    for k in range(rank):
        gap, length, home_length = (
            side.theta[name][k, 0]
            for name in ("season+week.gap", "season+week.length", "home.length")
        )

        def matern(x, z, gap=gap, length=length):
            return np.exp(-abs(warped_time(*x, gap) - warped_time(*z, gap)) / length)

        factor = np.kron(
            jittered_factor(matern, times),
            jittered_factor(squared_exponential(home_length), homes),
        )
        for m in range(members):
            functions[k, m] = factor @ white[k, m]
        if pooled_white is not None:
            kernel = squared_exponential(side.pooled_theta["home.length"][k, 0])
            venue = dict(
                zip(homes, jittered_factor(kernel, homes) @ pooled_white[k, 0], strict=True)
            )
            shared[k] = [side.pooled_sd[k] * venue[x[2]] for x in inputs]
    sigma = np.diag(side.sd) @ side.corr  # its square is Sigma
    return {
        (m, x): side.mean + shared[:, i] + sigma @ functions[:, m, i]
        for m in range(members)
        for i, x in enumerate(inputs)
    }


def predictor(white, values: Parameters, data):
    """y of every cell of every event."""
    u = features(values.rows, white.rows, white.rows_pooled, data)
    v = features(values.cols, white.cols, white.cols_pooled, data)
    y = np.zeros(data.values.shape)
    for event in range(data.events):
        for cell in range(data.pair):
            x = tuple(data.inputs[event, cell])
            row, col = int(data.rows[event, cell]), int(data.cols[event, cell])
            y[event, cell] = u[row, x] @ softplus(v[col, x])
            if white.rows_intercept is not None:
                y[event, cell] += values.rows.intercept_sd * white.rows_intercept[row]
                y[event, cell] += values.cols.intercept_sd * white.cols_intercept[col]
    return y


def log_likelihoods(likelihood, noise, y, values, own=None, rows=None):
    """Log probability of each event; `own` has the numbers of every row, `rows` of cells."""
    match likelihood:
        case Gaussian():
            return stats.norm.logpdf(values, y, noise["sigma"]).sum(axis=1)
        case PairedGaussian():
            rho, variance = noise["rho"], noise["sigma"] ** 2
            covariance = variance * np.array([[1, rho], [rho, 1]])
            return stats.multivariate_normal.logpdf(values - y, np.zeros(2), covariance)
        case StudentT():
            return stats.t.logpdf(values, noise["nu"], y, noise["sigma"]).sum(axis=1)
        case Bernoulli():
            return stats.bernoulli.logpmf(values, special.expit(y)).sum(axis=1)
        case Poisson():
            return stats.poisson.logpmf(values, np.exp(y)).sum(axis=1)
        case NegativeBinomial():
            size = 1 / noise["overdispersion"]
            return stats.nbinom.logpmf(values, size, size / (size + np.exp(y))).sum(axis=1)
        case PairedPoisson():
            k = np.arange(values.max() + 1)[None, None]
            own = stats.poisson.pmf(values[:, :, None] - k, np.exp(y)[:, :, None])
            return np.log(own.prod(axis=1) @ stats.poisson.pmf(k[0, 0], noise["shared"]))
        case Ordinal(levels, own_cuts=True):
            found = np.zeros(len(values))
            for event, cell in np.ndindex(values.shape):
                gaps = np.exp(noise["log_gaps"] + noise["gap_sd"] * own[rows[event, cell]])
                middle = (levels - 1) // 2  # this cut is the same for all rows
                below = [-sum(gaps[cut:middle]) for cut in range(middle)]
                above = [sum(gaps[middle:cut]) for cut in range(middle, levels - 1)]
                cuts = noise["middle_cut"] + np.array([-np.inf, *below, *above, np.inf])
                level = int(values[event, cell])
                low, high = cuts[level - 1 : level + 1] - y[event, cell]
                if low > 0:  # from the other end, or two numbers near 1 would cancel
                    low, high = -high, -low
                found[event] += np.log(special.expit(high) - special.expit(low))
            return found
        case Ordinal():
            gaps = np.cumsum(np.exp(noise["log_gaps"]))
            cuts = noise["first_cut"] + np.array([-np.inf, 0, *gaps, np.inf])
            level = values.astype(int)
            chance = special.expit(cuts[level] - y) - special.expit(cuts[level - 1] - y)
            return np.log(chance).sum(axis=1)


def log_density(spec, state, data, rotation):
    """Log posterior density of a state, with every constant but that of the evidence."""
    values = natural(state.free, spec, rotation)
    y = predictor(state.white, values, data)
    total = sum(stats.norm.logpdf(one).sum() for one in jax.tree.leaves(state.white))
    total += log_prior(values, spec) + log_jacobian(state.free, spec, rotation)
    own = (state.white.rows_noise, data.rows)
    return total + log_likelihoods(spec.likelihood, values.noise, y, data.values, *own).sum()
