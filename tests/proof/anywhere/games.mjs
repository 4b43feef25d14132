// Plays recorded games by the C API in WebAssembly; prints the SHA-256 of all that the steps put
// out.
//
//   node games.mjs MODULE FILE...
//
// Files are those of `games.c`.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { load } from "../../../js/rungs.js";
import { play } from "./played.mjs";

const [module, ...files] = process.argv.slice(2);
const rungs = await load(readFileSync(module));
const digest = createHash("sha256");
for (const file of files) {
  const content = readFileSync(file);
  const copy = content.buffer.slice(content.byteOffset, content.byteOffset + content.length);
  play(rungs, copy, (bytes) => digest.update(bytes));
}
console.log(digest.digest("hex"));
