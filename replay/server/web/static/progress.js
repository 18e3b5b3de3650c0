// @ts-check
// A page that shows how far a work is: it asks again each second, and then shows the result.

import { say } from "./site.js";

const EVERY_MS = 1000;
const place = document.getElementById("progress");

/** The button stays the same element, so that the focus stays on it.
 * @param {Element} made */
function show(made) {
  for (const name of ["#progress-words", ".cut"]) {
    const [old, now] = [place?.querySelector(name), made.querySelector(name)];
    if (old && now) old.textContent = now.textContent;
  }
  const [bar, next] = [place?.querySelector("progress"), made.querySelector("progress")];
  if (!(bar instanceof HTMLProgressElement) || !(next instanceof HTMLProgressElement)) return;
  if (next.hasAttribute("value")) Object.assign(bar, { max: next.max, value: next.value });
}

async function look() {
  const here = new URL(location.href);
  here.searchParams.set("part", "progress");
  try {
    const answer = await fetch(here);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const made = page.querySelector("[data-running]");
    if (!answer.ok || made?.getAttribute("data-running") !== "yes") {
      location.reload();
      return;
    }
    show(made);
  } catch {
    say("the server does not answer");
  }
  setTimeout(look, EVERY_MS);
}

setTimeout(look, EVERY_MS);
