// Keyboard shortcuts. They work outside text fields and can be switched off; the setting stays in this browser.

const OFF = "pagelight:keys-off";
const KEYS = [
  ["/", _("Go to the question field")],
  ["→", _("Next citation")],
  ["←", _("Previous citation")],
  ["f", _("Find in the document")],
  ["g", _("Go to a page")],
  ["o", _("Outline")],
  ["t", _("Pages")],
  ["m", _("My notes")],
  ["+", _("Zoom in")],
  ["-", _("Zoom out")],
  ["w", _("Fit width")],
  ["?", _("This list")],
  ["Esc", _("Close the open panel")],
];

const typesInto = (node) => node?.matches?.("input, textarea, select, [contenteditable=true], [contenteditable='']");

class Keys {
  constructor(viewer) {
    this.viewer = viewer;
    this.help = viewer.find(".keys");
    this.help.querySelector("dl").replaceChildren(
      ...KEYS.flatMap(([key, does]) => {
        const name = element("", {}, "", "dt");
        name.append(element("", {}, key, "kbd"));
        return [name, element("", {}, does, "dd")];
      }),
    );
    const choice = this.help.querySelector("input");
    choice.checked = !localStorage.getItem(OFF);
    choice.addEventListener("change", () => (choice.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1")));
  }

  press(event) {
    if (this.help.open) return;
    const focus = event.composedPath()[0];
    const inside = event.composedPath().includes(this.viewer.root);
    if ((event.ctrlKey || event.metaKey) && event.key === "f" && inside) this.take(event, () => this.viewer.finder.open());
    if (event.key === "Escape") this.escape(event, inside);
    if (event.ctrlKey || event.metaKey || event.altKey || typesInto(focus) || document.querySelector('[role="dialog"]')) return;
    if (localStorage.getItem(OFF) && !(inside && event.key === "?")) return;
    if (/^Arrow/.test(event.key) && this.movesBy(event, focus)) return;
    const action = this.actions[event.key];
    if (action) this.take(event, action);
  }

  /** Returns whether what has the focus uses the arrow keys itself: tabs, menus, or pages wider than their window. */
  movesBy(event, focus) {
    const { scroller } = this.viewer;
    const isWide = event.composedPath().includes(scroller) && scroller.scrollWidth > scroller.clientWidth;
    return isWide || Boolean(focus.closest?.("[role=tab], [role^=menu], [role=option], [role=slider], [role=radio]"));
  }

  take(event, action) {
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  get actions() {
    const { viewer } = this;
    return {
      ArrowRight: () => step(1),
      ArrowLeft: () => step(-1),
      n: () => step(1),
      p: () => step(-1),
      "/": () => document.querySelector(FIELD)?.focus(),
      q: () => document.querySelector(FIELD)?.focus(),
      f: () => viewer.finder.open(),
      g: () => viewer.find(".number").select(),
      o: () => viewer.panel.toggle("outline"),
      t: () => viewer.panel.toggle("pages"),
      m: () => viewer.panel.toggle("notes"),
      "+": () => viewer.zoom(viewer.scale * ZOOM_STEP),
      "-": () => viewer.zoom(viewer.scale / ZOOM_STEP),
      w: () => viewer.pressed("width"),
      "?": () => this.help.showModal(),
    };
  }

  escape(event, inside) {
    const { viewer } = this;
    if (inside && viewer.finder.isOpen) this.take(event, () => (viewer.finder.close(), viewer.scroller.focus()));
    else if (inside && viewer.panel.isOpen) this.take(event, () => (viewer.panel.close(), viewer.find('[data-do="panel"]').focus()));
    else document.dispatchEvent(new CustomEvent(LEAVE));
  }
}

/** Asks the answers for the next citation, which may be in another document. */
function step(by) {
  document.dispatchEvent(new CustomEvent("pagelight:step", { detail: by }));
}
