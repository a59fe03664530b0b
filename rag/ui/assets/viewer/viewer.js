// Scrolls through a document and highlights marks. Clicks are highlighted here at once; the server is told and later
// answers with the same state.

const LIT = "pagelight:lit"; // a citation was clicked: its key, document and marks
const NEAR = "pagelight:near"; // it may be clicked soon: its document and page
const LEAVE = "pagelight:leave";
const FAR_PAGES = 16; // pictures further from the reader than this are dropped
const SETTLE_MS = 60; // a scroll has ended when it has rested this long
const ZOOM_STEP = 1.2;
const ZOOM_RANGE = [0.2, 6];
const NOTICE_MS = 4000;

class Viewer {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.scroller = this.find(".pages");
    this.mode = "width";
    this.stack = new Stack([]);
    this.marks = [];
    this.click = 0;
    this.finder = new Finder(this);
    this.panel = new Panel(this);
    this.notes = new Notes(this);
    this.selection = new Selection(this);
    this.strip = new Strip(this);
    this.keys = new Keys(this);
    this.scroller.addEventListener("scroll", () => this.scrolled());
    this.scroller.addEventListener("click", (event) => this.clicked(event));
    root.addEventListener("click", (event) => this.pressed(event.target.closest("[data-do]")?.dataset.do));
    this.find(".number").addEventListener("change", (event) => this.goTo(this.named(event.target.value)));
    this.resized = new ResizeObserver(() => typeof this.mode === "string" && this.fit());
    this.resized.observe(this.scroller);
    this.lit = (event) => event.detail.marks && this.light(event.detail);
    this.near = (event) => this.prefetch(event.detail);
    this.listening = [
      [LIT, this.lit],
      [NEAR, this.near],
      ["keydown", (event) => this.keys.press(event)],
      ["selectionchange", () => this.selection.show()],
    ];
  }

  get sheets() {
    return this.stack.sheets;
  }

  get sizes() {
    return this.stack.sizes;
  }

  begin() {
    for (const [kind, listener] of this.listening) document.addEventListener(kind, listener);
  }

  end() {
    for (const [kind, listener] of this.listening) document.removeEventListener(kind, listener);
  }

  /** Applies data from the server, unless a newer click happened meanwhile. */
  update(data, send) {
    this.send = send;
    this.takes = data.takes; // whether the page around takes selected words over
    source.door = data.door;
    if (data.target.click && data.target.click < this.click) return;
    source.keep(data.document);
    const known = expanded(data.document);
    if (known.id !== this.known?.id || known.stamp !== this.known.stamp) this.open(known);
    this.show(data);
    if (data.target.token === this.token) return;
    this.token = data.target.token;
    if (!data.target.click || data.target.click !== this.click) this.jump(data.target);
    this.click = data.target.click;
  }

  /** Handles a click on a mark. */
  async light({ document: id, marks, active, click, found }) {
    this.click = click;
    if (id !== this.known?.id) {
      const known = await source.describe(id).catch((error) => this.tell(error.message));
      if (!known || this.click !== click) return;
      this.open(known);
    }
    this.show({ marks, active, found });
    const [page, y] = marks[active].places[0] ?? [1, 0];
    this.jump({ page, y });
  }

  open(known) {
    this.known = known;
    const { name, sizes, labels } = known;
    this.find(".name").textContent = this.find(".name").title = name;
    this.labels = labels; // printed on pages, by number, where they differ from it
    this.stack = new Stack(sizes);
    this.scroller.replaceChildren(...this.stack.blocks);
    this.scroller.scrollTop = 0;
    this.page = 1;
    this.drawn = null;
    this.finder.close();
    this.fit();
    this.panel.fill();
    this.tried(() => this.notes.load());
  }

  /** Draws marks: the active one filled, the others as outlines. */
  show({ marks, active, found }) {
    const key = JSON.stringify([marks, active, found]);
    if (key === this.drawn) return;
    Object.assign(this, { drawn: key, marks, active, found });
    this.scroller.querySelectorAll(".mark.plain, .mark.passage, .mark.quote, .mark.other, .badge").forEach((node) => node.remove());
    marks.forEach((mark, number) => this.draw(mark, number, number === active));
    this.cover();
  }

  draw({ key, label, title, lit, outlined }, number, isActive) {
    const shapes = (isActive ? lit : outlined).filter(({ page }) => this.sheets[page - 1]);
    for (const { page, rects } of isActive ? shapes : []) draw(this.sheets[page - 1], "mark plain", rects);
    for (const { kind, page, rects } of shapes)
      draw(this.sheets[page - 1], `mark ${kind}`, rects, title).forEach((node) => Object.assign(node.dataset, { mark: number, key }));
    const first = shapes.find(({ kind }) => kind !== "passage") ?? shapes[0];
    if (!first || !label) return;
    const badge = element(`badge ${isActive ? "active" : ""}`, box(first.rects[0]), label);
    badge.dataset.mark = number;
    badge.title = title;
    badge.rect = first.rects[0];
    this.sheets[first.page - 1].append(badge);
    this.placeBadges(first.page);
  }

  async placeBadges(page) {
    const sheet = this.sheets[page - 1];
    if (!sheet.querySelector(".badge")) return;
    const lines = await source.lines(this.known.id, page, this.known.stamp).catch(() => []);
    for (const badge of sheet.querySelectorAll(".badge")) placeBadge(badge, badge.rect, lines, this.sizes[page - 1], this.scale);
  }

  cover() {
    if (!this.known) return;
    const cited = this.found ? this.marks.flatMap(({ places }) => places.map(([page]) => page)) : [];
    this.strip.show({ found: this.found, cited, hits: this.finder.pages.map(([page]) => page) });
  }

  jump({ page, y }) {
    this.scrollTo(page, y);
    this.scroller.classList.remove("flash");
    void this.scroller.offsetWidth; // lets the animation start again
    this.scroller.classList.add("flash");
  }

  scrollTo(page, y) {
    if (!this.sheets[page - 1]) return;
    this.scroller.scrollTop = this.top(page) - GAP_PX + Math.max(0, y * this.scale - 0.3 * this.scroller.clientHeight);
    this.scrolled();
    this.settled();
  }

  top(page) {
    return this.stack.top(page, this.scale);
  }

  left(page) {
    return this.stack.left(page, this.scale, this.scroller.clientWidth);
  }

  goTo(page) {
    if (page >= 1 && page <= this.sheets.length) this.scroller.scrollTop = this.top(Math.trunc(page)) - GAP_PX;
    this.tellPage();
  }

  labelOf(page) {
    return this.labels[page] ?? String(page);
  }

  /** Returns the page that the user entered: by its printed label, else by its number in the file. */
  named(text) {
    const wanted = text.trim().toLowerCase();
    const printed = Object.keys(this.labels).find((number) => this.labels[number].toLowerCase() === wanted);
    return Number(printed ?? wanted);
  }

  /** Shows the current page: its printed label and, if different, its number. */
  tellPage() {
    const label = this.labels[this.page];
    const count = this.sheets.length;
    if (this.root.getRootNode().activeElement !== this.find(".number")) this.find(".number").value = label ?? this.page;
    this.find(".count").textContent = label ? _("({page} of {count})", { page: this.page, count }) : _("of {count}", { count });
  }

  tell(notice) {
    clearTimeout(this.noticed);
    this.find(".notice").textContent = notice;
    this.noticed = setTimeout(() => (this.find(".notice").textContent = ""), NOTICE_MS);
  }

  /** Runs an action and shows its error if it fails. */
  async tried(work) {
    try {
      return await work();
    } catch (error) {
      this.tell(error.message);
    }
  }

  /** Copies a link to a place, for users who may read the document. */
  async copyLink({ page_number: page, rects }) {
    const place = rects.slice(0, 20).map((rect) => rect.map((side) => Math.round(side * 10) / 10).join(",")).join(";");
    const address = new URL("/", window.location.href);
    address.pathname = source.door.home;
    address.search = new URLSearchParams({ document: this.known.id, page, ...(place && { place }) });
    await navigator.clipboard.writeText(address.href);
    this.tell(_("Link copied"));
  }

  /** Returns the page at a third of the visible height. */
  reading() {
    return this.stack.at(this.scroller.scrollTop + this.scroller.clientHeight / 3, this.scale);
  }

  fitting([w, h]) {
    const [width, height] = [this.scroller.clientWidth - 2 * GAP_PX, this.scroller.clientHeight - 2 * GAP_PX];
    return this.mode === "page" ? Math.min(width / w, height / h) : width / w;
  }

  fit() {
    const scale = this.sizes.length ? this.fitting(this.sizes[(this.page || 1) - 1]) : 0;
    if (scale > 0) this.zoom(scale, this.mode, this.litHeight());
  }

  /** Returns how far down the highlighted words are in the view, in pixels. */
  litHeight() {
    const lit = this.scroller.querySelector(".mark.quote, .mark.passage");
    const y = lit ? lit.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top : -1;
    return y >= 0 && y < this.scroller.clientHeight ? y : undefined;
  }

  /** Zooms while keeping the middle, or `y` pixels from the top, in place. */
  zoom(scale, mode = null, y = this.scroller.clientHeight / 2) {
    const { scroller } = this;
    const x = scroller.clientWidth / 2;
    const before = this.scale;
    const middle = this.sizes[this.page - 1][0] / 2; // a page that fits stands in the middle, beside wider ones, too
    const across = mode ? middle : (scroller.scrollLeft + x - this.left(this.page)) / before;
    const down = before ? (scroller.scrollTop + y - this.top(this.page)) / before : 0;
    const atTop = !before || scroller.scrollTop <= 1;
    this.mode = mode;
    this.scale = Math.min(Math.max(scale, ZOOM_RANGE[0]), ZOOM_RANGE[1]);
    scroller.style.setProperty("--scale", this.scale);
    scroller.scrollTop = atTop && this.page === 1 ? 0 : this.top(this.page) + down * this.scale - y;
    scroller.scrollLeft = this.left(this.page) + across * this.scale - x;
    this.find(".zoom").textContent = _("{percent}%", { percent: Math.round((this.scale * 72 * 100) / 96) });
    this.root.querySelectorAll('[data-do="width"], [data-do="page"]').forEach((node) => (node.ariaPressed = node.dataset.do === mode));
    this.scrolled();
  }

  pressed(action) {
    const actions = {
      previous: () => this.goTo(this.page - 1),
      next: () => this.goTo(this.page + 1),
      in: () => this.zoom(this.scale * ZOOM_STEP),
      out: () => this.zoom(this.scale / ZOOM_STEP),
      width: () => ((this.mode = "width"), this.fit()),
      page: () => ((this.mode = "page"), this.fit()),
      find: () => (this.finder.isOpen ? this.finder.close() : this.finder.open()),
      "find-next": () => this.finder.pressed(1),
      "find-previous": () => this.finder.pressed(-1),
      "find-close": () => this.finder.close(),
      panel: () => this.panel.toggle(),
      link: () => this.tried(() => this.copyLink(this.place())),
      keys: () => this.keys.help.showModal(),
      leave: () => document.dispatchEvent(new CustomEvent(LEAVE)),
    };
    actions[action]?.();
  }

  /** Returns the target of a link to here: the highlighted place if visible, else the page. */
  place() {
    const lit = this.marks[this.active]?.lit.find(({ kind, page }) => kind === "quote" && page === this.page);
    return { page_number: this.page, rects: lit?.rects ?? [] };
  }

  clicked({ clientX, clientY }) {
    if (!window.getSelection().isCollapsed) return;
    const under = this.root.getRootNode().elementsFromPoint(clientX, clientY);
    const own = under.find((node) => node.matches(".mark.own"));
    const hit = under.find((node) => node.matches(".mark.other, .badge:not(.active)"));
    if (hit) this.pick(Number(hit.dataset.mark));
    else if (own) this.notes.write(own.dataset.own);
  }

  pick(number) {
    const { key } = this.marks[number];
    const click = Date.now();
    this.light({ document: this.known.id, marks: this.marks, active: number, click, found: this.found });
    document.dispatchEvent(new CustomEvent(LIT, { detail: { lit: key } }));
    this.send.setTriggerValue("pick", { number, click });
  }

  scrolled() {
    if (!this.sheets.length || !this.scale) return;
    this.page = this.reading();
    this.tellPage();
    this.find('[data-do="previous"]').disabled = this.page <= 1;
    this.find('[data-do="next"]').disabled = this.page >= this.sheets.length;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settled(), SETTLE_MS);
  }

  sharp(scale) {
    return Math.round(scale * window.devicePixelRatio * 100) / 100;
  }

  /** Loads the visible pages, the current one first, and then their neighbours. */
  settled() {
    if (!this.known || !this.scale) return;
    clearTimeout(this.timer);
    this.sheets.forEach((sheet, index) => Math.abs(index + 1 - this.page) > FAR_PAGES && this.drop(sheet));
    this.bring(this.page);
    const [top, bottom] = [this.scroller.scrollTop, this.scroller.scrollTop + this.scroller.clientHeight];
    for (const page of [this.page + 1, this.page - 1]) {
      const sheet = this.sheets[page - 1];
      if (!sheet) continue;
      if (this.top(page) < bottom && this.stack.bottom(page, this.scale) > top) this.bring(page);
      else source.later(() => this.bring(page));
    }
    this.panel.follow();
  }

  async bring(number) {
    const { id, stamp } = this.known;
    const sheet = this.sheets[number - 1];
    const scale = this.sharp(this.scale);
    if (this.finder.words) this.finder.mark(number);
    this.placeBadges(number);
    if (Math.abs(Number(sheet.dataset.scale ?? 0) - scale) <= 0.02 || sheet.dataset.coming === String(scale)) return;
    sheet.dataset.coming = scale;
    try {
      const text = source.lines(id, number, stamp);
      const picture = new Image();
      picture.alt = _("Page {number}", { number: this.labelOf(number) });
      picture.draggable = false;
      picture.src = await source.picture(id, number, scale);
      await picture.decode();
      if (sheet.dataset.coming !== String(scale)) return;
      sheet.querySelector("img")?.remove();
      sheet.prepend(picture);
      sheet.dataset.scale = scale;
      const lines = await text;
      if (!sheet.querySelector(".line") && sheet.dataset.scale) sheet.append(...lines.map(textLine));
    } catch (error) {
      sheet.dataset.note = error.message;
    } finally {
      if (sheet.dataset.coming === String(scale)) delete sheet.dataset.coming;
    }
  }

  drop(sheet) {
    delete sheet.dataset.coming;
    if (!sheet.dataset.scale) return;
    sheet.querySelectorAll("img, .line").forEach((node) => node.remove());
    delete sheet.dataset.scale;
  }

  /** Prefetches a page. */
  prefetch({ document: id, page }) {
    if (!source.door) return;
    source.later(async () => {
      const known = await source.describe(id);
      const size = known.sizes[page - 1];
      if (!size) return;
      const scale = this.sharp(typeof this.mode === "string" ? this.fitting(size) : this.scale);
      if (scale > 0) await Promise.all([source.picture(id, page, scale), source.lines(id, page, known.stamp)]);
    });
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".viewer");
  root.viewer ??= new Viewer(root);
  root.viewer.begin();
  root.viewer.update(data, { setTriggerValue });
  return () => root.viewer.end();
}
