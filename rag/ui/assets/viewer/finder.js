// Find in the document: counts all matches and marks those on visible pages with exact boxes.

const TYPING_MS = 250;

class Finder {
  constructor(viewer) {
    this.viewer = viewer;
    this.bar = viewer.find(".finder");
    this.field = viewer.find(".words");
    this.note = viewer.find(".tally");
    this.pages = [];
    this.field.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.search(this.field.value), TYPING_MS);
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.pressed(event.shiftKey ? -1 : 1);
    });
  }

  open(words) {
    this.bar.hidden = false;
    this.viewer.find('[data-do="find"]').ariaExpanded = "true";
    if (words !== undefined) {
      this.field.value = words;
      this.search(words);
    }
    this.field.focus();
    this.field.select();
  }

  close() {
    this.bar.hidden = true;
    this.viewer.find('[data-do="find"]').ariaExpanded = "false";
    this.clear();
  }

  get isOpen() {
    return !this.bar.hidden;
  }

  clear() {
    this.pages = [];
    this.words = "";
    this.note.textContent = "";
    this.viewer.scroller.querySelectorAll(".mark.hit").forEach((node) => node.remove());
    this.viewer.sheets.forEach((sheet) => delete sheet.dataset.words);
    this.viewer.cover();
  }

  async search(words) {
    this.clear();
    const sought = (this.words = words.trim());
    const { id } = this.viewer.known;
    if (!sought) return;
    this.note.textContent = "…";
    let pages;
    try {
      pages = await source.json(`${id}/find?words=${encodeURIComponent(sought)}`);
    } catch (error) {
      this.note.textContent = error.message;
      return;
    }
    if (sought !== this.words || id !== this.viewer.known.id) return;
    this.pages = pages;
    this.total = pages.reduce((sum, [, count]) => sum + count, 0);
    this.viewer.cover();
    if (!this.total) {
      this.note.textContent = _("Not found");
      return;
    }
    const here = pages.findIndex(([page]) => page >= this.viewer.page);
    await this.light(Math.max(here, 0), 0);
  }

  /** Enter: goes to the next match, or to the first one of a new search. */
  pressed(by) {
    if (this.field.value.trim() !== this.words) {
      clearTimeout(this.timer);
      this.search(this.field.value);
    } else this.step(by);
  }

  step(by) {
    if (!this.pages.length) return;
    let [at, place] = [this.at, this.place + by];
    if (place < 0 || place >= this.pages[at][1]) {
      at = (at + by + this.pages.length) % this.pages.length;
      place = by > 0 ? 0 : this.pages[at][1] - 1;
    }
    this.light(at, place);
  }

  async light(at, place) {
    Object.assign(this, { at, place });
    const [page] = this.pages[at];
    const before = this.pages.slice(0, at).reduce((sum, [, count]) => sum + count, 0);
    this.note.textContent = _("{place} of {total}", { place: decimal(before + place + 1), total: decimal(this.total) });
    await this.mark(page);
    const hits = this.viewer.sheets[page - 1].querySelectorAll(`.mark.hit[data-place="${place}"]`);
    this.viewer.scroller.querySelectorAll(".mark.hit.now").forEach((node) => node.classList.remove("now"));
    hits.forEach((node) => node.classList.add("now"));
    const y = Number(hits[0]?.style.getPropertyValue("--y") ?? 0);
    this.viewer.scrollTo(page, y);
  }

  /** Marks the matches on a page. */
  async mark(page) {
    const sheet = this.viewer.sheets[page - 1];
    const { words } = this;
    if (!words || sheet.dataset.words === words || !this.pages.some(([number]) => number === page)) return;
    sheet.dataset.words = words;
    const places = await source.json(`${this.viewer.known.id}/pages/${page}/find?words=${encodeURIComponent(words)}`).catch(() => []);
    if (words !== this.words) return;
    places.forEach((rects, place) => draw(sheet, "mark hit", rects).forEach((node) => (node.dataset.place = place)));
  }
}
