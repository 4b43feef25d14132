// Plays games that `test_wasm.py` played on the rung `cpp`, and compares all outputs of all steps:
// node lockstep.mjs rungs.wasm FOLDER
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { load } from "../../js/rungs.js";

const [module, folder] = process.argv.slice(2);
const rungs = await load(readFileSync(module));
const games = JSON.parse(readFileSync(`${folder}/games.json`));
for (const [game, { kind, settings, seeds, steps, position, step: ofStep }] of games.entries()) {
  const content = readFileSync(`${folder}/${game}`);
  let at = 0;
  const read = (bytes) => Uint8Array.from(content.subarray(at, (at += bytes)));
  const envs = rungs[kind](settings);
  const compare = (names, when) => {
    for (const name of names) {
      const array = envs[name];
      const ours = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      assert.ok(Buffer.compare(ours, read(ours.length)) === 0, `game ${game}, ${when}: ${name}`);
    }
  };
  envs.reset(seeds.length > 1 ? BigUint64Array.from(seeds, BigInt) : BigInt(seeds[0]));
  compare(position, "reset");
  for (let step = 0; step < steps; ++step) {
    envs.step(new BigInt64Array(read(8 * envs.numEnvs).buffer));
    compare([...position, ...ofStep], `step ${step}`);
    const ended = read(envs.numEnvs);
    if (!ended.includes(1)) continue;
    envs.resetSome(ended);
    compare(position, `reset after step ${step}`);
  }
  assert.equal(at, content.length);
  envs.close();
}
