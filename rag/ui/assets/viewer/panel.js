// The side panel: outline, page thumbnails and notes.

const THUMB_PX = 112;

class Panel {
  constructor(viewer) {
    this.viewer = viewer;
    this.node = viewer.find(".panel");
    this.body = viewer.find(".panel-body");
    this.tabs = [...this.node.querySelectorAll("[role=tab]")];
    this.tabs.forEach((tab) => tab.addEventListener("click", () => this.open(tab.dataset.tab)));
    this.node.querySelector("[role=tablist]").addEventListener("keydown", (event) => this.turned(event));
    this.seen = new IntersectionObserver((entries) => entries.forEach((entry) => entry.isIntersecting && this.picture(entry.target)), {
      root: this.body,
    });
  }

  get isOpen() {
    return !this.node.hidden;
  }

  open(name) {
    this.node.hidden = false;
    this.viewer.find('[data-do="panel"]').ariaExpanded = "true";
    this.name = name;
    for (const tab of this.tabs) {
      tab.ariaSelected = String(tab.dataset.tab === name);
      tab.tabIndex = tab.dataset.tab === name ? 0 : -1;
    }
    this.body.ariaLabel = this.tabs.find((tab) => tab.dataset.tab === name).textContent;
    return this.fill();
  }

  close() {
    this.node.hidden = true;
    this.viewer.find('[data-do="panel"]').ariaExpanded = "false";
  }

  toggle(name = this.name ?? "outline") {
    if (this.isOpen && this.name === name) this.close();
    else {
      this.open(name);
      this.tabs.find((tab) => tab.dataset.tab === name).focus();
    }
  }

  turned(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.stopPropagation();
    const at = this.tabs.findIndex((tab) => tab.dataset.tab === this.name);
    const next = this.tabs[(at + by + this.tabs.length) % this.tabs.length];
    this.open(next.dataset.tab);
    next.focus();
  }

  /** Updates the panel for the open document. */
  async fill() {
    if (!this.isOpen || !this.viewer.known) return;
    const { id } = this.viewer.known;
    this.seen.disconnect();
    try {
      const rows = await { outline: () => this.outline(), pages: () => this.pages(), notes: () => this.notes() }[this.name]();
      if (id === this.viewer.known.id) this.body.replaceChildren(...rows);
    } catch (error) {
      this.body.replaceChildren(element("none", {}, error.message, "p"));
    }
    if (this.name === "pages") this.follow();
  }

  async outline() {
    const entries = await source.json(`${this.viewer.known.id}/outline`);
    if (!entries.length) return [element("none", {}, _("No headings were found in this document."), "p")];
    return entries.map(({ level, title, page_number: page, y }) => {
      const row = button("entry", "", title, () => this.viewer.scrollTo(page, y));
      row.style.setProperty("--level", Math.min(level - 1, 6));
      row.append(element("at", {}, this.viewer.labelOf(page), "span"));
      return row;
    });
  }

  async pages() {
    return this.viewer.sizes.map(([width, height], index) => {
      const row = button("thumb", _("Page {number}", { number: this.viewer.labelOf(index + 1) }), "", () => this.viewer.goTo(index + 1));
      row.dataset.page = index + 1;
      row.style.setProperty("--ratio", width / height);
      row.append(element("sheetlet", {}, "", "span"), element("at", {}, this.viewer.labelOf(index + 1), "span"));
      this.seen.observe(row);
      return row;
    });
  }

  async picture(row) {
    this.seen.unobserve(row);
    const number = Number(row.dataset.page);
    const [width, height] = this.viewer.sizes[number - 1];
    const scale = Math.round((THUMB_PX * window.devicePixelRatio * 100) / Math.max(width, height)) / 100;
    const { id } = this.viewer.known;
    source.later(async () => {
      if (!row.isConnected) return;
      const picture = new Image();
      picture.alt = "";
      picture.src = await source.picture(id, number, scale);
      row.querySelector(".sheetlet").replaceChildren(picture);
    });
  }

  /** Keeps the thumbnail of the current page in view. */
  follow() {
    if (!this.isOpen || this.name !== "pages") return;
    this.body.querySelector(".thumb[aria-current]")?.removeAttribute("aria-current");
    const now = this.body.children[this.viewer.page - 1];
    if (!now?.matches(".thumb")) return;
    now.ariaCurrent = "page";
    const [top, bottom] = [now.offsetTop - this.body.offsetTop, now.offsetTop - this.body.offsetTop + now.offsetHeight];
    if (top < this.body.scrollTop || bottom > this.body.scrollTop + this.body.clientHeight) this.body.scrollTop = top - 40;
  }

  async notes() {
    const own = await this.viewer.notes.load();
    if (!own.length) return [element("none", {}, _("No notes yet. Select words on a page to highlight them or to write a note."), "p")];
    return own.map((one) => this.viewer.notes.row(one));
  }
}
