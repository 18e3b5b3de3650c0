// @ts-check
// Parts of the page from the server: one request of a part at a time, the newest wish wins.

/** Parts that were fetched, by link; the oldest go first. */
const kept = new Map();
const MOST_KEPT = 60;

/** @typedef {{wanted: string, running: boolean}} Wish */

/** @type {Map<string, Wish>} */
const wishes = new Map();

/** Return the link of one part of a page.
 * @param {string} link
 * @param {string} part */
function partLink(link, part) {
  return `${link}${link.includes("?") ? "&" : "?"}part=${part}`;
}

/** Fetch a part of a page as text.
 * @param {string} link
 * @param {string} part
 * @returns {Promise<string>} */
async function fetched(link, part) {
  const place = partLink(link, part);
  const known = kept.get(place);
  if (known !== undefined) return known;
  const answer = await fetch(place, { headers: { Accept: "text/html" } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(wordsOf(text) || `the server answers ${answer.status}`);
  kept.set(place, text);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
  return text;
}

/** Return what a page of a fault says.
 * @param {string} text */
function wordsOf(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  return page.querySelector("h1")?.textContent || "";
}

/** Show a part of a page in an element, unless a newer wish comes first.
 * @param {Element} place
 * @param {string} part
 * @param {string} link
 * @param {() => void} done
 * @param {(fault: Error) => void} failed */
export async function show(place, part, link, done, failed) {
  const wish = wishes.get(part) || { wanted: "", running: false };
  wishes.set(part, wish);
  wish.wanted = link;
  if (wish.running) return;
  wish.running = true;
  place.setAttribute("aria-busy", "true");
  try {
    for (let shown = ""; shown !== wish.wanted; ) {
      shown = wish.wanted;
      const text = await fetched(shown, part);
      if (shown !== wish.wanted) continue;
      replace(place, text);
      place.setAttribute("data-look", shown);
      done();
    }
  } catch (fault) {
    failed(fault instanceof Error ? fault : new Error(String(fault)));
  } finally {
    wish.running = false;
    place.removeAttribute("aria-busy");
  }
}

/** Fetch a part that may be wanted next.
 * @param {string} part
 * @param {string} link */
export function prefetch(part, link) {
  fetched(link, part).catch(() => undefined);
}

/** Put a part in the place of another; the focus stays on what has the same mark.
 * @param {Element} place
 * @param {string} text our own server's page, escaped there */
function replace(place, text) {
  const focus = document.activeElement;
  const mark = focus && place.contains(focus) ? markOf(focus) : "";
  const made = document.createRange().createContextualFragment(text);
  place.replaceChildren(made);
  if (!mark) return;
  const next = place.querySelector(mark) || place.querySelector("[aria-current] a, a");
  if (next instanceof HTMLElement || next instanceof SVGElement) next.focus({ preventScroll: true });
}

/** @param {Element} element */
function markOf(element) {
  for (const name of ["data-pane", "data-step", "data-at", "id"]) {
    const value = element.getAttribute(name);
    if (value) return `[${name}="${CSS.escape(value)}"]`;
  }
  return "a";
}
