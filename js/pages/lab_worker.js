// Calls a reader's function in a thread that can be ended: {code, name, cases} is what it is sent,
// {results} or {failed}, in words, what it tells. A case has arguments and `draws`, if it is called
// so often, with random numbers.
import { randoms } from "../randoms.js";

addEventListener("message", ({ data: { code, name, cases } }) => {
  try {
    const call = new Function(`"use strict";\n${code}\nreturn ${name};`)();
    const random = randoms(11);
    // What is none of the two may be nothing that can be sent.
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
