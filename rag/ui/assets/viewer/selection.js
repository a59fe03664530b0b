// Actions on selected text, and the user's highlights and notes.

const FIELD = '[data-testid="stChatInputTextArea"]';

/** Puts text into the question field as if typed: React listens to the native setter. */
function ask(text) {
  const field = document.querySelector(FIELD);
  if (!field) return;
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
  field.setSelectionRange(text.length, text.length);
}

class Notes {
  constructor(viewer) {
    this.viewer = viewer;
    this.own = [];
  }

  get path() {
    return `${this.viewer.known.id}/annotations`;
  }

  async load() {
    const { id } = this.viewer.known;
    const own = await source.json(this.path);
    if (id !== this.viewer.known.id) return this.own;
    this.own = own;
    this.draw();
    return own;
  }

  draw() {
    this.viewer.scroller.querySelectorAll(".mark.own").forEach((node) => node.remove());
    for (const { id, note, quote, regions } of this.own)
      for (const { page_number: page, rects } of regions) {
        const sheet = this.viewer.sheets[page - 1];
        if (sheet) draw(sheet, `mark own${note ? " noted" : ""}`, rects, note || quote).forEach((node) => (node.dataset.own = id));
      }
  }

  async add(place, note) {
    const { id } = await source.json(this.path, "POST", { ...place, note });
    await this.load();
    await this.viewer.panel.fill();
    return id;
  }

  /** Opens the list of notes at one of them, for editing. */
  async write(id) {
    await this.viewer.panel.open("notes"); // once: what is typed would be lost with the field that it stands in
    this.viewer.find(`[data-note="${id}"] textarea`)?.focus();
  }

  /** Returns a list entry of a mark: its page, its text and its editable note. */
  row({ id, quote, note, regions }) {
    const row = element("note");
    row.dataset.note = id;
    const page = regions[0].page_number;
    const y = Math.min(...regions[0].rects.map((rect) => rect[1]));
    const lead = button("entry", "", quote || _("Marked place"), () => this.viewer.scrollTo(page, y));
    lead.append(element("at", {}, this.viewer.labelOf(page), "span"));
    const field = element("note-text", {}, note, "textarea");
    field.placeholder = _("Write a note");
    field.ariaLabel = _("Note");
    field.rows = 2;
    field.addEventListener("change", () => this._do(() => source.json(`${this.path}/${id}`, "PATCH", { note: field.value })));
    row.append(lead, field, button("small", "", _("Delete"), () => this._do(() => source.json(`${this.path}/${id}`, "DELETE"))));
    return row;
  }

  async _do(work) {
    await this.viewer.tried(async () => {
      await work(); // if it fails, what was typed stays in its field
      await this.viewer.panel.fill();
      await this.load();
    });
  }
}

class Selection {
  constructor(viewer) {
    this.viewer = viewer;
    this.menu = viewer.find(".selected");
    this.menu.addEventListener("mousedown", (event) => event.preventDefault()); // which would end the selection
    this.menu.addEventListener("click", (event) => this.pressed(event.target.closest("[data-with]")?.dataset.with));
  }

  /** Returns the selected part of each line: page, text, and box in points. */
  parts() {
    const root = this.viewer.root.getRootNode();
    const selection = (root.getSelection ?? window.getSelection).call(root.getSelection ? root : window);
    if (!selection?.rangeCount || selection.isCollapsed) return [];
    const composed = selection.getComposedRanges?.({ shadowRoots: [root] })[0];
    const range = document.createRange();
    if (composed) {
      range.setStart(composed.startContainer, composed.startOffset);
      range.setEnd(composed.endContainer, composed.endOffset);
    } else {
      const own = selection.getRangeAt(0);
      range.setStart(own.startContainer, own.startOffset);
      range.setEnd(own.endContainer, own.endOffset);
    }
    if (!this.viewer.scroller.contains(range.commonAncestorContainer)) return [];
    const near = range.commonAncestorContainer.parentElement?.closest(".page") ?? this.viewer.scroller;
    return [...near.querySelectorAll(".line")].filter((line) => range.intersectsNode(line)).map((line) => this.part(line, range)).filter(({ text }) => text.trim());
  }

  part(line, range) {
    const own = document.createRange();
    own.selectNodeContents(line);
    if (line.contains(range.startContainer)) own.setStart(range.startContainer, range.startOffset);
    if (line.contains(range.endContainer)) own.setEnd(range.endContainer, range.endOffset);
    const sheet = line.closest(".page");
    const [box, at] = [own.getBoundingClientRect(), sheet.getBoundingClientRect()];
    const rect = [box.left - at.left, box.top - at.top, box.right - at.left, box.bottom - at.top].map((side) => side / this.viewer.scale);
    return { page: Number(sheet.dataset.page), text: own.toString(), rect };
  }

  show() {
    const parts = this.parts();
    this.menu.hidden = !parts.length;
    if (!parts.length) return;
    this.found = parts;
    this.menu.querySelector('[data-with="ask"]').hidden = !document.querySelector(FIELD);
    this.menu.querySelector('[data-with="take"]').hidden = !this.viewer.takes;
    const { page, rect } = parts.at(-1);
    const { scroller, scale } = this.viewer;
    const [x, y] = [this.viewer.left(page) + rect[0] * scale, this.viewer.top(page) + rect[3] * scale];
    this.menu.style.left = `${Math.max(4, Math.min(x - scroller.scrollLeft, scroller.clientWidth - this.menu.offsetWidth - 4))}px`;
    this.menu.style.top = `${Math.max(4, Math.min(y - scroller.scrollTop + 6, scroller.clientHeight - this.menu.offsetHeight - 4))}px`;
  }

  get words() {
    return this.found.map(({ text }) => text.trim()).join(" ").replace(/\s+/g, " ");
  }

  /** Returns the exact boxes of the selected words if they are found on the page, else those of the selection. */
  async place() {
    const pages = [...new Set(this.found.map(({ page }) => page))];
    const regions = pages.map(async (page) => {
      const own = this.found.filter((part) => part.page === page);
      const words = own.map(({ text }) => text).join(" ");
      const path = `${this.viewer.known.id}/pages/${page}/find?words=${encodeURIComponent(words)}`;
      const places = words.length < 2000 ? await source.json(path).catch(() => []) : [];
      const far = (rects) => Math.abs(rects[0][1] - own[0].rect[1]) + Math.abs(rects[0][0] - own[0].rect[0]);
      const nearest = places.filter((rects) => rects.length).sort((a, b) => far(a) - far(b))[0];
      return { page_number: page, rects: nearest ?? own.map(({ rect }) => rect) };
    });
    return { regions: await Promise.all(regions), quote: this.words };
  }

  async pressed(action) {
    if (!action || !this.found) return;
    const { words, viewer } = this;
    if (action === "ask") ask(`${_("“{words}”", { words })} `);
    if (action === "find") viewer.finder.open(words);
    if (action === "take") await viewer.tried(async () => viewer.send.setTriggerValue("take", await this.place()));
    if (action === "copy") navigator.clipboard?.writeText(words);
    if (action === "highlight" || action === "note")
      await viewer.tried(async () => {
        const id = await viewer.notes.add(await this.place(), "");
        if (action === "note") await viewer.notes.write(id);
      });
    if (action === "link") await viewer.tried(async () => viewer.copyLink((await this.place()).regions[0]));
    window.getSelection().removeAllRanges();
    this.menu.hidden = true;
  }
}
