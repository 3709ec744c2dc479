"""Products and mixtures of kernels, as `*` and `+` make them."""

import dataclasses
import functools
import operator
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Array

from dpmf.kernels.combination import MixtureCorrelation, Positions, ProductCorrelation
from dpmf.kernels.correlation import Correlation
from dpmf.kernels.kernel import Kernel
from dpmf.kernels.labels import gathered, routed, routes
from dpmf.kernels.unscaled import Constant
from dpmf.priors import Dirichlet, Prior


@dataclasses.dataclass(frozen=True)
class Product(Kernel):
    """Inputs are alike only if every term finds them alike."""

    terms: tuple[Kernel, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return _columns(self.terms)

    @property
    def measured(self) -> tuple[str, ...]:
        return _measured(self.terms)

    def priors(self) -> dict[str, Prior]:
        parts = [term.priors() for term in self.terms]
        return _joined(parts)

    def at(self, theta: Mapping[str, Array]) -> Correlation:
        return ProductCorrelation(self._terms_at(theta), _positions(self.terms, self.columns))

    def bounded(self, inputs: Mapping[str, np.ndarray]) -> Kernel:
        return Product(tuple(term.bounded(inputs) for term in self.terms))

    def factors(self) -> tuple[Kernel, ...]:
        groups = _connected(self.terms)
        return tuple(merged([self.terms[i] for i in g]) for g in groups) or (Constant(),)

    def factors_at(self, theta: Mapping[str, Array]) -> tuple[Correlation, ...]:
        correlations = self._terms_at(theta)

        def factor(group: Sequence[int]) -> Correlation:
            terms = [self.terms[i] for i in group]
            if len(terms) == 1:
                return correlations[group[0]]
            positions = _positions(terms, _columns(terms))
            return ProductCorrelation(tuple(correlations[i] for i in group), positions)

        groups = _connected(self.terms)
        return tuple(factor(group) for group in groups) or (Constant().at({}),)

    def factor_labels(self) -> tuple[tuple[str, ...], ...]:
        to_terms = routes(term.priors() for term in self.terms)
        groups = _connected(self.terms)
        each = (tuple(name for i in g for name in to_terms[i].values()) for g in groups)
        return tuple(each) or ((),)

    def _terms_at(self, theta: Mapping[str, Array]) -> tuple[Correlation, ...]:
        to_terms = routes(term.priors() for term in self.terms)
        pairs = zip(self.terms, to_terms, strict=True)
        return tuple(term.at(routed(route, theta)) for term, route in pairs)

    def __str__(self) -> str:
        return " * ".join(f"({t})" if isinstance(t, Mixture) else str(t) for t in self.terms)


@dataclasses.dataclass(frozen=True)
class Mixture(Kernel):
    """A sum of independent functions whose shares of the variance are learned."""

    terms: tuple[Kernel, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return _columns(self.terms)

    @property
    def measured(self) -> tuple[str, ...]:
        return _measured(self.terms)

    def priors(self) -> dict[str, Prior]:
        weights: dict[str, Prior] = {"weights": Dirichlet(len(self.terms))}
        return _joined([weights, *(term.priors() for term in self.terms)])

    def at(self, theta: Mapping[str, Array]) -> Correlation:
        _, *to_terms = routes([["weights"], *(term.priors() for term in self.terms)])
        pairs = zip(self.terms, to_terms, strict=True)
        terms = tuple(term.at(routed(route, theta)) for term, route in pairs)
        return MixtureCorrelation(theta["weights"], terms, _positions(self.terms, self.columns))

    def bounded(self, inputs: Mapping[str, np.ndarray]) -> Kernel:
        return Mixture(tuple(term.bounded(inputs) for term in self.terms))

    def __str__(self) -> str:
        return " + ".join(map(str, self.terms))


def merged(kernels: Sequence[Kernel]) -> Kernel:
    """One kernel, the product of all; the constant one if there are none."""
    return functools.reduce(operator.mul, kernels) if kernels else Constant()


def product_terms(kernel: Kernel) -> tuple[Kernel, ...]:
    """What the kernel is a product of."""
    return kernel.terms if isinstance(kernel, Product) else (kernel,)


def mixture_terms(kernel: Kernel) -> tuple[Kernel, ...]:
    """What the kernel is a mixture of."""
    return kernel.terms if isinstance(kernel, Mixture) else (kernel,)


def _columns(terms: Sequence[Kernel]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for term in terms for name in term.columns))


def _measured(terms: Sequence[Kernel]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for term in terms for name in term.measured))


def _positions(terms: Sequence[Kernel], columns: tuple[str, ...]) -> tuple[Positions, ...]:
    return tuple(tuple(map(columns.index, term.columns)) for term in terms)


def _joined(parts: Sequence[dict[str, Prior]]) -> dict[str, Prior]:
    to_parts = zip(routes(parts), parts, strict=True)
    return {
        name: prior for route, part in to_parts for name, prior in gathered(route, part).items()
    }


def _connected(terms: Sequence[Kernel]) -> list[list[int]]:
    """Indices of terms that share columns, directly or through others; constants left out."""
    groups: list[tuple[list[int], set[str]]] = []
    for i, term in enumerate(terms):
        if not term.columns:
            continue
        shared = [group for group in groups if group[1] & set(term.columns)]
        indices = sorted([j for group in shared for j in group[0]] + [i])
        columns = set(term.columns).union(*(group[1] for group in shared))
        groups = [group for group in groups if group not in shared] + [(indices, columns)]
    return sorted(indices for indices, _ in groups)
