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
for (const file of files) {
  const { buffer } = Uint8Array.from(readFileSync(file));
  const [chess, format, mask, opponent, ...numbers] = new BigInt64Array(buffer, 0, 8);
  const [numStarts, numEnvs, steps] = numbers.map(Number);
  const startFens = Array.from({ length: numStarts }, (_, i) =>
    new TextDecoder().decode(new Uint8Array(buffer, 64 + FEN_BYTES * i, FEN_BYTES)).split("\0")[0],
  );
  const envs = chess
    ? rungs.chess({
        numEnvs,
        observation: OBSERVATIONS[format],
        mask: MASKS[mask],
        opponent: OPPONENTS[opponent],
        ...(numStarts ? { startFens } : {}), // by default the classical one
      })
    : rungs.cartpole({ numEnvs, precision: Number(format) });
  envs.reset(numbers[3]);
  const outputs = ["observation", "reward", "terminated", "truncated", ...(chess ? ["mask"] : [])];
  for (let step = 0; step < steps; ++step) {
    const first = 64 + FEN_BYTES * numStarts + 8 * numEnvs * step;
    envs.step(new BigInt64Array(buffer, first, numEnvs));
    for (const name of outputs) digest.update(envs[name]);
  }
  envs.close();
}
console.log(digest.digest("hex"));
