// Closed curves around where a function on a grid is above a level; inside is on the left.
const SIDES = { B: [0, 0, 1, 0], R: [1, 0, 1, 1], T: [0, 1, 1, 1], L: [0, 0, 0, 1] };
const TURNS = ["", "BL", "RB", "RL", "TR", "BLTR", "TB", "TL", "LT", "BT", "RBLT", "RT", "LR", "BR", "LB", ""];

const contours = (values, size, level) => {
  const at = (i, j) => (i < 0 || j < 0 || i >= size || j >= size ? 0 : values[j * size + i]);
  const next = new Map(), points = new Map();
  const edge = (i, j, side) => {
    const [a, b, c, d] = SIDES[side], name = `${i + a},${j + b},${i + c},${j + d}`;
    if (!points.has(name)) {
      const low = at(i + a, j + b), high = at(i + c, j + d), share = (level - low) / (high - low);
      points.set(name, [i + a + share * (c - a), j + b + share * (d - b)]);
    }
    return name;
  };
  for (let j = -1; j < size; j++) for (let i = -1; i < size; i++) {
    const corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
    const turns = TURNS[corners.reduce((bits, one, n) => bits | (one > level) << n, 0)];
    for (let n = 0; n < turns.length; n += 2) next.set(edge(i, j, turns[n]), edge(i, j, turns[n + 1]));
  }
  const loops = [];
  while (next.size) {
    const loop = [];
    let name = next.keys().next().value;
    while (next.has(name)) {
      loop.push(points.get(name));
      const after = next.get(name);
      next.delete(name);
      name = after;
    }
    loops.push(loop);
  }
  return loops;
};

// The levels above which shares of all the probability lie.
const levelsHolding = (values, shares) => {
  const sorted = Float64Array.from(values).sort().reverse();
  const whole = sorted.reduce((sum, one) => sum + one, 0), found = [];
  let sum = 0, n = 0;
  for (const share of shares) {
    while (n < sorted.length && sum < share * whole) sum += sorted[n++];
    found.push(sorted[Math.max(n - 1, 0)]);
  }
  return found;
};
