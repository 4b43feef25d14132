// Of `js/models.js`, by what Python computes: MODELS='[{...}]' node --test FILE
import assert from "node:assert/strict";
import test from "node:test";
import { allReduceSeconds, amdahl, attainable } from "../../js/models.js";

const close = (value, expected) => assert.ok(Math.abs(value / expected - 1) < 1e-12, `${value} ${expected}`);

test("the models of the page are those of the notebooks", () => {
  for (const { share, factor, whole, intensity, peak, bandwidth, bound, processes, exchange, seconds } of JSON.parse(
    process.env.MODELS,
  )) {
    close(amdahl(share, factor), whole);
    close(attainable(intensity, peak, bandwidth), bound);
    close(allReduceSeconds(processes, exchange), seconds);
  }
});
