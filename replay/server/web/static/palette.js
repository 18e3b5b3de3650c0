// @ts-check
// The palette: type a part of a name, and go to an object, a page or a moment, or run a command.

import { allCommands, onKey } from "./keys.js";
import { SHARED, changed, current, linkOf } from "./look.js";

/** @typedef {{words: string, kind: string, go: (event: Event) => void}} Row */

const REST_MS = 80;

/** @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T} */
function part(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
}

const dialog = part("palette", HTMLDialogElement);
const box = part("palette-text", HTMLInputElement);
const list = part("palette-rows", HTMLUListElement);
const said = part("palette-said", HTMLParagraphElement);

/** @type {Row[]} */
let rows = [];
let chosen = 0;
let asked = 0;
/** The text that the rows are for. */
let shown = "";

function open() {
  box.value = "";
  dialog.showModal();
  box.focus();
  look();
}

/** @param {string} href */
const to = (href) => () => location.assign(href);

/** Ask the server what the text may mean; only the newest answer counts. */
async function look() {
  const mine = ++asked;
  const here = current();
  const query = new URLSearchParams([...here.query].filter(([name]) => SHARED.includes(name)));
  const text = box.value.trim();
  query.set("q", text);
  try {
    const answer = await fetch(linkOf({ ...here, path: "/find.json", query }));
    const { data } = await answer.json();
    if (mine === asked) show(text, rowsOf(data, text));
  } catch {
    if (mine === asked) show(text, rowsOf(null, text));
  }
}

/** Return the rows for an answer of the server; without one only commands are known.
 * @param {any} data
 * @param {string} text
 * @returns {Row[]} */
function rowsOf(data, text) {
  /** @type {Row[]} */
  const found = [];
  if (data?.moment) {
    const { position, time } = data.moment;
    found.push({ words: `@${position} ${time}`, kind: "moment", go: to(linkOf(changed(current(), { position }))) });
  }
  for (const { name, link } of data?.objects || [])
    found.push({ words: data.why ? `why ${name}` : name, kind: data.gone ? "of another moment" : "object", go: to(link) });
  for (const { name, what, link } of data?.events || []) found.push({ words: name, kind: what, go: to(link) });
  for (const { name, link } of data?.pages || []) found.push({ words: name, kind: "page", go: to(link) });
  for (const { key, words, run } of allCommands()) {
    const other = !words || key.startsWith("g ") || key === "Ctrl+K"; // pages have rows already
    if (other || !words.toLowerCase().includes(text.toLowerCase())) continue;
    found.push({ words, kind: key, go: (event) => run(/** @type {KeyboardEvent} */ (event)) });
  }
  return found;
}

/** Show rows.
 * @param {string} text what they are for
 * @param {Row[]} found */
function show(text, found) {
  rows = found;
  shown = text;
  list.removeAttribute("aria-busy");
  list.replaceChildren(...rows.map(optionOf));
  box.setAttribute("aria-expanded", String(rows.length > 0));
  said.textContent = rows.length ? `${rows.length} ${rows.length === 1 ? "row" : "rows"}` : "nothing is called so";
  choose(0);
}

/** @param {Row} row
 * @param {number} place */
function optionOf({ words, kind, go }, place) {
  const made = document.createElement("li");
  made.id = `palette-row-${place}`;
  made.setAttribute("role", "option");
  made.append(words, " ");
  const word = document.createElement("small");
  word.textContent = kind;
  made.append(word);
  made.addEventListener("click", (event) => run(go, event));
  return made;
}

/** @param {number} place */
function choose(place) {
  chosen = Math.min(Math.max(place, 0), Math.max(rows.length - 1, 0));
  for (const [at, option] of [...list.children].entries()) option.setAttribute("aria-selected", String(at === chosen));
  const option = list.children[chosen];
  if (option) box.setAttribute("aria-activedescendant", option.id);
  else box.removeAttribute("aria-activedescendant");
  option?.scrollIntoView({ block: "nearest" });
}

/** @param {Row["go"]} go
 * @param {Event} event */
function run(go, event) {
  dialog.close();
  go(event);
}

/** Keys that move the choice, and by how much. */
const MOVES = new Map([["ArrowDown", 1], ["ArrowUp", -1], ["PageDown", 8], ["PageUp", -8]]);

let resting = 0;
box.addEventListener("input", () => {
  clearTimeout(resting);
  asked += 1; // what was asked before is of another text
  list.setAttribute("aria-busy", "true");
  said.textContent = "Searching …";
  resting = window.setTimeout(look, REST_MS);
});
box.addEventListener("keydown", async (event) => {
  const by = MOVES.get(event.key);
  if (by) {
    event.preventDefault();
    choose(chosen + by);
  } else if (event.key === "Enter") {
    event.preventDefault();
    clearTimeout(resting);
    // Only rows of the text that stands there now: it may change while the server answers.
    while (dialog.open && shown !== box.value.trim()) await look();
    if (!dialog.open) return;
    const row = rows[chosen];
    if (row) run(row.go, event);
  }
});
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

onKey("Ctrl+K", "go to an object, a page or a moment, or run a command", open);
const link = part("find", HTMLAnchorElement);
link.setAttribute("role", "button");
link.setAttribute("aria-haspopup", "dialog");
link.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab
  event.preventDefault();
  open();
});
