// Calls a reader's function in a thread that can be ended. It receives {code, name, cases}, and
// sends {results}, or {failed} in words. A case with `draws` is called that many times, with random
// numbers.
import { randoms } from "../randoms.js";

addEventListener("message", ({ data: { code, name, cases } }) => {
  try {
    const call = new Function(`"use strict";\n${code}\nreturn ${name};`)();
    const random = randoms(11);
    // It may not be possible to send values of other types.
    const plain = (value) =>
      ["bigint", "number"].includes(typeof value) ? value : `A value of type ${typeof value}`;
    const results = cases.map(({ given, draws }) =>
      draws ? Array.from({ length: draws }, () => plain(call(given, random))) : plain(call(given)),
    );
    postMessage({ results });
  } catch (error) {
    postMessage({ failed: String(error) });
  }
});
