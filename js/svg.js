/**
 * Elements of SVG.
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
