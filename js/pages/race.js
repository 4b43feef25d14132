import { file, json } from "../files.js";
import { SIZES, VERSIONS, quartiles } from "../race.js";
import { canvas, logarithmic, made, write } from "../svg.js";

const SECONDS = Number(new URLSearchParams(location.search).get("seconds") ?? 10);
const POINTS = [
  "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", // circle, square, triangle, diamond
  "M-4.5 -4.5h9v9h-9z",
  "M0 -6L5.5 4.5h-11z",
  "M0 -6.5L6.5 0L0 6.5L-6.5 0z",
];

const byId = (id) => document.getElementById(id);

/** Writes plies a second: "950 k", "2.5 M". */
function speed(rate) {
  const [unit, sign] = rate >= 1e6 ? [1e6, " M"] : rate >= 1e3 ? [1e3, " k"] : [1, ""];
  return Number((rate / unit).toPrecision(3)) + sign;
}

/** Draws plies a second over the sizes of batches, a line for each version. */
function drawSizes(rows) {
  const [height, left, bottom] = [380, 56, 44];
  const { svg, width } = canvas(byId("sizes"), height);
  const found = rows.map(({ version, boards, rates, bounds }) => {
    return { version, boards, rate: quartiles(rates), bound: quartiles(bounds) };
  });
  const all = found.flatMap(({ rate, bound }) => [rate.low, rate.high, bound.middle]);
  const y = logarithmic(all, height - bottom - 32);
  const top = (rate) => height - bottom - y.at(rate);
  const apart = (width - left - 48) / (SIZES.length - 1);
  const x = (boards) => left + 24 + SIZES.indexOf(boards) * apart;
  for (const tick of y.ticks) {
    const at = top(tick);
    made("line", svg, { class: "axis", x1: left, x2: width, y1: at, y2: at });
    made("text", svg, { x: left - 8, y: at + 4, "text-anchor": "end" }, speed(tick));
  }
  made("text", svg, { x: 0, y: 11, class: "faint" }, "plies a second");
  for (const boards of SIZES) write(svg, x(boards), height - 22, boards.toLocaleString("en"));
  write(svg, (left + width) / 2, height - 4, "boards in a batch", "faint");
  VERSIONS.forEach(({ name }, v) => {
    const own = found.filter(({ version }) => version === name);
    const group = made("g", svg, { class: `v${v}` });
    const line = (of) => "M" + own.map((row) => `${x(row.boards)} ${top(of(row))}`).join("L");
    made("path", group, { class: "bound", d: line((row) => row.bound.middle) });
    made("path", group, { d: line((row) => row.rate.middle) });
    for (const { boards, rate } of own) {
      const shift = 3 * (v - 1.5); // so that bars don't hide each other
      const at = x(boards) + shift;
      made("line", group, { x1: at, x2: at, y1: top(rate.low), y2: top(rate.high) });
      made("path", group, {
        class: "point",
        d: POINTS[v],
        transform: `translate(${x(boards)} ${top(rate.middle)})`,
      });
    }
  });
}

function drawLegend() {
  const entry = (group, words, bound) => {
    const item = byId("legend").appendChild(document.createElement("li"));
    const svg = made("svg", item, { viewBox: "0 0 40 16", class: group, "aria-hidden": "true" });
    made("path", svg, { d: "M0 8H40", class: bound ? "bound" : "" });
    const transform = "translate(20 8)";
    if (!bound) made("path", svg, { class: "point", d: POINTS[group[1]], transform });
    item.append(words);
  };
  VERSIONS.forEach(({ name }, v) => entry(`v${v}`, name, false));
  entry("v3", "bound: only writing as many bytes", true);
}

function drawTable(rows) {
  const table = byId("table");
  table.tBodies[0]?.remove();
  const body = table.createTBody();
  const head = body.insertRow();
  const sizes = SIZES.map((n) => `${n} board${n > 1 ? "s" : ""}`);
  for (const words of ["mask, observation", "bytes a board", ...sizes]) {
    const cell = head.appendChild(document.createElement("th"));
    cell.scope = "col";
    cell.textContent = words;
  }
  for (const { name } of VERSIONS) {
    const line = body.insertRow();
    const own = rows.filter(({ version }) => version === name);
    line.insertCell().textContent = name;
    line.insertCell().textContent = own[0].bytes.toLocaleString("en");
    for (const boards of SIZES) {
      const row = own.find((each) => each.boards === boards);
      const { low, middle, high } = row ? quartiles(row.rates) : {};
      line.insertCell().textContent = row
        ? `${speed(middle)} (${speed(low)} to ${speed(high)})`
        : "left out";
    }
  }
}

/** Draws recorded rungs and this machine's, 512 boards and masks of bool, a point each. */
function drawLadder(rows, machines) {
  const own = rows.find(({ version, boards }) => version === "bool, board" && boards === 512);
  const yours = { rung: "here, WebAssembly", ...quartiles(own.rates), yours: true };
  const recorded = machines.flatMap(({ rows: all, machine }) =>
    all
      .filter(({ boards, mask }) => boards === 512 && mask === "bool")
      .map((row) => ({ ...row, rung: machines.length > 1 ? `${row.rung}, ${machine}` : row.rung })),
  );
  const bars = [...recorded, yours].sort((a, b) => a.middle - b.middle);
  const [row, top] = [40, 8];
  const height = top + row * bars.length + 44;
  const { svg, width } = canvas(byId("ladder"), height);
  const x = logarithmic(bars.flatMap(({ low, high }) => [low, high]), width - 40);
  const at = (rate) => 16 + x.at(rate);
  for (const tick of x.ticks) {
    made("line", svg, { class: "axis", x1: at(tick), x2: at(tick), y1: top, y2: height - 40 });
    write(svg, at(tick), height - 24, speed(tick));
  }
  write(svg, width / 2, height - 4, "plies a second", "faint");
  bars.forEach(({ rung, low, middle, high, yours: here }, i) => {
    const y = top + row * i + 28;
    const group = made("g", svg, { class: here ? "v2" : "v0" });
    made("line", group, { x1: at(low), x2: at(high), y1: y, y2: y });
    const transform = `translate(${at(middle)} ${y})`;
    made("path", group, { class: "point", d: POINTS[here ? 3 : 0], transform });
    const words = `${rung}: ${speed(middle)}`;
    const longest = 7.5 * words.length; // pixels, about
    made("text", svg, { x: Math.max(0, Math.min(at(middle), width - longest)), y: y - 10 }, words);
  });
  const about = machines.map((each) => `${each.machine}, ${each.date}, commit ${each.commit}`);
  byId("machines").textContent = about.join("; ");
}

const [wasm, machines] = [await file("rungs.wasm"), await json("recorded.json")];
const [start, progress, status] = ["start", "progress", "status"].map(byId);
let rows = [];

function draw() {
  if (!rows.length) return;
  drawSizes(rows);
  drawTable(rows);
  drawLadder(rows, machines);
}

drawLegend();
start.disabled = false;
start.addEventListener("click", () => {
  const worker = new Worker(new URL("./race_worker.js", import.meta.url), { type: "module" });
  start.disabled = true;
  progress.hidden = false;
  progress.value = 0;
  status.textContent = "Games are made ready …";
  const ends = (words) => {
    worker.terminate();
    progress.hidden = true;
    start.disabled = false;
    status.textContent = words;
  };
  worker.addEventListener("error", () => ends("It failed: the browser starts no worker."));
  worker.addEventListener("message", ({ data }) => {
    if (data.failed) return ends(`It failed: ${data.failed}`);
    rows = data.rows;
    byId("results").hidden = false;
    progress.value = data.share;
    const rounds = rows[0].rates.length;
    if (data.share === 1) ends(`${rounds} rounds, done.`);
    else status.textContent = `Round ${rounds} …`;
    draw();
  });
  worker.postMessage({ wasm, seconds: SECONDS });
});
addEventListener("resize", draw);
