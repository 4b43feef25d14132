// Searches positions by an agent's network: node searched.mjs rungs.wasm agent.bin fens.json
import { readFileSync } from "node:fs";
import { Network } from "../../js/agent.js";
import { load } from "../../js/rungs.js";

const [module, agent, fens] = process.argv.slice(2).map((file) => readFileSync(file));
const rungs = await load(module);
const positions = JSON.parse(fens);
const settings = { policy: "puct", fraction: 0, temperature: 0, simulations: 24 };
const search = rungs.search({ numGames: positions.length, ...settings });
positions.forEach((fen, game) => search.begin(game, fen));
search.run(new Network(rungs, agent));
const { visits, priors, actionValues, value, rawValue } = search;
const found = { visits, priors, action_values: actionValues, value, raw_value: rawValue };
console.log(JSON.stringify(found, (_, each) => (ArrayBuffer.isView(each) ? [...each] : each)));
