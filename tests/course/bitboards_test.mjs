// Of `js/bitboards.js`, by the environment's masks: RUNGS_WASM=rungs.wasm node --test FILE
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { setsOf, squaresOf, targetsOf } from "../../js/bitboards.js";
import { piecesOf, squareName, squareOf, toUci } from "../../js/moves.js";
import { MAX_LEGAL, load } from "../../js/rungs.js";

const rungs = await load(readFileSync(process.env.RUNGS_WASM));

/** What the page leaves out: castling and captures en passant. */
function isSpecial(move, pieces) {
  const [from, to] = [move.slice(0, 2), move.slice(2, 4)];
  const kind = pieces.get(squareOf(from)).toLowerCase();
  const files = Math.abs(from.charCodeAt(0) - to.charCodeAt(0));
  return (kind === "k" && files > 1) || (kind === "p" && files && !pieces.has(squareOf(to)));
}

test("fills, pins and check masks allow what is legal, and nothing else", () => {
  const envs = rungs.chess({ mask: "list", numEnvs: 4 });
  envs.reset(1);
  let state = 1;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  let [pins, checks] = [0, 0];
  for (let step = 0; step < 150; ++step) {
    for (let i = 0; i < 4; ++i) {
      const fen = envs.fen(i);
      const pieces = piecesOf(fen);
      const listed = envs.mask.subarray(MAX_LEGAL * i, MAX_LEGAL * (i + 1));
      const legal = [...listed].filter((action) => action >= 0).map((action) => toUci(action, fen));
      const usual = legal.filter((move) => !isSpecial(move, pieces)).map((move) => move.slice(0, 4));
      const sets = setsOf(fen);
      const found = squaresOf(sets.own).flatMap((from) =>
        squaresOf(targetsOf(from, sets)).map((to) => squareName(from) + squareName(to)),
      );
      assert.deepEqual(found.sort(), [...new Set(usual)].sort(), fen);
      pins += sets.pins.size;
      checks += sets.checkers !== 0n;
    }
    envs.step(envs.sampleActions(random));
  }
  assert.ok(pins > 20 && checks > 10, `${pins} pins, ${checks} checks`);
});
