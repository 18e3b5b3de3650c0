// @ts-check
// The ruler: from positions to places and back, the handle, clicks, and windows drawn with a mouse.

const LEAST_DRAG = 5;

/** @typedef {[number, number]} Sample a position and its share of the width, 0 to 100 */

/** Return the value of a rising function between its samples.
 * @param {Sample[]} samples
 * @param {0 | 1} from
 * @param {number} value */
export function between(samples, from, value) {
  const to = from === 0 ? 1 : 0;
  let low = 0;
  let high = samples.length - 1;
  if (value <= samples[low][from]) return samples[low][to];
  if (value >= samples[high][from]) return samples[high][to];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (samples[middle][from] <= value) low = middle;
    else high = middle;
  }
  const width = samples[high][from] - samples[low][from];
  const share = width ? (value - samples[low][from]) / width : 0;
  return samples[low][to] + share * (samples[high][to] - samples[low][to]);
}

export class Ruler {
  /** @param {{go: (position: number) => void, choose: (begin: number, end: number) => void, zoom: (factor: number, around: number) => void, mark: (shape: SVGElement) => void, all: () => void}} asks */
  constructor(asks) {
    this.asks = asks;
    /** @type {Sample[]} */
    this.samples = [];
    this.position = 0;
  }

  /** Take over a new drawing.
   * @param {HTMLElement} place */
  attach(place) {
    this.place = place;
    this.samples = JSON.parse(place.dataset.axis || "[]");
    this.handle = document.createElement("div");
    this.handle.className = "handle";
    this.handle.id = "handle";
    this.handle.tabIndex = 0;
    this.handle.setAttribute("role", "slider");
    this.handle.setAttribute("aria-label", "Position");
    this.handle.setAttribute("aria-valuemin", place.dataset.begin || "1");
    this.handle.setAttribute("aria-valuemax", place.dataset.end || "1");
    this.handle.addEventListener("keydown", (event) => this.pressed(event));
    this.band = document.createElement("div");
    this.band.className = "band";
    this.band.hidden = true;
    place.append(this.band, this.handle);
    place.addEventListener("pointerdown", (event) => this.down(event));
    place.addEventListener("dblclick", () => this.asks.all());
    place.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  get begin() {
    return Number(this.place?.dataset.begin || 1);
  }

  get end() {
    return Number(this.place?.dataset.end || 1);
  }

  /** Move the cursor.
   * @param {number} position
   * @param {string} time */
  move(position, time) {
    this.position = position;
    if (!this.place || !this.samples.length) return;
    const x = between(this.samples, 0, position);
    const cursor = this.place.querySelector("#cursor");
    const line = cursor?.firstElementChild;
    const inWindow = position >= this.begin && position <= this.end;
    if (cursor instanceof SVGElement) cursor.style.display = inWindow ? "" : "none";
    line?.setAttribute("x1", `${x}%`);
    line?.setAttribute("x2", `${x}%`);
    if (this.handle) {
      this.handle.style.left = `${x}%`;
      const inside = Math.min(Math.max(position, this.begin), this.end);
      this.handle.setAttribute("aria-valuenow", String(inside));
      const last = document.body.dataset.last;
      this.handle.setAttribute("aria-valuetext", `position ${position} of ${last}${time ? `, ${time} ${document.body.dataset.zone || "UTC"}` : ""}`);
    }
    this.place.dataset.rendered = `@${position}`;
  }

  /** @param {number} pixels from the left of the drawing */
  at(pixels) {
    const width = this.place?.clientWidth || 1;
    const share = Math.min(Math.max((pixels / width) * 100, 0), 100);
    return Math.round(between(this.samples, 1, share));
  }

  /** Ctrl and the wheel zoom; the wheel alone scrolls the page.
   * @param {WheelEvent} event */
  wheel(event) {
    if (!event.ctrlKey || !this.place) return;
    event.preventDefault();
    const around = this.at(event.clientX - this.place.getBoundingClientRect().left);
    this.asks.zoom(event.deltaY > 0 ? 1.5 : 1 / 1.5, around);
  }

  /** @param {PointerEvent} event */
  down(event) {
    const place = this.place;
    if (!place || event.button !== 0) return;
    const left = place.getBoundingClientRect().left;
    const from = event.clientX - left;
    const onMark = event.target instanceof Element && event.target.closest("[data-at]");
    const grabbed = event.target === this.handle;
    let dragged = false;
    const moved = (/** @type {PointerEvent} */ next) => {
      const to = next.clientX - left;
      dragged ||= Math.abs(to - from) >= LEAST_DRAG;
      if (!dragged) return;
      if (grabbed) this.asks.go(this.at(to));
      else this.stretch(Math.min(from, to), Math.abs(to - from));
    };
    const up = (/** @type {PointerEvent} */ last) => {
      place.removeEventListener("pointermove", moved);
      if (this.band) this.band.hidden = true;
      const to = last.clientX - left;
      if (dragged && !grabbed) this.asks.choose(this.at(Math.min(from, to)), this.at(Math.max(from, to)));
      else if (!dragged && onMark instanceof SVGElement) this.asks.mark(onMark);
      else if (!dragged && !grabbed) this.asks.go(this.at(to));
    };
    place.setPointerCapture?.(event.pointerId);
    place.addEventListener("pointermove", moved);
    place.addEventListener("pointerup", up, { once: true });
    if (!grabbed) event.preventDefault();
  }

  /** @param {number} left
   * @param {number} width */
  stretch(left, width) {
    if (!this.band) return;
    this.band.hidden = false;
    this.band.style.left = `${left}px`;
    this.band.style.width = `${width}px`;
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const far = Math.max(1, Math.round((this.end - this.begin) / 20));
    const steps = {
      ArrowLeft: this.position - 1,
      ArrowDown: this.position - 1,
      ArrowRight: this.position + 1,
      ArrowUp: this.position + 1,
      PageDown: this.position - far,
      PageUp: this.position + far,
      Home: this.begin,
      End: this.end,
    };
    const to = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.asks.go(Math.min(Math.max(to, this.begin), this.end));
  }
}
