// Ratings over time, of one or two teams among all others.
const curvesSection = (data) => {
  const { moments } = data.curves, { teams } = data, svg = byId("curve"), selects = [byId("curve-first"), byId("curve-second")];
  const order = teams.map((_, n) => n).sort((a, b) => teams[a].localeCompare(teams[b]));
  selects[1].add(new Option("nobody", -1));
  for (const select of selects) for (const n of order) select.add(new Option(teams[n], n));
  selects[0].value = data.start.home;
  selects[1].value = data.start.away;
  // A season apart is drawn apart.
  const places = [];
  moments.forEach((one, n) => places.push(n ? places[n - 1] + (one.season === moments[n - 1].season ? 1 : 2.5) : 0));
  const seasons = [...new Set(moments.map((one) => one.season))];
  const runs = seasons.map((season) => moments.map((one, n) => (one.season === season ? n : -1)).filter((n) => n >= 0));
  let at = moments.length - 1;

  const measure = () => document.querySelector("input[name=measure]:checked").value;
  const chosen = () => selects.map((one) => Number(one.value)).filter((n, place) => n >= 0 && (place === 0 || n !== Number(selects[0].value)));

  const readout = () => {
    const found = data.curves[measure()], line = byId("curve-readout"), { season, week } = moments[at];
    line.replaceChildren(`${season}, week ${Math.floor(week) + 1}: `);
    chosen().forEach((team, place) => {
      const [low, middle, high] = found.map((one) => one[team][at]), name = document.createElement("b");
      const digits = data.explorer?.kind === "poisson" ? 2 : 1;
      const text = (value) => (measure() === "net" ? plus(value, digits) : value.toFixed(digits));
      name.className = place ? "away" : "home";
      name.textContent = `${teams[team]} ${text(middle)}`;
      line.append(place ? ", " : "", name, ` (${text(low)} to ${text(high)})`);
    });
  };

  const picture = () => {
    const width = svg.parentElement.clientWidth, height = Math.max(260, Math.min(420, width * 0.5)), left = 34, right = width - 8, top = 12, base = height - 26;
    blank(svg, width, height);
    const found = data.curves[measure()], teamsShown = chosen();
    const every = [...found[1].flat(), ...teamsShown.flatMap((team) => [...found[0][team], ...found[2][team]])];
    const low = every.reduce((a, b) => Math.min(a, b)), high = every.reduce((a, b) => Math.max(a, b)), room = (high - low) * 0.04 || 1;
    const x = scaled(0, places.at(-1), left + 4, right - 4), y = scaled(low - room, high + room, base, top);
    const polished = (points) => (points.length > 1 ? points : [[points[0][0] - 3, points[0][1]], [points[0][0] + 3, points[0][1]]]);
    for (const tick of ticks(low, high, 5)) {
      draw(svg, "line", { class: tick === 0 && measure() === "net" ? "axis" : "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) });
      draw(svg, "text", { class: "label", x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, measure() === "net" && tick > 0 ? `+${tickText(tick)}` : tickText(tick));
    }
    runs.forEach((run, n) => {
      const middle = (x(places[run[0]]) + x(places[run.at(-1)])) / 2;
      draw(svg, "text", { class: "label", x: middle, y: height - 6, "text-anchor": "middle" }, runs.length > 8 && n % 2 ? "" : seasons[n]);
      found[1].forEach((curve, team) => {
        if (!teamsShown.includes(team)) draw(svg, "path", { class: "other", d: path(polished(run.map((m) => [x(places[m]), y(curve[m])]))) });
      });
    });
    const styles = ["home", "away"];
    teamsShown.forEach((team, place) => runs.forEach((run) => {
      const edge = (which) => polished(run.map((m) => [x(places[m]), y(found[which][team][m])]));
      draw(svg, "path", { class: `band ${styles[place]}`, d: path([...edge(0), ...edge(2).reverse()], true) });
    }));
    teamsShown.forEach((team, place) => runs.forEach((run) => draw(svg, "path", { class: `line ${styles[place]}`, d: path(polished(run.map((m) => [x(places[m]), y(found[1][team][m])]))) })));
    draw(svg, "line", { class: "cursor", x1: x(places[at]), x2: x(places[at]), y1: top, y2: base });
    teamsShown.forEach((team, place) => draw(svg, "circle", { class: `dot ${styles[place]}`, cx: x(places[at]), cy: y(found[1][team][at]), r: 5 }));
    readout();
  };
  const move = (place) => { at = Math.min(Math.max(place, 0), moments.length - 1); picture(); };
  for (const kind of ["pointerdown", "pointermove"]) svg.addEventListener(kind, (event) => {
    const box = svg.getBoundingClientRect(), share = (event.clientX - box.left - 38) / (box.width - 50) * places.at(-1);
    let near = 0;
    places.forEach((place, n) => { if (Math.abs(place - share) < Math.abs(places[near] - share)) near = n; });
    if (near !== at) move(near);
  });
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[event.key];
    if (step) { event.preventDefault(); move(at + step); }
  });
  for (const one of [...selects, ...document.querySelectorAll("input[name=measure]")]) one.addEventListener("change", picture);
  document.querySelectorAll("button[data-curve]").forEach((one) => one.addEventListener("click", () => {
    selects[0].value = one.dataset.curve;
    picture();
    byId("curves").scrollIntoView();
  }));
  drawn(svg, picture);
};
