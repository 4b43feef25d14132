import { json } from "../files.js";
import { allReduceSeconds, amdahl, attainable } from "../models.js";
import { canvas, logarithmic, made, write } from "../svg.js";

const PROCESSES = [1, 2, 4, 8, 16, 32, 64];
const [HEIGHT, LEFT, TOP, BOTTOM] = [300, 56, 24, 44]; // pixels of a chart and its margins

const models = await json("models.json");
const byId = (id) => document.getElementById(id);
const short = (value) => Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 9 });
const steps = (low, high, count = 120) =>
  Array.from({ length: count + 1 }, (_, i) => low + ((high - low) * i) / count);
const path = (points) => "M" + points.map((point) => point.join(" ")).join("L");

/** Draws the axes of a chart; returns it with the places of values. */
function chart(id, { x, y, things, unit }) {
  const { svg, width } = canvas(byId(id), HEIGHT);
  const across = logarithmic(x, width - LEFT - 24);
  const up = logarithmic(y, HEIGHT - TOP - BOTTOM);
  const at = (value) => LEFT + across.at(value);
  const over = (value) => HEIGHT - BOTTOM - up.at(value);
  for (const tick of up.ticks) {
    made("line", svg, { class: "axis", x1: LEFT, x2: width, y1: over(tick), y2: over(tick) });
    made("text", svg, { x: LEFT - 8, y: over(tick) + 4, "text-anchor": "end" }, short(tick));
  }
  for (const tick of across.ticks) write(svg, at(tick), HEIGHT - 24, short(tick));
  made("text", svg, { x: 0, y: 11, class: "faint" }, unit);
  write(svg, (LEFT + width) / 2, HEIGHT - 4, things, "faint");
  return { svg, width, at, over };
}

function drawAmdahl() {
  const [share, factor] = [byId("share").value / 100, 10 ** byId("faster").value];
  const limit = 1 / (1 - share);
  const gained = amdahl(share, factor);
  const most = Math.min(limit, 1000);
  const size = { x: [1, 1000], y: [1, Math.max(10, most)] };
  const texts = { things: "times as fast, the part", unit: "times as fast, the whole" };
  const { svg, at, over, width } = chart("amdahl", { ...size, ...texts });
  const curve = steps(0, 3).map((power) => [at(10 ** power), over(amdahl(share, 10 ** power))]);
  if (limit <= 1000) made("path", svg, { class: "limit", d: path([[LEFT, over(limit)], [width, over(limit)]]) });
  made("path", svg, { class: "line", d: path(curve) });
  made("circle", svg, { class: "chosen", cx: at(factor), cy: over(gained), r: 6 });
  const bound = share < 1 ? `, and at most ${short(limit)} times however fast the part becomes` : "";
  byId("amdahl-about").textContent =
    `A part that takes ${short(100 * share)} % of the time becomes ${short(factor)} times as fast: ` +
    `the whole becomes ${short(gained)} times as fast${bound}.`;
}

function drawRoofline() {
  const { peak, bandwidths, programs } = models.roofs[byId("cores").value];
  const bandwidth = bandwidths[byId("level").value];
  const intensity = 10 ** byId("intensity").value;
  const bound = attainable(intensity, peak, bandwidth);
  const speeds = [0.01 * bandwidth, peak, ...programs.map(({ performance }) => performance)];
  const size = { x: [0.01, 100], y: speeds.map((speed) => speed / 1e9) };
  const texts = { things: "operations per byte", unit: "10⁹ operations a second" };
  const { svg, at, over } = chart("roofline", { ...size, ...texts });
  const roof = steps(-2, 2).map((power) => 10 ** power);
  const places = roof.map((x) => [at(x), over(attainable(x, peak, bandwidth) / 1e9)]);
  made("path", svg, { class: "line", d: path(places) });
  programs.forEach(({ name, intensity: x, performance }, i) => {
    const y = over(performance / 1e9);
    made("circle", svg, { class: "program", cx: at(x), cy: y, r: 5 });
    write(svg, at(x), i ? y - 10 : y + 20, name);
  });
  made("circle", svg, { class: "chosen", cx: at(intensity), cy: over(bound / 1e9), r: 6 });
  const limit = bound < peak ? "its bytes" : "its operations";
  byId("roofline-about").textContent =
    `${short(intensity)} operations per byte: at most ${short(bound / 1e9)} · 10⁹ operations a second, ` +
    `bounded by ${limit}. The roof bends at ${short(peak / bandwidth)} operations per byte.`;
}

function drawCost() {
  const link = { bandwidth: 10 ** byId("bandwidth").value, latency: 10 ** byId("latency").value };
  const { seconds, bytes, messages } = models.update;
  const exchanges = PROCESSES.map((p) => allReduceSeconds(p, { bytes, messages, ...link }));
  const longest = seconds + Math.max(...exchanges);
  const { svg, width } = canvas(byId("cost"), HEIGHT);
  const apart = (width - LEFT) / PROCESSES.length;
  const tall = (value) => (value / longest) * (HEIGHT - TOP - BOTTOM);
  const bottom = HEIGHT - BOTTOM;
  for (const tick of [0, longest / 2, longest]) {
    const y = bottom - tall(tick);
    made("line", svg, { class: "axis", x1: LEFT, x2: width, y1: y, y2: y });
    made("text", svg, { x: LEFT - 8, y: y + 4, "text-anchor": "end" }, short(tick));
  }
  PROCESSES.forEach((p, i) => {
    const x = LEFT + apart * (i + 0.15);
    const bar = (name, from, height) =>
      made("rect", svg, { class: name, x, width: 0.7 * apart, y: bottom - from - height, height });
    bar("computing", 0, tall(seconds));
    bar("exchange", tall(seconds), tall(exchanges[i]));
    write(svg, x + 0.35 * apart, HEIGHT - 24, p);
  });
  made("text", svg, { x: 0, y: 11, class: "faint" }, "seconds: computing below, exchange above");
  write(svg, (LEFT + width) / 2, HEIGHT - 4, "processes", "faint");
  const last = exchanges.at(-1);
  byId("cost-about").textContent =
    `By a link of ${short(link.bandwidth / 1e9)} GB/s and ${short(link.latency * 1e6)} µs a message, ` +
    `64 processes do ${short((64 * seconds) / (seconds + last))} times the work of one.`;
}

function draw() {
  drawAmdahl();
  drawRoofline();
  drawCost();
}

function options(id, names) {
  for (const name of names) byId(id).append(new Option(name));
}

options("part", Object.keys(models.shares));
options("cores", Object.keys(models.roofs));
/** Offers the levels of memory that these cores measured, the slowest first. */
function offerLevels() {
  const { bandwidths } = models.roofs[byId("cores").value];
  byId("level").replaceChildren();
  options("level", Object.keys(bandwidths).sort((a, b) => bandwidths[a] - bandwidths[b]));
  byId("level").value = "L2"; // which holds what these programs read and write
}
offerLevels();
byId("cores").addEventListener("change", offerLevels);
const choose = () => (byId("share").value = 100 * models.shares[byId("part").value]);
byId("part").addEventListener("change", choose);
byId("bandwidth").value = Math.log10(models.update.bandwidth);
byId("latency").value = Math.log10(models.update.latency);
byId("machine").textContent = models.machine;
byId("page").hidden = false;
choose();
draw();
byId("page").addEventListener("input", draw);
byId("page").addEventListener("change", draw);
addEventListener("resize", draw);
