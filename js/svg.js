/**
 * Elements of SVG, and what charts are made of.
 * @module
 */

/**
 * Makes an element.
 * @param {string} name @param {Record<string, any>} attributes @param {string} text what it holds
 * @returns {SVGElement}
 */
export function svgElement(name, attributes = {}, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

/** Makes an element within another; further arguments are those of `svgElement`. */
export const made = (name, parent, ...rest) => parent.appendChild(svgElement(name, ...rest));

/** Writes text around a place. */
export function write(svg, x, y, text, name = "") {
  made("text", svg, { x, y, "text-anchor": "middle", class: name }, text);
}

/** An axis in powers of ten, from 10^low to 10^high, over a number of pixels. */
export function logarithmic(values, pixels) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.ceil(Math.log10(Math.max(...values)));
  const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  return { ticks, at: (value) => ((Math.log10(value) - low) / (high - low)) * pixels };
}

/** Makes an empty chart of a height in pixels in place of what an element holds. */
export function canvas(element, height) {
  const width = Math.min(832, element.clientWidth); // pixels, so that text has its size on phones
  const viewBox = `0 0 ${width} ${height}`;
  element.replaceChildren();
  return { svg: made("svg", element, { class: "chart", viewBox }), width };
}
