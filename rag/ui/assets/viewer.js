// Scrolls through a document of which the server sends only the pages around the reader.
// Lengths in `data` are PDF points of the displayed page; the CSS variable --scale turns them into pixels, so
// a zoom moves pages, highlights and text together and a highlight can be measured in the DOM.

const FAR_PAGES = 16; // images further from the reader than this are dropped
const GAP_PX = 12; // between and around pages, as in the style sheet
const SETTLE_MS = 90; // a scroll is reported when it has rested this long
const ZOOM_STEP = 1.2;
const ZOOM_RANGE = [0.2, 6];

const pen = document.createElement("canvas").getContext("2d");

function element(className, variables, text = "") {
  const node = document.createElement("div");
  node.className = className;
  for (const [name, value] of Object.entries(variables)) node.style.setProperty(`--${name}`, value);
  node.textContent = text;
  return node;
}

const box = ([x0, y0, x1, y1]) => ({ x: x0, y: y0, w: x1 - x0, h: y1 - y0 });

/** A transparent line of text, stretched to the box of the printed one, so that it can be selected and copied. */
function textLine([x0, y0, x1, y1, text]) {
  const [width, height] = [x1 - x0, y1 - y0];
  const upright = height <= 1.5 * width || text.length < 3;
  const [along, size] = upright ? [width, 0.8 * height] : [height, 0.8 * width];
  pen.font = `${size}px sans-serif`;
  const stretch = along / Math.max(pen.measureText(text).width, 1);
  const fit = upright ? `scaleX(${stretch})` : `translateX(calc(var(--scale) * ${width}px)) rotate(90deg) scaleX(${stretch})`;
  return element("line", { x: x0, y: y0, h: upright ? height : width, size, fit }, text);
}

class Viewer {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.scroller = this.find(".pages");
    this.mode = "width";
    this.sheets = [];
    this.scroller.addEventListener("scroll", () => this.scrolled());
    this.scroller.addEventListener("click", (event) => this.clicked(event));
    root.querySelector("header").addEventListener("click", (event) => this.pressed(event.target.closest("[data-do]")));
    this.find(".number").addEventListener("change", (event) => this.goTo(this.named(event.target.value)));
    new ResizeObserver(() => typeof this.mode === "string" && this.fit()).observe(this.scroller);
  }

  update(data, send) {
    this.send = send;
    if (data.document !== this.data?.document) this.open(data);
    this.data = data;
    for (const page of data.pages) this.show(page);
    this.mark(data.marks);
    if (data.target.token !== this.token) this.jump(data.target);
    this.scrolled();
  }

  open({ name, sizes, labels }) {
    this.find(".name").textContent = this.find(".name").title = name;
    this.labels = labels; // printed on pages, by number, where they differ from it
    this.sizes = sizes;
    this.sheets = sizes.map(([w, h]) => element("page", { w, h }));
    this.sheets.forEach((sheet, index) => (sheet.dataset.page = index + 1));
    this.scroller.replaceChildren(...this.sheets);
    this.page = 1;
    this.fit();
  }

  show({ number, image, scale, lines, error }) {
    const sheet = this.sheets[number - 1];
    if (!sheet) return;
    if (error) sheet.dataset.note = error;
    if (!image || Number(sheet.dataset.scale) === scale) return;
    const picture = new Image();
    picture.alt = `Page ${number}`;
    picture.draggable = false;
    picture.onload = () => {
      sheet.querySelector("img")?.remove();
      sheet.prepend(picture);
      sheet.dataset.scale = scale;
    };
    picture.src = image;
    if (!sheet.querySelector(".line")) sheet.append(...lines.map(textLine));
  }

  mark(marks) {
    const key = JSON.stringify(marks);
    if (key === this.marked) return;
    this.marked = key;
    this.scroller.querySelectorAll(".mark, .badge").forEach((node) => node.remove());
    for (const { id, label, kind, title, page, rects } of marks) {
      const sheet = this.sheets[page - 1];
      if (!sheet) continue;
      const before = sheet.querySelector(".line");
      for (const rect of rects) {
        const node = element(`mark ${kind}`, box(rect));
        node.dataset.mark = id;
        node.title = title;
        sheet.insertBefore(node, before);
      }
      if (!label) continue;
      const badge = element(`badge ${kind === "other" ? "" : "active"}`, box(rects[0]), label);
      badge.dataset.mark = id;
      badge.title = title;
      sheet.append(badge);
    }
  }

  jump({ token, page, y }) {
    this.token = token;
    this.scroller.scrollTop = this.top(page) + Math.max(0, y * this.scale - 0.3 * this.scroller.clientHeight);
    this.scroller.classList.remove("flash");
    void this.scroller.offsetWidth; // lets the animation start again
    this.scroller.classList.add("flash");
  }

  top(page) {
    return this.sheets[page - 1].offsetTop - GAP_PX;
  }

  goTo(page) {
    if (page >= 1 && page <= this.sheets.length) this.scroller.scrollTop = this.top(Math.trunc(page));
    else this.tell();
  }

  /** The page that a reader names: by what is printed on it, as in other viewers, else by its number in the file. */
  named(text) {
    const wanted = text.trim().toLowerCase();
    const printed = Object.keys(this.labels).find((number) => this.labels[number].toLowerCase() === wanted);
    return Number(printed ?? wanted);
  }

  /** Says where the reader is: the printed number, and beside it the page's own where that is another. */
  tell() {
    const label = this.labels[this.page];
    const [field, count] = [this.find(".number"), this.sheets.length];
    field.value = label ?? this.page;
    this.find(".count").textContent = label ? `(${this.page} of ${count})` : `of ${count}`;
  }

  /** The page at a third of the visible height, by bisection. */
  reading() {
    const line = this.scroller.scrollTop + this.scroller.clientHeight / 3;
    let [low, high] = [0, this.sheets.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.sheets[middle].offsetTop <= line) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  fit() {
    const [width, height] = [this.scroller.clientWidth - 2 * GAP_PX, this.scroller.clientHeight - 2 * GAP_PX];
    if (width <= 0 || !this.sizes) return;
    const [w, h] = this.sizes[(this.page || 1) - 1];
    const scale = this.mode === "page" ? Math.min(width / w, height / h) : width / w;
    this.zoom(scale, this.mode);
  }

  zoom(scale, mode = null) {
    const sheet = this.sheets[this.page - 1];
    const offset = this.scale ? (this.scroller.scrollTop - sheet.offsetTop) / this.scale : -GAP_PX;
    this.mode = mode;
    this.scale = Math.min(Math.max(scale, ZOOM_RANGE[0]), ZOOM_RANGE[1]);
    this.scroller.style.setProperty("--scale", this.scale);
    this.scroller.scrollTop = sheet.offsetTop + offset * this.scale;
    this.find(".zoom").textContent = `${Math.round((this.scale * 72 * 100) / 96)}%`;
    this.root.querySelectorAll("[data-do]").forEach((node) => node.setAttribute("aria-pressed", node.dataset.do === mode));
    this.scrolled();
  }

  pressed(button) {
    const action = button?.dataset.do;
    if (action === "previous") this.goTo(this.page - 1);
    if (action === "next") this.goTo(this.page + 1);
    if (action === "in") this.zoom(this.scale * ZOOM_STEP);
    if (action === "out") this.zoom(this.scale / ZOOM_STEP);
    if (action === "width" || action === "page") {
      this.mode = action;
      this.fit();
    }
  }

  clicked({ clientX, clientY }) {
    if (!window.getSelection().isCollapsed) return;
    const under = this.root.getRootNode().elementsFromPoint(clientX, clientY);
    const hit = under.find((node) => node.matches(".mark.other, .badge:not(.active)"));
    if (hit) this.send.setTriggerValue("pick", Number(hit.dataset.mark));
  }

  scrolled() {
    if (!this.sheets.length) return;
    this.page = this.reading();
    this.tell();
    this.find('[data-do="previous"]').disabled = this.page <= 1;
    this.find('[data-do="next"]').disabled = this.page >= this.sheets.length;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settled(), SETTLE_MS);
  }

  /** Asks for the pages in sight, if they are not here or not sharp. */
  settled() {
    const wanted = Math.round(this.scale * window.devicePixelRatio * 100) / 100;
    this.sheets.forEach((sheet, index) => Math.abs(index + 1 - this.page) > FAR_PAGES && this.drop(sheet));
    const near = this.sheets.slice(Math.max(this.page - 2, 0), this.page + 1);
    const missing = near.some((sheet) => !sheet.dataset.note && Math.abs(Number(sheet.dataset.scale ?? 0) - wanted) > 0.02);
    const view = { token: this.token, page: this.page, scale: wanted };
    if (missing && JSON.stringify(view) !== this.asked) {
      this.asked = JSON.stringify(view);
      this.send.setStateValue("view", view);
    }
  }

  drop(sheet) {
    if (!sheet.dataset.scale) return;
    sheet.querySelectorAll("img, .line").forEach((node) => node.remove());
    delete sheet.dataset.scale;
    this.asked = null;
  }
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".viewer");
  root.viewer ??= new Viewer(root);
  root.viewer.update(data, { setStateValue, setTriggerValue });
}
