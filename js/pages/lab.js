import { Board } from "../board.js";
import { file, json } from "../files.js";
import { TASKS } from "../lab.js";
import { load } from "../rungs.js";

// The time limit for an answer, in seconds.
const LIMIT = Number(new URLSearchParams(location.search).get("limit") ?? 10);
const rungs = await load(await file("rungs.wasm"));
const pieces = await json("pieces.json");

/** Calls a reader's function for each case; resolves to {results}, or to {failed} in words. */
function called(code, name, cases) {
  const worker = new Worker(new URL("./lab_worker.js", import.meta.url), { type: "module" });
  return new Promise((resolve) => {
    const late = { failed: `No answer after ${LIMIT} s: does it end?` };
    const clock = setTimeout(resolve, 1000 * LIMIT, late);
    const none = { failed: "The browser starts no worker." };
    worker.addEventListener("error", () => resolve(none));
    worker.addEventListener("message", ({ data }) => {
      clearTimeout(clock);
      resolve(data);
    });
    worker.postMessage({ code, name, cases });
  }).finally(() => worker.terminate());
}

function begin(task) {
  const section = document.getElementById(task.name);
  const [code, check, again, verdict, wrong] = ["code", "check", "again", "verdict", "wrong"].map(
    (name) => section.querySelector(`.${name}`),
  );
  const say = (words, kind) => {
    verdict.textContent = words;
    verdict.className = `verdict ${kind}`;
  };
  const cases = task.cases(rungs);

  async function judge() {
    check.disabled = true;
    wrong.replaceChildren();
    say("Checking …", "");
    const begun = performance.now();
    const { results, failed } = await called(code.value, task.name, cases);
    check.disabled = false;
    const fault = failed ? { words: failed } : task.judge(cases, results);
    if (!fault) {
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      return say(`Right in all ${cases.length} cases, checked in ${seconds} s.`, "right");
    }
    say(`Not right yet. ${fault.words}`, "not");
    if (!fault.fen) return;
    new Board(wrong, { pieces, label: "The first case that is wrong" }).show(fault);
  }

  code.value = task.stub;
  check.addEventListener("click", judge);
  code.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !check.disabled) judge();
  });
  again.addEventListener("click", () => {
    code.value = task.stub;
    wrong.replaceChildren();
    say("", "");
  });
  section.hidden = false;
}

for (const task of Object.values(TASKS)) begin(task);
