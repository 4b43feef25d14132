// Races in a thread of its own. It receives {wasm, seconds} and sends {rows, share}, or {failed} in
// words.
import { race } from "../race.js";
import { load } from "../rungs.js";

addEventListener("message", async ({ data: { wasm, seconds } }) => {
  try {
    race(await load(wasm), seconds, (rows, share) => postMessage({ rows, share }));
  } catch (error) {
    postMessage({ failed: String(error) });
  }
});
