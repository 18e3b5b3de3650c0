// @ts-check
// The timeline: the URL says what is shown; moves change the URL, and parts of the page follow.

import { prefetch, show } from "./fragments.js";
import { onKey } from "./keys.js";
import { SHARED, changed, current, linkOf, lookOf, same } from "./look.js";
import { Ruler } from "./ruler.js";
import { copy, say, tell } from "./site.js";

/** @typedef {import("./look.js").Look} Look */

let last = Number(document.body.dataset.last);
const whole = document.getElementById("look");

/** The place of a part.
 * @param {string} name */
const place = (name) => /** @type {HTMLElement} */ (document.getElementById(name));

/** What the page shows, or is about to show. */
let shown = current();

const ruler = new Ruler({
  go: (position) => go({ position }, false),
  choose: (begin, end) => end > begin && go({ from: `@${begin}`, to: `@${end}` }, true),
  zoom: (factor, around) => zoom(factor, around),
  mark: ({ dataset }) => go({ position: Number(dataset.at), sel: dataset.object }, true),
  all: () => go({ from: null, to: null }, true),
});

/** Change the look.
 * @param {Parameters<typeof changed>[1]} changes
 * @param {boolean} push whether Back comes here again */
function go(changes, push) {
  const position = changes.position === undefined ? undefined : Math.min(Math.max(changes.position, 1), last);
  const next = changed(shown, { ...changes, ...(position === undefined ? {} : { position }) });
  if (linkOf(next) === linkOf(shown)) return;
  if (push) history.pushState(null, "", linkOf(next));
  else history.replaceState(null, "", linkOf(next));
  follow(next);
}

/** Show a look: only the parts that differ are asked for.
 * @param {Look} next */
function follow(next) {
  const before = shown;
  shown = next;
  const link = linkOf(next);
  const moved = next.position !== before.position;
  if (!same(before, next, ["from", "to", "lanes", "sel", "vs"])) ask("time", link, redrawn);
  else ruler.move(next.position, "");
  const row = document.getElementById(`e${next.position}`);
  const otherRows = !same(before, next, ["q"]) || (moved && !row);
  if (!otherRows) markRow();
  correctLinks();
  // The state comes first: it is what a move is for.
  const panel = moved || !same(before, next, ["sel", "pane", "vs", "release", "wait"]);
  const first = panel ? ask("panel", link, panelChanged) : Promise.resolve();
  if (otherRows) first.then(() => ask("events", linkOf(shown), rowsChanged));
}

/** @param {string} part
 * @param {string} link
 * @param {() => void} done */
function ask(part, link, done) {
  return show(place(part), part, link, () => (serverIsBack(), done()), (fault) => serverFailed(fault));
}

function redrawn() {
  const found = document.getElementById("ruler");
  if (!found) return;
  ruler.attach(found);
  ruler.move(shown.position, timeShown());
}

function rowsChanged() {
  markRow();
}

/** Return the row of a position, or the last one before it.
 * @param {number} position
 * @returns {HTMLElement | null} */
function rowNear(position) {
  /** @type {HTMLElement[]} */
  const rows = [...document.querySelectorAll("#events tr[data-position]")].filter((row) => row instanceof HTMLElement);
  return rows.findLast((row) => Number(row.dataset.position) <= position) || rows[0] || null;
}

/** Mark the row of the position, and bring it into view. */
function markRow() {
  for (const one of document.querySelectorAll("#events tr[aria-current]")) one.removeAttribute("aria-current");
  for (const one of document.querySelectorAll("#events tbody th a")) one.setAttribute("tabindex", "-1");
  const around = document.getElementById("rows");
  const row = rowNear(shown.position);
  if (!row || !around) return;
  if (row.id === `e${shown.position}`) row.setAttribute("aria-current", "true");
  row.querySelector("th a")?.setAttribute("tabindex", "0");
  const top = row.offsetTop - around.scrollTop;
  if (top < 40 || top > around.clientHeight - 60) around.scrollTop = row.offsetTop - around.clientHeight / 2;
  if (around.contains(document.activeElement)) {
    const link = row.querySelector("th a");
    if (link instanceof HTMLElement && document.activeElement !== around) link.focus({ preventScroll: true });
  }
}

function panelChanged() {
  const pane = document.querySelector("#panel .pane");
  if (!(pane instanceof HTMLElement)) return;
  const now = document.getElementById("now");
  if (now) {
    const time = document.createElement("time");
    time.dateTime = pane.dataset.exact || "";
    time.textContent = pane.dataset.ofDay || "";
    now.replaceChildren(pane.dataset.exact ? time : pane.dataset.ofDay || "no time known");
    now.dataset.ofDay = pane.dataset.ofDay;
  }
  const day = document.getElementById("day");
  if (day) day.textContent = pane.dataset.day || "";
  ruler.move(shown.position, timeShown());
  later();
  announce(pane);
  const { sel } = Object.fromEntries(shown.query);
  const title = pane.dataset.object || "Timeline";
  const clock = (pane.dataset.ofDay || "").replace(/\.\d+$/, "");
  const moment = clock ? `${clock} (@${shown.position})` : `@${shown.position}`;
  document.title = `${title} at ${moment} · ${document.body.dataset.log} · Plinian`;
  if (!sel && whole && pane.dataset.object !== whole.dataset.object) {
    whole.dataset.object = pane.dataset.object;
    redrawSoon();
  }
  prefetchSoon();
}

/** Ask for a pane that takes long. */
function later() {
  if (document.querySelector("#panel [data-later]")) ask("panel", linkOf(shown), panelChanged);
}

let redrawing = 0;
/** The lane of an object that is not selected follows when the position rests. */
function redrawSoon() {
  clearTimeout(redrawing);
  redrawing = window.setTimeout(() => ask("time", linkOf(shown), redrawn), 400);
}

let prefetching = 0;
/** The neighbours of a position are fetched when it rests. */
function prefetchSoon() {
  clearTimeout(prefetching);
  const pane = shown.query.get("pane");
  if (pane === "why" || pane === "drift") return;
  prefetching = window.setTimeout(() => {
    for (const side of [1, -1]) {
      const position = shown.position + side;
      if (position >= 1 && position <= last) prefetch("panel", linkOf(changed(shown, { position })));
    }
  }, 120);
}

/** @param {HTMLElement} pane */
function announce(pane) {
  const row = document.getElementById(`e${shown.position}`);
  const event = row?.querySelector(".kind")?.textContent || "";
  say([`position ${shown.position}`, timeShown(), event, pane.dataset.object].filter(Boolean).join(", "));
}

function timeShown() {
  return document.getElementById("now")?.dataset.ofDay || "";
}

/** Links to other pages lead to the position that is shown. */
function correctLinks() {
  document.body.dataset.position = String(shown.position);
  const at = document.getElementById("at");
  if (at) at.textContent = `@${shown.position}`;
  const kept = changed({ ...shown, query: new URLSearchParams() }, {});
  for (const name of SHARED) {
    const value = shown.query.get(name);
    if (value) kept.query.set(name, value);
  }
  for (const link of document.querySelectorAll("header.site a[href], nav.site a[href]")) {
    if (!(link instanceof HTMLAnchorElement) || link.dataset.at) continue;
    const of = lookOf(link.href);
    if (of) link.href = linkOf({ ...kept, path: of.path });
  }
  for (const [kind, name] of [["release", "release"], ["zone", "tz"]]) {
    const form = document.querySelector(`form.${kind}`);
    if (!(form instanceof HTMLFormElement)) continue;
    form.action = linkOf(shown);
    keepInputs(form, name);
  }
  for (const form of document.querySelectorAll("form.go, form.filter")) {
    if (form instanceof HTMLFormElement) keepInputs(form, form.classList.contains("filter") ? "q" : "");
    if (form instanceof HTMLFormElement && form.classList.contains("filter")) form.action = `/@${shown.position}`;
  }
}

/** Give a form the values of the query.
 * @param {HTMLFormElement} form
 * @param {string} own the name that the form sets itself */
function keepInputs(form, own) {
  for (const input of form.querySelectorAll("input[type=hidden]:not([name=page])")) input.remove();
  for (const [name, value] of shown.query) {
    if (name === own) continue;
    const input = document.createElement("input");
    Object.assign(input, { type: "hidden", name, value });
    form.append(input);
  }
}

/** @param {Error} fault */
function serverFailed(fault) {
  let banner = document.getElementById("gone");
  if (!banner) {
    banner = document.createElement("p");
    banner.id = "gone";
    banner.className = "remark";
    banner.setAttribute("role", "alert");
    place("notices").append(banner);
  }
  const again = document.createElement("button");
  again.type = "button";
  again.textContent = "Try again";
  again.addEventListener("click", () => location.reload());
  const words = fault instanceof TypeError ? "The server does not answer; what is shown stays." : fault.message;
  banner.replaceChildren(`${words} `, again);
}

function serverIsBack() {
  document.getElementById("gone")?.remove();
}

/** A link of a part is a change of the look that the part was made for.
 * @param {MouseEvent} event */
function clicked(event) {
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!link) return;
  const href = link.getAttribute("href") || "";
  const step = link.getAttribute("data-step");
  if (step) {
    event.preventDefault();
    stepTo(step);
    return;
  }
  const to = lookOf(href);
  const part = link.closest("section[id]");
  if (!to || to.path || !part) return;
  event.preventDefault();
  const made = lookOf(part.getAttribute("data-look") || begun) || shown;
  /** @type {Parameters<typeof changed>[1]} */
  const changes = {};
  for (const name of new Set([...to.query.keys(), ...made.query.keys()])) {
    if (name !== "part" && to.query.get(name) !== made.query.get(name)) changes[name] = to.query.get(name);
  }
  const at = link.getAttribute("data-at");
  if (at) changes.position = Number(at);
  go(changes, true);
}

/** Go to the next or previous event of a sort.
 * @param {string} step as in session/next */
async function stepTo(step) {
  const link = linkOf({ ...shown, path: `/step/${step}` });
  try {
    const answer = await fetch(link, { headers: { Accept: "application/json" } });
    const found = await answer.json();
    const to = found.link && lookOf(found.link);
    if (to) go({ position: to.position }, true);
    else tell(found.error?.what || "there is none");
  } catch {
    serverFailed(new TypeError());
  }
}

/** Go to the next or previous event that the filter lets through.
 * @param {1 | -1} side */
function stepRow(side) {
  if (!shown.query.get("q")) {
    go({ position: shown.position + side }, false);
    return;
  }
  const rows = [...document.querySelectorAll("#events tr[data-position]")].map((row) =>
    Number(row.getAttribute("data-position")),
  );
  const next = side > 0 ? rows.find((at) => at > shown.position) : rows.findLast((at) => at < shown.position);
  if (next !== undefined) go({ position: next }, false);
  else stepTo(side > 0 ? "event/next" : "event/previous");
}

/** Show another window of the same log.
 * @param {number} begin
 * @param {number} end */
function windowTo(begin, end) {
  const width = Math.min(Math.max(Math.round(end - begin), 10), last - 1);
  const low = Math.min(Math.max(Math.round(begin), 1), Math.max(last - width, 1));
  if (low === 1 && width >= last - 1) go({ from: null, to: null }, false);
  else go({ from: `@${low}`, to: `@${low + width}` }, false);
}

/** @param {number} factor below 1 shows less
 * @param {number} at the position that stays where it is */
function zoom(factor, at = shown.position) {
  const { begin, end } = ruler;
  const around = Math.min(Math.max(at, begin), end);
  windowTo(around - (around - begin) * factor, around + (end - around) * factor);
}

/** @param {number} share of the width */
function pan(share) {
  const by = (ruler.end - ruler.begin) * share;
  windowTo(ruler.begin + by, ruler.end + by);
}

function fit() {
  const near = 250;
  if (shown.query.get("from")) go({ from: null, to: null }, true);
  else windowTo(shown.position - near, shown.position + near);
}

function selected() {
  const pane = document.querySelector("#panel .pane");
  return shown.query.get("sel") || (pane instanceof HTMLElement && pane.dataset.object) || "";
}

function pin() {
  const name = selected();
  if (!name) return tell("no object is selected");
  const lanes = (shown.query.get("lanes") || "").split(",").filter(Boolean);
  const next = lanes.includes(name) ? lanes.filter((one) => one !== name) : [...lanes, name];
  go({ lanes: next.join(",") }, true);
}

/** @param {string} pane */
const showPane = (pane) => () => go({ pane: pane === "diff" ? null : pane }, true);

function setUpKeys() {
  onKey("j", "next event", () => stepRow(1));
  onKey("k", "previous event", () => stepRow(-1));
  onKey("J", "next event of the selected object", () => stepTo("object/next"));
  onKey("K", "previous event of the selected object", () => stepTo("object/previous"));
  onKey("s", "next session", () => stepTo("session/next"));
  onKey("S", "previous session", () => stepTo("session/previous"));
  onKey("a", "next crash, start, eviction or lost node", () => stepTo("notable/next"));
  onKey("A", "previous crash, start, eviction or lost node", () => stepTo("notable/previous"));
  onKey("n", "next change of the selected object", () => stepTo("change/next"));
  onKey("N", "previous change of the selected object", () => stepTo("change/previous"));
  onKey("h", "earlier window", () => pan(-0.25));
  onKey("l", "later window", () => pan(0.25));
  onKey("+", "zoom in", () => zoom(0.5));
  onKey("=", "", () => zoom(0.5));
  onKey("-", "zoom out", () => zoom(2));
  onKey("f", "window around the position; again: the whole log", fit);
  onKey("[", "set mark A at the position", () => go({ vs: `@${shown.position}` }, true));
  onKey("]", "exchange mark A and the position", () => {
    const mark = Number((shown.query.get("vs") || "").replace("@", ""));
    if (mark) go({ position: mark, vs: `@${shown.position}` }, true);
    else tell("mark A is not set: [ sets it");
  });
  onKey("d", "difference of the object", showPane("diff"));
  onKey("t", "state of the object", showPane("state"));
  onKey("x", "drift of the scheduler's cache", showPane("drift"));
  onKey("r", "the object as YAML", showPane("raw"));
  onKey("w", "why the object waits", showPane("why"));
  onKey("p", "pin the selected object as a lane, or unpin it", pin);
  onKey("y", "copy the command that prints the same", () => {
    const pane = document.querySelector("#panel .pane");
    const text = (pane instanceof HTMLElement && pane.dataset.command) || "";
    copy(text, "Command");
  });
  onKey("Escape", "drop the selection", () => go({ sel: null }, true));
}

const begun = location.href;

function begin() {
  if (!whole || !last) return;
  document.addEventListener("click", clicked);
  window.addEventListener("popstate", () => follow(current()));
  document.addEventListener("plinian-go", (event) => event instanceof CustomEvent && go({ position: event.detail }, false));
  document.addEventListener("plinian-grown", (event) => event instanceof CustomEvent && grew(event.detail));
  for (const form of document.querySelectorAll("form.go")) form.addEventListener("submit", goFormSent);
  place("events").addEventListener("submit", filterSent);
  setUpKeys();
  redrawn();
  markRow();
  later();
  prefetchSoon();
}

/** Show the new end of the log, and the drawing up to it.
 * @param {number} end */
function grew(end) {
  last = end;
  const link = document.querySelector("header .of a");
  if (link instanceof HTMLAnchorElement) {
    link.textContent = `@${end}`;
    link.dataset.at = String(end);
    link.href = linkOf(changed(shown, { position: end }));
  }
  go({ position: end }, false);
  ask("time", linkOf(shown), redrawn);
}

/** @param {Event} event */
function goFormSent(event) {
  const point = document.getElementById("point");
  const found = point instanceof HTMLInputElement && /^@?(\d+)$/.exec(point.value.trim());
  if (!found || Number(found[1]) > last) return;
  event.preventDefault();
  point.value = "";
  point.blur();
  go({ position: Number(found[1]) }, true);
}

/** @param {Event} event */
function filterSent(event) {
  if (!(event.target instanceof HTMLFormElement)) return;
  const box = event.target.elements.namedItem("q");
  if (!(box instanceof HTMLInputElement)) return;
  event.preventDefault();
  box.blur();
  go({ q: box.value.trim() || null }, true);
}

begin();
