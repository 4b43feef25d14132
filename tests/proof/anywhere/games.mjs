// Plays recorded games by the C API in WebAssembly; prints the SHA-256 of all that the steps put
// out.
//
//   node games.mjs MODULE FILE...
//
// Files are those of `games.c`.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { load } from "../../../js/rungs.js";

const OBSERVATIONS = ["board", "planes"];
const MASKS = ["bool", "bits", "list"];
const OPPONENTS = ["none", "random"];
const FEN_BYTES = 128;

const [module, ...files] = process.argv.slice(2);
const rungs = await load(readFileSync(module));
const digest = createHash("sha256");
const bytes = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

function play(content) {
  const head = new BigInt64Array(content, 0, 8);
  const [chess, format, mask, opponent, starts, envs, steps, seed] = head;
  const [numEnvs, numStarts] = [Number(envs), Number(starts)];
  const fens = Array.from({ length: numStarts }, (_, i) =>
    new TextDecoder().decode(new Uint8Array(content, 64 + FEN_BYTES * i, FEN_BYTES)).split("\0")[0],
  );
  const made = chess
    ? rungs.chess({
        numEnvs,
        observation: OBSERVATIONS[format],
        mask: MASKS[mask],
        opponent: OPPONENTS[opponent],
        ...(numStarts ? { startFens: fens } : {}), // by default the classical one
      })
    : rungs.cartpole({ numEnvs, precision: Number(format) });
  made.reset(seed);
  const first = 64 + FEN_BYTES * numStarts;
  for (let step = 0; step < Number(steps); ++step) {
    made.step(new BigInt64Array(content, first + 8 * numEnvs * step, numEnvs));
    for (const name of ["observation", "reward", "terminated", "truncated"])
      digest.update(bytes(made[name]));
    if (chess) digest.update(bytes(made.mask));
  }
  made.close();
}

for (const file of files) {
  const content = readFileSync(file);
  play(content.buffer.slice(content.byteOffset, content.byteOffset + content.length));
}
console.log(digest.digest("hex"));
