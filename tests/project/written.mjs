// Plays games by js/game.js: node written.mjs rungs.wasm games.json
import { readFileSync } from "node:fs";
import { Game } from "../../js/game.js";
import { load } from "../../js/rungs.js";

const [module, games] = process.argv.slice(2).map((file) => readFileSync(file));
const rungs = await load(module);
const played = JSON.parse(games).map(({ fen, moves }) => {
  const game = new Game(rungs, fen);
  for (const move of moves) game.play(move);
  return { sans: game.plies.map(({ san }) => san), check: game.check !== "" };
});
console.log(JSON.stringify(played));
