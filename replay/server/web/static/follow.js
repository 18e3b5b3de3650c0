// @ts-check
// A page at the end of the log follows what is appended, until a person pauses it or goes elsewhere.

import { current } from "./look.js";
import { grown, isPlaying, show } from "./player.js";
import { say, tell } from "./site.js";

/** So long it waits between two looks at the end of the log, at least. */
const EVERY_MS = 3000;
/** And so many times what the last page took: a page that is slow is asked for less often. */
const SHARE = 3;

const button = document.getElementById("follow");
const words = button?.querySelector(".word");
/** The end of the log, and up to where the page shows it. */
let end = Number(document.body.dataset.last);
let at = end;
let paused = false;
let failing = false;

/** Whether a person works with the page, so that it must stay as it is. */
function isInUse() {
  const focus = document.activeElement;
  const writes = focus instanceof HTMLInputElement || focus instanceof HTMLSelectElement || focus instanceof HTMLTextAreaElement;
  return writes || isPlaying() || Boolean(document.querySelector("dialog[open], [popover]:popover-open")) || !getSelection()?.isCollapsed;
}

/** Whether the page is at the end that it knows, and goes on with it. */
const follows = () => !paused && current().position === at;

function draw() {
  if (!button || !words) return;
  const on = follows();
  const newer = end - current().position;
  button.setAttribute("aria-pressed", String(on));
  words.textContent = on ? "Following" : newer > 0 ? `Follow (${newer} newer)` : "Follow";
  button.title = on ? "The page follows what is appended to the log; a click pauses it" : "Go to the end of the log, and follow what is appended";
}

/** Show the page at the end of the log. */
async function catchUp() {
  grown(end);
  at = end;
  if (document.getElementById("ruler")) document.dispatchEvent(new CustomEvent("plinian-grown", { detail: end }));
  else await show(end, false);
  draw();
}

/** Look where the log ends, and follow if the page does. */
async function look() {
  const answer = await fetch("/@last", { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
  const { last } = await answer.json();
  if (last > end && button) button.hidden = false;
  end = last;
  if (end > at && follows() && !isInUse()) await catchUp();
  else draw();
}

async function go() {
  let wait = EVERY_MS;
  if (!document.hidden) {
    const begun = performance.now();
    try {
      await look();
      if (failing) say("the server answers again");
      failing = false;
    } catch {
      if (!failing) say("the server does not answer");
      failing = true;
    }
    wait = Math.max(EVERY_MS, SHARE * (performance.now() - begun));
  }
  setTimeout(go, wait);
}

if (button) {
  button.hidden = !("grows" in document.body.dataset);
  button.addEventListener("click", () => {
    paused = follows();
    if (paused) {
      draw();
      say("paused");
      return;
    }
    say("following");
    catchUp().catch((fault) => tell(String(fault.message || fault)));
  });
  document.addEventListener("plinian-page", draw);
  window.addEventListener("popstate", () => setTimeout(draw, 0));
  draw();
  setTimeout(go, EVERY_MS);
}
