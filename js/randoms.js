/**
 * Random numbers that are the same each time. It is a module of its own as small workers need it.
 * @module
 */

/**
 * @param {number} state 1 to 2147483646
 * @returns {() => number} from 0 to less than 1
 */
export function randoms(state = 1) {
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}
