const byId = (id) => document.getElementById(id);
const plus = (number, digits = 1) => (Number(number.toFixed(digits)) < 0 ? "−" : "+") + Math.abs(number).toFixed(digits);
const minus = (text) => String(text).replace("-", "−");
const percent = (p) => (p > 0.995 && p < 1 ? "> 99 %" : p < 0.005 && p > 0 ? "< 1 %" : `${(100 * p).toFixed(0)} %`);

// An element of a picture; text goes in as text, never as markup.
const draw = (parent, name, attributes = {}, text = null) => {
  const one = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  if (text !== null) one.textContent = text;
  parent.append(one);
  return one;
};

const blank = (svg, width, height) => {
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.height = `${height}px`;
};

const path = (points, closed = false) => points.map(([x, y], n) => `${n ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("") + (closed ? "Z" : "");

const scaled = (low, high, from, to) => (value) => from + (value - low) / (high - low || 1) * (to - from);

// Round numbers between two ends, about so many.
const ticks = (low, high, about) => {
  const rough = (high - low) / about || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999);
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9; n++) found.push(n * step);
  return found;
};

const tickText = (value) => minus(Number(value.toFixed(6)));

// A name that fits.
const short = (name, most = 16) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

// Draw now, and again when the room changes.
const drawn = (svg, picture) => {
  let width = 0;
  new ResizeObserver(() => {
    const now = Math.round(svg.parentElement.clientWidth);
    if (now && now !== width) { width = now; picture(width); }
  }).observe(svg.parentElement);
};
