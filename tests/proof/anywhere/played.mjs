// Plays a recorded game by the C API in WebAssembly, in Node and in browsers.

const OBSERVATIONS = ["board", "planes"];
const MASKS = ["bool", "bits", "list"];
const OPPONENTS = ["none", "random"];
const FEN_BYTES = 128;

const bytes = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

// `content`: an ArrayBuffer of what `games.c` reads; `update` is called with all that steps put out.
export function play(rungs, content, update) {
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
      update(bytes(made[name]));
    if (chess) update(bytes(made.mask));
  }
  made.close();
}
