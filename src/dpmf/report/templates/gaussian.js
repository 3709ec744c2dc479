// A mixture of normal pairs, one for each draw: what both teams score.
// Sum and difference of a pair with equal variances are independent.
const gaussianGame = (y, noise) => {
  const count = y[0].length, { sigma, rho } = noise;
  const means = y.map(mean);
  const inner = mean(sigma.map((s) => s * s)), shared = mean(sigma.map((s, i) => rho[i] * s * s));
  const between = (a, b) => mean(y[a].map((one, i) => (one - means[a]) * (y[b][i] - means[b])));
  const sds = [0, 1].map((side) => Math.sqrt(inner + between(side, side)));

  // A sum of both scores, the second times a sign.
  const along = (sign) => {
    const at = y[0].map((one, i) => one + sign * y[1][i]);
    const sd = sigma.map((s, i) => s * Math.sqrt(2 * (1 + sign * rho[i])));
    const cdf = (x) => mean(at.map((one, i) => normalCdf((x - one) / sd[i])));
    const pdf = (x) => mean(at.map((one, i) => Math.exp(-(((x - one) / sd[i]) ** 2) / 2) / sd[i])) / 2.5066282746310002;
    const ends = [-9, 9].map((z) => (z < 0 ? Math.min : Math.max)(...at.map((one, i) => one + z * sd[i])));
    return { at, sd, cdf, pdf, mean: mean(at), quantile: (p) => crossing(cdf, p, ...ends) };
  };
  const margin = along(-1), total = along(1);

  // On a grid with the same steps along both axes, sums and differences are few.
  const density = (low, step, size) => {
    const table = (part, first, length) => part.at.map((at, i) => {
      const found = new Float64Array(length);
      for (let n = 0; n < length; n++) found[n] = Math.exp(-(((first + n * step - at) / part.sd[i]) ** 2) / 2) / part.sd[i];
      return found;
    });
    const apart = table(margin, -(size - 1) * step, 2 * size - 1), together = table(total, 2 * low, 2 * size - 1);
    const found = new Float64Array(size * size);
    for (let draw = 0; draw < count; draw++) {
      const d = apart[draw], s = together[draw];
      for (let j = 0; j < size; j++) for (let i = 0; i < size; i++) found[j * size + i] += d[i - j + size - 1] * s[i + j];
    }
    return found.map((one) => one / (Math.PI * count));
  };

  return {
    discrete: false, means, sds, margin, total, density,
    correlation: (shared + between(0, 1)) / (sds[0] * sds[1]),
    home: 1 - margin.cdf(0), draw: 0,
  };
};
