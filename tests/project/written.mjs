// Plays games by js/game.js: node written.mjs rungs.wasm games.json
import { readFileSync } from "node:fs";
import { Game } from "../../js/game.js";
import { load } from "../../js/rungs.js";

const [module, games] = process.argv.slice(2).map((file) => readFileSync(file));
const game = new Game(await load(module));
const played = JSON.parse(games).map(({ fen, moves }) => {
  game.begin(fen);
  const legal = moves.map((move) => {
    const before = game.moves.sort();
    game.play(move);
    return before;
  });
  const [sans, ucis] = ["san", "uci"].map((key) => game.plies.map((ply) => ply[key]));
  return { sans, ucis, legal, check: game.check !== "", pgn: game.pgn({ white: "a", black: "b" }) };
});
console.log(JSON.stringify(played));
