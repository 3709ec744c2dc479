// Whether chances meant what they said.
const reliabilityPicture = (svg, { said, won, low, high, games }) => {
  const width = Math.min(svg.parentElement.clientWidth, 420), left = 46, top = 10, room = width - left - 10, height = room + top + 40;
  blank(svg, width, height);
  const x = scaled(0, 1, left, left + room), y = scaled(0, 1, top + room, top), most = Math.max(...games);
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    draw(svg, "line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: top + room });
    draw(svg, "line", { class: "grid", x1: left, x2: left + room, y1: y(tick), y2: y(tick) });
    draw(svg, "text", { class: "label", x: x(tick), y: top + room + 16, "text-anchor": "middle" }, `${100 * tick}`);
    draw(svg, "text", { class: "label", x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, `${100 * tick}`);
  }
  draw(svg, "line", { class: "level", x1: x(0), y1: y(0), x2: x(1), y2: y(1) });
  said.forEach((p, n) => {
    draw(svg, "line", { class: "whiskers", x1: x(p), x2: x(p), y1: y(low[n]), y2: y(high[n]) });
    const dot = draw(svg, "circle", { class: "dot", cx: x(p), cy: y(won[n]), r: 3.5 + 5 * Math.sqrt(games[n] / most) });
    draw(dot, "title", {}, `${games[n]} games: said ${percent(p)}, won ${percent(won[n])}`);
  });
  draw(svg, "text", { class: "label strong", x: left + room, y: top + room + 34, "text-anchor": "end" }, "said, % →");
  draw(svg, "text", { class: "label strong", "text-anchor": "end", transform: `translate(11 ${top}) rotate(-90)` }, "won, % →");
};

const pitPicture = (svg, level, title) => {
  const width = Math.min(svg.parentElement.clientWidth, 420), left = 46, top = 10, room = width - left - 10, height = room + top + 40;
  blank(svg, width, height);
  if (!level) { draw(svg, "text", { class: "label", x: left, y: height / 2 }, "This forecaster says only who wins."); return; }
  const { counts, expected, low, high } = level, most = Math.max(...counts, high) * 1.08;
  const x = scaled(0, counts.length, left, left + room), y = scaled(0, most, top + room, top);
  for (const tick of ticks(0, most, 4)) {
    draw(svg, "line", { class: "grid", x1: left, x2: left + room, y1: y(tick), y2: y(tick) });
    draw(svg, "text", { class: "label", x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick));
  }
  draw(svg, "rect", { class: "calm", x: left, width: room, y: y(high), height: y(low) - y(high) });
  counts.forEach((count, n) => {
    const bar = draw(svg, "rect", { class: "column", x: x(n) + 1.5, width: x(1) - x(0) - 3, y: y(count), height: y(0) - y(count) });
    draw(bar, "title", {}, `${count} games, expected ${expected.toFixed(1)}`);
  });
  for (const edge of [low, high]) draw(svg, "line", { class: "edge", x1: left, x2: left + room, y1: y(edge), y2: y(edge) });
  draw(svg, "line", { class: "level over", x1: left, x2: left + room, y1: y(expected), y2: y(expected) });
  draw(svg, "line", { class: "axis", x1: left, x2: left + room, y1: y(0), y2: y(0) });
  for (const [place, text] of [[0, "0"], [counts.length / 2, "½"], [counts.length, "1"]]) draw(svg, "text", { class: "label", x: x(place), y: top + room + 16, "text-anchor": "middle" }, text);
  draw(svg, "text", { class: "label strong", x: left + room, y: top + room + 34, "text-anchor": "end" }, `${title} within its forecast →`);
  draw(svg, "text", { class: "label strong", "text-anchor": "end", transform: `translate(11 ${top}) rotate(-90)` }, "games →");
};

const calibrationSection = (data) => {
  const select = byId("forecaster");
  const picture = () => {
    const one = data.calibration[Number(select.value)];
    reliabilityPicture(byId("reliability"), one.reliability);
    pitPicture(byId("pit-margin"), one.margin, "margin");
    pitPicture(byId("pit-total"), one.total, "total");
  };
  select.addEventListener("change", picture);
  drawn(byId("reliability"), picture);
};
