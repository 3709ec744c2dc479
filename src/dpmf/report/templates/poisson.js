// A mixture of pairs of counts with a part that both share, one for each draw.
const poissonRate = (y) => Math.exp(Math.min(y, 20)) * (1 + Math.max(y - 20, 0));

const poissonMasses = (rate, size) => {
  const found = new Float64Array(size);
  found[0] = Math.exp(-rate);
  for (let n = 1; n < size; n++) found[n] = found[n - 1] * rate / n;
  return found;
};

// A distribution over whole numbers from `first` on; where stakes go back, half is below.
const counted = (first, masses) => {
  const cdf = (x) => masses.reduce((sum, one, n) => sum + (first + n < x ? one : first + n === x ? one / 2 : 0), 0);
  const quantile = (p) => {
    let sum = 0;
    for (let n = 0; n < masses.length; n++) { sum += masses[n]; if (sum >= p - 1e-12) return first + n; }
    return first + masses.length - 1;
  };
  const middle = masses.reduce((sum, one, n) => sum + one * (first + n), 0);
  return { first, masses, cdf, quantile, mean: middle };
};

const poissonGame = (y, noise) => {
  const shared = noise.shared, count = shared.length;
  const rates = y.map((side) => side.map(poissonRate));
  const every = rates.map((side) => side.map((one, i) => one + shared[i]));
  const means = every.map(mean);
  const between = (a, b) => mean(every[a].map((one, i) => (one - means[a]) * (every[b][i] - means[b])));
  const sds = [0, 1].map((side) => Math.sqrt(means[side] + between(side, side)));
  const size = Math.ceil(Math.max(means[0] + 9 * sds[0], means[1] + 9 * sds[1], 8)) + 2;
  const joint = new Float64Array(size * size); // of home i and away j at j * size + i
  for (let draw = 0; draw < count; draw++) {
    const [p, q] = rates.map((side) => poissonMasses(side[draw], size)), c = poissonMasses(shared[draw], size);
    for (let n = 0; n < size && c[n] > 1e-15; n++)
      for (let j = n; j < size; j++) for (let i = n; i < size; i++) joint[j * size + i] += c[n] * p[i - n] * q[j - n] / count;
  }
  const margins = new Float64Array(2 * size - 1), totals = new Float64Array(2 * size - 1);
  for (let j = 0; j < size; j++) for (let i = 0; i < size; i++) {
    margins[i - j + size - 1] += joint[j * size + i];
    totals[i + j] += joint[j * size + i];
  }
  const margin = counted(1 - size, margins), total = counted(0, totals);
  margin.mean = means[0] - means[1];
  total.mean = means[0] + means[1];
  const draw = margins[size - 1];
  return {
    discrete: true, means, sds, margin, total, joint, size,
    correlation: (mean(shared) + between(0, 1)) / (sds[0] * sds[1]),
    home: 1 - margin.cdf(0), draw,
  };
};
