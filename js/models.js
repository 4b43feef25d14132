/**
 * Models of speed: Amdahl's law, the roofline, and what an update costs on several processes.
 * @module
 */

/** How many times as fast the whole is, of which a share becomes some times as fast. */
export const amdahl = (share, factor) => 1 / (1 - share + share / factor);

/** The most operations a second of a program, by its operations per byte, a peak and a bandwidth. */
export const attainable = (intensity, peak, bandwidth) => Math.min(peak, intensity * bandwidth);

/**
 * Seconds until each of some processes has the sum of all their gradients, passed around a ring.
 * @param {number} processes
 * @param {{bytes: number, messages: number, latency: number, bandwidth: number}} exchange bytes of
 *   all messages of an update, seconds of a message however short, bytes a second
 */
export function allReduceSeconds(processes, { bytes, messages, latency, bandwidth }) {
  const moved = ((2 * (processes - 1)) / processes) * bytes;
  return messages * 2 * (processes - 1) * latency + moved / bandwidth;
}
