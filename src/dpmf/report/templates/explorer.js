// Any two teams at any moment: features of every draw, their products, and the forecast.
const unpacked = ({ low, step, data: text }) => {
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  return { low, step, levels: new Uint16Array(bytes.buffer) };
};

const explorer = (data) => {
  const { draws, rank, times, venues, kind, noise } = data.explorer;
  const teams = data.teams.length, sides = { attack: unpacked(data.explorer.attack), defence: unpacked(data.explorer.defence) };
  // Axes: rank, teams, moments, venues, draws.
  const features = (side, team, moment, venue) => Array.from({ length: rank }, (_, k) => {
    const { low, step, levels } = sides[side];
    const start = (((k * teams + team) * times + (times > 1 ? moment : 0)) * venues + (venues > 1 ? venue : 0)) * draws;
    return Array.from(levels.subarray(start, start + draws), (one) => low[k] + step[k] * one);
  });
  const product = (row, col, moment, venue) => {
    const u = features("attack", row, moment, venue), v = features("defence", col, moment, venue);
    return u[0].map((_, draw) => u.reduce((sum, one, k) => sum + one[draw] * v[k][draw], 0));
  };
  return ({ home, away, moment, neutral }) => {
    const y = [product(home, away, moment, neutral ? 2 : 0), product(away, home, moment, neutral ? 2 : 1)];
    return (kind === "poisson" ? poissonGame : gaussianGame)(y, noise);
  };
};

const GRID = 121, SHARES = [0.5, 0.8, 0.95];

const densityPicture = (svg, game, names) => {
  const width = svg.parentElement.clientWidth, size = Math.min(width, 560), left = 46, top = 8, bottom = 44;
  const room = size - left - 10, height = room + top + bottom;
  blank(svg, width, height);
  const ends = [Math.min, Math.max].map((pick, n) => pick(...game.means.map((m, side) => m + (n ? 3.6 : -3.6) * game.sds[side])));
  const view = (n) => [Math.min, Math.max][n](...game.means.map((m, side) => m + (n ? 2.9 : -2.9) * game.sds[side]));
  const low = game.discrete ? -0.5 : Math.max(0, view(0)), high = game.discrete ? Math.max(4, Math.ceil(ends[1])) + 0.5 : view(1);
  const x = scaled(low, high, left, left + room), y = scaled(low, high, top + room, top);
  const defs = draw(svg, "defs");
  const corners = { "home-side": [[low, low], [high, high], [high, low]], "away-side": [[low, low], [high, high], [low, high]] };
  for (const [id, points] of Object.entries(corners))
    draw(draw(defs, "clipPath", { id }), "path", { d: path(points.map(([a, b]) => [x(a), y(b)]), true) });
  for (const tick of ticks(low, high, 5)) {
    draw(svg, "line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: top + room });
    draw(svg, "line", { class: "grid", x1: left, x2: left + room, y1: y(tick), y2: y(tick) });
    draw(svg, "text", { class: "label", x: x(tick), y: top + room + 17, "text-anchor": "middle" }, tickText(tick));
    draw(svg, "text", { class: "label", x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick));
  }
  if (game.discrete) {
    const most = Math.max(...game.joint), step = x(1) - x(0);
    for (let j = 0; j < Math.min(game.size, high); j++) for (let i = 0; i < Math.min(game.size, high); i++) {
      const side = i > j ? "homeward" : i < j ? "awayward" : "drawward", p = game.joint[j * game.size + i];
      const cell = draw(svg, "rect", { class: `cell ${side}`, x: x(i - 0.5), y: y(j + 0.5), width: step, height: step, "fill-opacity": (0.95 * p / most).toFixed(3) });
      draw(cell, "title", {}, `${names[0]} ${i}, ${names[1]} ${j}: ${(100 * p).toFixed(1)} %`);
    }
  } else {
    const step = (ends[1] - ends[0]) / (GRID - 1), values = game.density(ends[0], step, GRID);
    const inside = draw(svg, "svg", { x: left, y: top, width: room, height: room, viewBox: `${left} ${top} ${room} ${room}`, overflow: "hidden" });
    const tops = levelsHolding(values, SHARES).map((level) => {
      const loops = contours(values, GRID, level).map((loop) => loop.map(([i, j]) => [x(ends[0] + i * step), y(ends[0] + j * step)]));
      const shape = loops.map((loop) => path(loop, true)).join("");
      draw(inside, "path", { class: "contour homeward", d: shape, "clip-path": "url(#home-side)" });
      draw(inside, "path", { class: "contour awayward", d: shape, "clip-path": "url(#away-side)" });
      return loops.flat().reduce((best, one) => (one[1] < best[1] ? one : best), [0, Infinity]);
    });
    tops.forEach(([a, b], n) => {
      if (b > top + 12) draw(svg, "text", { class: "ring", x: a, y: b + 4, "text-anchor": "middle" }, `${100 * SHARES[n]} %`);
    });
    draw(svg, "line", { class: "level", x1: x(low), y1: y(low), x2: x(high), y2: y(high) });
  }
  const [a, b] = [x(game.means[0]), y(game.means[1])];
  draw(svg, "path", { class: "mark", d: `M${a - 7} ${b}H${a + 7}M${a} ${b - 7}V${b + 7}` });
  draw(svg, "path", { class: "axis", d: `M${left} ${top}V${top + room}H${left + room}`, fill: "none" });
  draw(svg, "text", { class: "label home", x: left + room, y: top + room + 38, "text-anchor": "end" }, `${short(names[0], 28)} scores →`);
  const side = draw(svg, "text", { class: "label away", x: 0, y: 0, "text-anchor": "end", transform: `translate(12 ${top}) rotate(-90)` });
  side.textContent = `${short(names[1], 28)} scores →`;
  draw(svg, "text", { class: "label home", x: left + room - 8, y: top + room - 10, "text-anchor": "end" }, `${short(names[0])} wins`);
  draw(svg, "text", { class: "label away", x: left + 8, y: top + 16 }, `${short(names[1])} wins`);
};

const marginPicture = (svg, game, names) => {
  const width = svg.parentElement.clientWidth, height = 116, base = height - 22, { margin } = game;
  blank(svg, width, height);
  const reach = Math.max(Math.abs(margin.quantile(0.003)), Math.abs(margin.quantile(0.997)));
  const edge = game.discrete ? reach + 0.5 : reach, x = scaled(-edge, edge, 4, width - 4);
  if (game.discrete) {
    const most = Math.max(...margin.masses), wide = Math.max(x(1) - x(0) - 2, 1);
    margin.masses.forEach((mass, n) => {
      const value = margin.first + n, tall = mass / most * (base - 8);
      if (Math.abs(value) <= reach) draw(svg, "rect", { class: `area ${value > 0 ? "homeward" : value < 0 ? "awayward" : "drawward"}`, x: x(-value) - wide / 2, y: base - tall, width: wide, height: tall });
    });
  } else {
    const places = Array.from({ length: 121 }, (_, n) => -reach + 2 * reach * n / 120), heights = places.map(margin.pdf), most = Math.max(...heights);
    // The home team stands on the left, as in the score above.
    for (const [side, own] of [["homeward", (m) => m >= 0], ["awayward", (m) => m <= 0]]) {
      const shown = places.map((m, n) => [x(-m), base - heights[n] / most * (base - 8), m]).filter(([, , m]) => own(m));
      draw(svg, "path", { class: `area ${side}`, d: path([[shown[0][0], base], ...shown, [shown.at(-1)[0], base]], true) });
    }
  }
  draw(svg, "line", { class: "axis", x1: 0, x2: width, y1: base, y2: base });
  for (const tick of ticks(-reach, reach, width < 400 ? 6 : 8)) {
    draw(svg, "text", { class: "label", x: x(tick), y: height - 5, "text-anchor": "middle" }, tickText(Math.abs(tick)));
  }
};

const explorerSection = (data) => {
  const forecast = explorer(data), { moments, teams } = data, state = { ...data.start };
  const [home, away] = [byId("home"), byId("away")], [date, slider, neutral] = [byId("date"), byId("moment"), byId("neutral")];
  const order = teams.map((_, n) => n).sort((a, b) => teams[a].localeCompare(teams[b]));
  for (const select of [home, away]) for (const n of order) select.add(new Option(teams[n], n));
  if (slider) slider.max = moments.length - 1;
  if (date) { date.min = moments[0].first; date.max = moments.at(-1).last; date.value = state.date ?? ""; }
  let game = null;
  const say = (id, text, value) => { const one = byId(id); one.textContent = text; if (value !== undefined) one.dataset.value = value; };
  const lead = (value) => (value <= 0 ? `${teams[state.home]} by ${Math.abs(value).toFixed(game.discrete ? 0 : 1)}` : `${teams[state.away]} by ${value.toFixed(game.discrete ? 0 : 1)}`);

  // An example near what is expected: a half cannot be hit.
  const half = (value) => minus((Math.round(value - 0.5) + 0.5).toFixed(1));
  const bets = () => {
    byId("line").placeholder = half(-game.margin.mean);
    byId("over-under").placeholder = half(game.total.mean);
    for (const [input, output, chance] of [["line", "cover", (at) => 1 - game.margin.cdf(-at)], ["over-under", "over", (at) => 1 - game.total.cdf(at)]]) {
      const text = byId(input).value, at = Number(text);
      const p = text.trim() === "" || !Number.isFinite(at) ? null : chance(at);
      say(output, p === null ? "–" : percent(p), p === null ? "" : p);
    }
  };
  const pictures = () => {
    const names = [teams[state.home], teams[state.away]];
    densityPicture(byId("density"), game, names);
    marginPicture(byId("margin"), game, names);
  };
  const update = () => {
    game = forecast(state);
    const names = [teams[state.home], teams[state.away]], moment = moments[state.moment];
    home.value = state.home; away.value = state.away;
    if (neutral) neutral.checked = state.neutral;
    if (slider) {
      const text = `Week ${Math.floor(moment.week) + 1} of season ${moment.season}`;
      slider.value = state.moment; slider.setAttribute("aria-valuetext", text); say("week", text);
      if (!(date.value >= moment.first && date.value <= moment.last)) date.value = moment.first;
    }
    document.querySelectorAll("[data-name]").forEach((one) => { one.textContent = names[one.dataset.name === "home" ? 0 : 1]; });
    ["home", "away"].forEach((side, n) => {
      say(`${side}-mean`, minus(game.means[n].toFixed(1)), game.means[n]);
      say(`${side}-sd`, `± ${game.sds[n].toFixed(1)}`, game.sds[n]);
    });
    const tie = game.discrete ? game.draw : 0, wins = game.home - tie / 2, losses = 1 - wins - tie;
    const bar = byId("chances"), [first, middle, last] = bar.children;
    first.style.flex = `${wins} 0 0`; middle.style.flex = `${tie} 0 0`; last.style.flex = `${losses} 0 0`;
    middle.hidden = !game.discrete; byId("p-draw-label").hidden = !game.discrete;
    bar.setAttribute("aria-label", `${names[0]} wins with ${percent(wins)}, ${names[1]} with ${percent(losses)}`);
    say("p-home", percent(wins), game.home); say("p-away", percent(losses), 1 - game.home); say("p-draw", percent(tie), tie);
    const low = -game.margin.quantile(0.9), high = -game.margin.quantile(0.1);
    say("spread", plus(-game.margin.mean), -game.margin.mean);
    say("spread-range", `${lead(low)} to ${lead(high)}`);
    byId("spread-range").dataset.low = low; byId("spread-range").dataset.high = high;
    const totals = [0.1, 0.9].map(game.total.quantile);
    say("total", game.total.mean.toFixed(1), game.total.mean);
    say("total-range", `${totals[0].toFixed(0)} to ${totals[1].toFixed(0)}`);
    byId("total-range").dataset.low = totals[0]; byId("total-range").dataset.high = totals[1];
    say("density-caption", game.discrete
      ? "Chance of every score; darker is likelier. The cross is the expected score."
      : "Where the score will fall: each ring holds the chance written on it. On the dashed line it is level; the cross is the expected score.");
    bets();
    pictures();
  };
  // The bookmaker's figures belong to one game: another one begins without them.
  const choose = (change, line = "", over = "") => {
    const before = { ...state };
    if ("home" in change || "away" in change) { byId("line").value = line; byId("over-under").value = over; }
    Object.assign(state, change);
    if (state.home === state.away) { // whoever is chosen twice changes places
      if ("home" in change) state.away = before.home; else state.home = before.away;
    }
    update();
  };
  home.addEventListener("change", () => choose({ home: Number(home.value) }));
  away.addEventListener("change", () => choose({ away: Number(away.value) }));
  byId("swap").addEventListener("click", () => choose({ home: state.away, away: state.home }));
  neutral?.addEventListener("change", () => choose({ neutral: neutral.checked }));
  slider?.addEventListener("input", () => { date.value = ""; choose({ moment: Number(slider.value) }); });
  date?.addEventListener("change", () => {
    const place = moments.findLastIndex((one) => one.first <= date.value);
    if (date.value) choose({ moment: Math.max(place, 0) });
  });
  for (const id of ["line", "over-under"]) byId(id).addEventListener("input", bets);
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  document.querySelectorAll("button[data-home]").forEach((one) => one.addEventListener("click", () => {
    const { home: a, away: b, moment, neutral: flat, date: day, line, over } = one.dataset;
    if (date) date.value = day;
    choose({ home: Number(a), away: Number(b), moment: Number(moment), neutral: flat === "1" }, line, over);
    byId("matchup").scrollIntoView();
  }));
  byId("line").value = state.line ?? "";
  byId("over-under").value = state.over_under ?? "";
  update();
  drawn(byId("density"), pictures);
};
