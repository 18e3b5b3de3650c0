// @ts-check
// The look of the page is its URL: read it, change it, and compare two of them.

/** @typedef {{position: number, path: string, query: URLSearchParams}} Look */

const PLACE = /^(.*?)\/@(\d+)(\/.*)?$/;

/** Names of the query that a link to another page keeps. */
export const SHARED = ["release", "tz", "vs", "sel", "lanes", "from", "to"];

/** Return the look of a URL; null if it is no page of the log.
 * @param {string} href
 * @returns {Look | null} */
export function lookOf(href) {
  const url = new URL(href, location.href);
  const found = PLACE.exec(url.pathname);
  if (!found || url.origin !== location.origin) return null;
  return { position: Number(found[2]), path: found[3] || "", query: url.searchParams };
}

/** Return the look that the page has now.
 * @returns {Look} */
export function current() {
  const found = lookOf(location.href);
  if (!found) throw new Error("this page has no position");
  return found;
}

/** Return the link of a look.
 * @param {Look} look
 * @returns {string} */
export function linkOf(look) {
  const pairs = [...look.query].filter(([, value]) => value);
  const text = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${shown(value)}`).join("&");
  return `/@${look.position}${look.path}${text ? `?${text}` : ""}`;
}

/** Return a look with changes; null and "" take a value out.
 * @param {Look} look
 * @param {{position?: number, [name: string]: string | number | null | undefined}} changes
 * @returns {Look} */
export function changed(look, { position, ...values }) {
  const query = new URLSearchParams(look.query);
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === "") query.delete(name);
    else query.set(name, String(value));
  }
  return { position: position ?? look.position, path: look.path, query };
}

/** Return whether two looks have the same values of some names.
 * @param {Look} one
 * @param {Look} other
 * @param {string[]} names */
export function same(one, other, names) {
  return names.every((name) => (one.query.get(name) || "") === (other.query.get(name) || ""));
}

/** @param {string} value */
function shown(value) {
  return encodeURIComponent(value).replace(/%(2F|3A|40|2C|2A)/g, (code) => decodeURIComponent(code));
}
