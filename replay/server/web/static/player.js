// @ts-check
// A line through the log below the header, and play: the same page at one moment after another.

import { current, linkOf } from "./look.js";
import { say, tell } from "./site.js";

/** So long each moment of a play is shown, at least. */
const SHOWN_MS = 900;
/** A play goes through a log in about so many moments. */
const MOMENTS = 150;

let last = Number(document.body.dataset.last);
const button = document.getElementById("play");
let playing = false;
/** The newest wish counts: pages that come late are not shown. */
let wanted = 0;

const line = document.createElement("input");
Object.assign(line, { type: "range", min: "1", max: String(last), id: "line" });
line.setAttribute("aria-label", "Moment");

/** @param {number} position */
function mark(position) {
  line.value = String(position);
  const now = document.getElementById("now")?.textContent?.trim() || "";
  line.setAttribute("aria-valuetext", `position ${position} of ${last}${now ? `, ${now}` : ""}`);
}

/** Show the page at another moment; the timeline moves itself.
 * @param {number} position
 * @param {boolean} push whether Back comes here again */
export async function show(position, push) {
  if (document.getElementById("ruler")) {
    document.dispatchEvent(new CustomEvent("plinian-go", { detail: position }));
    mark(position);
    return;
  }
  wanted = position;
  const link = linkOf({ ...current(), position });
  const answer = await fetch(link, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (wanted !== position) return;
  const main = page.querySelector("main");
  if (!main || (!answer.ok && playing)) throw new Error(page.querySelector("h1")?.textContent || "there is no page");
  if (push) history.pushState(null, "", link);
  else history.replaceState(null, "", link);
  document.title = page.title;
  document.body.dataset.position = String(position);
  for (const part of ["main", "header .moment", "nav.site"]) {
    const next = page.querySelector(part);
    if (next) document.querySelector(part)?.replaceWith(document.adoptNode(next));
  }
  for (const form of page.querySelectorAll("header form[action]")) {
    document.querySelector(`header form.${form.className}`)?.setAttribute("action", form.getAttribute("action") || "");
  }
  const find = page.querySelector("#find")?.getAttribute("href");
  if (find) document.querySelector("#find")?.setAttribute("href", find);
  mark(position);
  document.dispatchEvent(new Event("plinian-page"));
}

/** Let the line go up to the new end of the log.
 * @param {number} end */
export function grown(end) {
  last = end;
  document.body.dataset.last = line.max = String(end);
}

/** Whether moments are played. */
export const isPlaying = () => playing;

/** @param {unknown} fault */
function stop(fault) {
  playing = false;
  button?.setAttribute("aria-pressed", "false");
  if (fault) tell(fault instanceof TypeError ? "The server does not answer." : String(fault instanceof Error ? fault.message : fault));
}

async function play() {
  playing = true;
  button?.setAttribute("aria-pressed", "true");
  say("playing");
  const step = Math.max(1, Math.round(last / MOMENTS));
  if (current().position >= last) await show(1, false);
  while (playing && current().position < last) {
    const rest = new Promise((done) => setTimeout(done, SHOWN_MS));
    await show(Math.min(current().position + step, last), false);
    await rest;
  }
  stop(null);
}

if (last > 1 && button) {
  button.hidden = false;
  button.addEventListener("click", () => (playing ? stop(null) : play().catch(stop)));
  if (!document.getElementById("ruler")) {
    document.querySelector("header.site")?.append(line);
    line.addEventListener("change", () => show(Number(line.value), true).catch(stop));
    window.addEventListener("popstate", () => show(current().position, false).catch(stop));
    mark(current().position);
  }
}
