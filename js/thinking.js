/**
 * Agents that think for a page, on its own thread, and report what they have found so far:
 *
 *   for await (const found of player.think(fen, actions, 1000, signal)) show(found);
 * @module
 */
import { Agent } from "./agent.js";

const SLICE = 20; // milliseconds of search, after each of which the page answers its reader
const SHOWS = 100; // milliseconds between two progresses
const DEPTH = 4; // plies of a progress's tree
const LEAST = 0.02; // share of all simulations that a branch of it has

/**
 * What was found so far; the last one is the answer.
 * @typedef {import("./agent.js").Thoughts & {tree: import("./agent.js").Branch[],
 *   milliseconds: number}} Progress
 */

const breath = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage(0);
  });

/** An agent that takes breaks, in which the page answers its reader. */
export class Player {
  #agent;

  /**
   * @param {import("./rungs.js").Rungs} rungs @param {Uint8Array} file see `Agent`
   * @param {number} nodes positions of its tree
   */
  constructor(rungs, file, nodes) {
    this.#agent = new Agent(rungs, file, { nodes });
    /** What is known of it: its name, and ratings. */
    this.about = this.#agent.about;
  }

  /**
   * Thinks of a position.
   * @param {string} fen where the game began @param {number[]} actions what was played since
   * @param {number} milliseconds for how long
   * @param {AbortSignal} signal ends it early, without another progress
   * @returns {AsyncGenerator<Progress>}
   * @throws {RungsError} FEN, ILLEGAL_ACTION
   */
  async *think(fen, actions, milliseconds, signal) {
    const agent = this.#agent;
    const began = performance.now();
    agent.begin(fen, actions);
    let slice = 32;
    for (let shown = -SHOWS; ; ) {
      const before = performance.now();
      agent.think(slice);
      const now = performance.now();
      slice = Math.min(512, Math.max(16, Math.round((slice * SLICE) / Math.max(1, now - before))));
      const done = now - began >= milliseconds;
      if (done || now - shown >= SHOWS) {
        shown = now;
        const tree = agent.tree(DEPTH, LEAST);
        yield { ...agent.thoughts(), tree, milliseconds: now - began };
      }
      if (done) return;
      await breath();
      if (signal.aborted) return;
    }
  }
}
