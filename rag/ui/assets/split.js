// A divider between two columns, dragged by pointer or arrow keys; a double click resets it. On a phone the second column
// is a sheet that a click on a citation, or the server, opens.

const SHARE = "pagelight:split"; // of the first column, in percent; of a page that is not the chat with its name
const RANGE = [25, 75];
const LEAST_PX = 270; // of either column, as far as there is room
const STEP = 2;
const PHONE = window.matchMedia("(max-width: 640px)");

function columnsOf(parent) {
  const host = parent.getRootNode().host ?? parent;
  const row = host.closest('[data-testid="stHorizontalBlock"]');
  return { row, columns: row ? [...row.children].filter((node) => node.matches('[data-testid="stColumn"]')) : [] };
}

class Split {
  constructor(parent) {
    this.handle = parent.querySelector(".handle");
    this.opener = parent.querySelector(".open");
    Object.assign(this, columnsOf(parent));
    this.row.style.position = "relative";
    this.handle.addEventListener("pointerdown", (event) => this.start(event));
    this.handle.addEventListener("pointermove", (event) => this.handle.hasPointerCapture(event.pointerId) && this.move(event));
    this.handle.addEventListener("pointerup", () => this.stop());
    this.handle.addEventListener("dblclick", () => this.keep(null));
    this.handle.addEventListener("keydown", (event) => this.pressed(event));
    this.opener.addEventListener("click", () => this.up());
    this.place = () => this.arrange();
    this.watcher = new ResizeObserver(this.place);
    this.lit = (event) => event.detail.marks && this.up();
    this.leave = () => this.down();
  }

  begin({ name, up }) {
    this.kept = name ? `${SHARE}:${name}` : SHARE;
    this.columns[1].classList.add("sheet");
    this.watcher.observe(this.row);
    this.arrange();
    if (up && up !== this.shown) this.up();
    this.shown = up;
    document.addEventListener("pagelight:lit", this.lit);
    document.addEventListener("pagelight:leave", this.leave);
  }

  end() {
    this.watcher.disconnect();
    this.columns[1].classList.remove("sheet", "up");
    for (const column of this.columns) Object.assign(column.style, { flex: "", width: "", minWidth: "" });
    document.removeEventListener("pagelight:lit", this.lit);
    document.removeEventListener("pagelight:leave", this.leave);
  }

  get share() {
    const kept = Number(localStorage.getItem(this.kept));
    return kept >= RANGE[0] && kept <= RANGE[1] ? kept : null;
  }

  keep(share) {
    if (share === null) localStorage.removeItem(this.kept);
    else localStorage.setItem(this.kept, Math.min(Math.max(share, RANGE[0]), RANGE[1]).toFixed(1));
    this.arrange();
  }

  /** Sets the widths of the columns and the position of the divider. */
  arrange() {
    const share = this.share === null ? null : this.fitting(this.share);
    const gap = parseFloat(getComputedStyle(this.row).columnGap) || 0;
    this.columns.forEach((column, index) => {
      const part = index ? 100 - share : share;
      const own = share !== null && !PHONE.matches;
      column.style.flex = own ? `1 1 calc(${part}% - ${gap}px)` : "";
      column.style.width = own ? `calc(${part}% - ${gap}px)` : "";
      column.style.minWidth = own ? "0" : "";
    });
    const [first] = this.columns;
    const [own, row] = [first.getBoundingClientRect(), this.row.getBoundingClientRect()];
    const at = this.handle.offsetParent?.getBoundingClientRect() ?? row;
    this.handle.style.left = `${own.right - at.left + gap / 2 - 8}px`;
    this.handle.style.top = `${row.top - at.top}px`;
    this.handle.style.height = `${row.height}px`;
    this.handle.ariaValueNow = String(Math.round((100 * own.width) / row.width));
  }

  /** Limits the share of the first column, so that neither becomes too narrow. */
  fitting(share) {
    const least = Math.min(50, (100 * LEAST_PX) / this.row.clientWidth);
    return Math.min(Math.max(share, least), 100 - least);
  }

  start(event) {
    this.handle.setPointerCapture(event.pointerId);
    this.handle.classList.add("moving");
    event.preventDefault();
  }

  move({ clientX }) {
    const { left, width } = this.row.getBoundingClientRect();
    this.keep((100 * (clientX - left)) / width);
  }

  stop() {
    this.handle.classList.remove("moving");
  }

  pressed(event) {
    const by = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
    if (!by) return;
    event.preventDefault();
    this.keep(Number(this.handle.ariaValueNow) + by);
  }

  up() {
    if (!PHONE.matches) return;
    this.before = document.activeElement;
    this.columns[1].classList.add("up");
  }

  down() {
    if (!this.columns[1].classList.contains("up")) return;
    this.columns[1].classList.remove("up");
    this.before?.focus?.();
  }
}

export default function ({ data, parentElement }) {
  const { columns } = columnsOf(parentElement);
  if (columns.length < 2) return () => {};
  const handle = parentElement.querySelector(".handle");
  handle.split ??= new Split(parentElement);
  handle.split.begin(data ?? {});
  return () => handle.split.end();
}
