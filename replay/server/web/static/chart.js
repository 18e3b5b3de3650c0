// @ts-check
// Charts over time: a click goes to a time, a drag shows that part, Ctrl and the wheel zoom.

import { changed, current, linkOf } from "./look.js";

const LEAST_DRAG = 5;
/** The wheel rests so long before its window is asked for. */
const REST_MS = 250;

/** @typedef {{begin: number, end: number}} Span milliseconds since 1970 */

/** @type {SVGSVGElement[]} */
let charts = [];

/** The zone of the page; that of the server has no name that a browser knows. */
const zone = document.body.dataset.zone || "UTC";
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: zone === "local" ? undefined : zone });

/** @param {number} time */
const text = (time) => new Date(time).toISOString();

/** @param {SVGSVGElement} chart
 * @returns {Span} */
function spanOf(chart) {
  return { begin: Date.parse(chart.dataset.begin || ""), end: Date.parse(chart.dataset.end || "") };
}

/** Return the place of a pointer in a chart, from 0 to 1.
 * @param {SVGSVGElement} chart
 * @param {number} x */
function shareOf(chart, x) {
  const box = chart.getBoundingClientRect();
  return Math.min(Math.max((x - box.left) / (box.width || 1), 0), 1);
}

/** @param {SVGSVGElement} chart
 * @param {number} share */
function timeAt(chart, share) {
  const { begin, end } = spanOf(chart);
  return begin + share * (end - begin);
}

/** Go to the moment of a time, on the same page.
 * @param {number} time */
function go(time) {
  const look = current();
  const query = new URLSearchParams(look.query);
  query.set("point", text(time));
  query.set("page", look.path.replace(/^\//, ""));
  location.assign(`/@go?${query}`);
}

/** Show a part of the time.
 * @param {number} begin
 * @param {number} end */
function show(begin, end) {
  location.assign(linkOf(changed(current(), { from: text(begin), to: text(end) })));
}

/** Where the pointer is, in all charts at once, with the time and what is there.
 * @param {SVGSVGElement} chart
 * @param {PointerEvent} event */
function hover(chart, event) {
  const share = shareOf(chart, event.clientX);
  for (const one of charts) {
    const hair = one.querySelector(".hair");
    hair?.setAttribute("x1", `${share * 100}%`);
    hair?.setAttribute("x2", `${share * 100}%`);
  }
  const there = event.target instanceof Element ? event.target.closest("[data-said]") : null;
  const time = clock.format(timeAt(chart, share));
  said.textContent = [time, there?.getAttribute("data-said")].filter(Boolean).join(" · ");
  said.hidden = false;
  const left = Math.min(event.clientX + 14, window.innerWidth - said.offsetWidth - 8);
  said.style.left = `${Math.max(left, 4)}px`;
  said.style.top = `${event.clientY + 18}px`;
}

function leave() {
  said.hidden = true;
  for (const hair of document.querySelectorAll(".hair")) {
    hair.setAttribute("x1", "-1");
    hair.setAttribute("x2", "-1");
  }
}

/** @param {SVGSVGElement} chart
 * @param {PointerEvent} event */
function press(chart, event) {
  if (event.button !== 0) return;
  event.preventDefault();
  const from = shareOf(chart, event.clientX);
  const band = document.createElementNS(chart.namespaceURI || "", "rect");
  band.setAttribute("class", "brush");
  band.setAttribute("height", "100%");
  chart.append(band);
  const moved = (/** @type {PointerEvent} */ next) => {
    const to = shareOf(chart, next.clientX);
    band.setAttribute("x", `${Math.min(from, to) * 100}%`);
    band.setAttribute("width", `${Math.abs(to - from) * 100}%`);
  };
  const up = (/** @type {PointerEvent} */ last) => {
    chart.removeEventListener("pointermove", moved);
    band.remove();
    const to = shareOf(chart, last.clientX);
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    if (Math.abs(last.clientX - event.clientX) < LEAST_DRAG) go(timeAt(chart, to));
    else show(timeAt(chart, low), timeAt(chart, high));
  };
  chart.setPointerCapture?.(event.pointerId);
  chart.addEventListener("pointermove", moved);
  chart.addEventListener("pointerup", up, { once: true });
}

let factor = 1;
let resting = 0;

/** @param {SVGSVGElement} chart
 * @param {WheelEvent} event */
function wheel(chart, event) {
  if (!event.ctrlKey) return; // the page scrolls
  event.preventDefault();
  factor *= event.deltaY > 0 ? 1.5 : 1 / 1.5;
  const share = shareOf(chart, event.clientX);
  clearTimeout(resting);
  resting = window.setTimeout(() => {
    const { begin, end } = spanOf(chart);
    const [middle, width] = [timeAt(chart, share), (end - begin) * factor];
    show(middle - share * width, middle + (1 - share) * width);
  }, REST_MS);
}

const said = document.createElement("p");
said.id = "hover";
said.hidden = true;
document.body.append(said);
function begin() {
  charts = [...document.querySelectorAll("svg[data-begin]")].filter((one) => one instanceof SVGSVGElement);
  for (const chart of charts) {
    // What a browser would show after a while is shown at once.
    for (const title of chart.querySelectorAll("title")) {
      title.parentElement?.setAttribute("data-said", title.textContent || "");
      title.remove();
    }
    chart.addEventListener("pointermove", (event) => hover(chart, event));
    chart.addEventListener("pointerleave", leave);
    chart.addEventListener("pointerdown", (event) => press(chart, event));
    chart.addEventListener("wheel", (event) => wheel(chart, event), { passive: false });
  }
  for (const words of document.querySelectorAll("[data-scripted]")) words.removeAttribute("hidden");
}

begin();
document.addEventListener("plinian-page", begin);
