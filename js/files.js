/**
 * The files that a page was built with: classic scripts next to it hold them, packed, as pages that
 * are opened from a folder can't fetch anything.
 * @module
 */

/**
 * Unpacks a file. The page has `<script src="NAME.js"></script>` for it.
 * @param {string} name "rungs.wasm", "pieces.json"
 * @returns {Promise<Uint8Array>}
 * @throws {Error} the page has no such file
 */
export async function file(name) {
  const packed = globalThis.rungsFiles?.[name];
  if (!packed) throw new Error(`this page was built without ${name}`);
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Unpacks a file of JSON.
 * @param {string} name
 * @returns {Promise<any>}
 */
export async function json(name) {
  return JSON.parse(new TextDecoder().decode(await file(name)));
}
