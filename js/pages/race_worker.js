// Races in a thread of its own: {wasm, seconds} is what it is sent; {rows, share} or {failed}, in
// words, what it tells.
import { race } from "../race.js";
import { load } from "../rungs.js";

addEventListener("message", async ({ data: { wasm, seconds } }) => {
  try {
    race(await load(wasm), seconds, (rows, share) => postMessage({ rows, share }));
  } catch (error) {
    postMessage({ failed: String(error) });
  }
});
