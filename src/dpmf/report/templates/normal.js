// The normal distribution function, after Hart (1968), right to about 15 digits.
const normalCdf = (x) => {
  const z = Math.abs(x);
  let tail = 0;
  if (z <= 37) {
    const e = Math.exp(-z * z / 2);
    if (z < 7.07106781186547) {
      const top = [3.52624965998911e-2, 0.700383064443688, 6.37396220353165, 33.912866078383,
        112.079291497871, 221.213596169931, 220.206867912376];
      const bottom = [8.83883476483184e-2, 1.75566716318264, 16.064177579207, 86.7807322029461,
        296.564248779674, 637.333633378831, 793.826512519948, 440.413735824752];
      const at = (all) => all.reduce((sum, one) => sum * z + one, 0);
      tail = e * at(top) / at(bottom);
    } else {
      tail = e / (z + 1 / (z + 2 / (z + 3 / (z + 4 / (z + 0.65))))) / 2.506628274631;
    }
  }
  return x > 0 ? 1 - tail : tail;
};

const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;

// Where an increasing function crosses a value.
const crossing = (increasing, value, low, high) => {
  for (let step = 0; step < 60 && high - low > 1e-9; step++) {
    const middle = (low + high) / 2;
    if (increasing(middle) < value) low = middle; else high = middle;
  }
  return (low + high) / 2;
};
