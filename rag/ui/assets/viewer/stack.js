// Vertical layout of the pages. Positions are computed here, because asking the browser makes it lay out all pages, which
// takes a third of a second for thousands. Pages are grouped in blocks that the browser skips until they come near.

const GAP_PX = 12; // between and around pages, as in the style sheet
const BLOCK_PAGES = 40;

class Stack {
  /** `sizes` are the width and height of each page in points. */
  constructor(sizes) {
    this.sizes = sizes;
    this.sheets = sizes.map(([w, h], index) => {
      const sheet = element("page", { w, h });
      sheet.dataset.page = index + 1;
      return sheet;
    });
    this.above = [0]; // points of the pages before each
    for (const [, height] of sizes) this.above.push(this.above.at(-1) + height);
    this.widest = sizes.reduce((widest, [width]) => Math.max(widest, width), 0);
  }

  get blocks() {
    return Array.from({ length: Math.ceil(this.sheets.length / BLOCK_PAGES) }, (_, number) => {
      const [first, last] = [number * BLOCK_PAGES, Math.min((number + 1) * BLOCK_PAGES, this.sheets.length)];
      const block = element("block", { widest: this.widest, high: this.above[last] - this.above[first], count: last - first });
      block.append(...this.sheets.slice(first, last));
      return block;
    });
  }

  /** Returns the pixels above a page at `scale` pixels per point. */
  top(page, scale) {
    return this.above[page - 1] * scale + page * GAP_PX;
  }

  bottom(page, scale) {
    return this.above[page] * scale + page * GAP_PX;
  }

  /** Returns the pixels left of a page in a view of `width` pixels. */
  left(page, scale, width) {
    return (Math.max(width, this.widest * scale + 2 * GAP_PX) - this.sizes[page - 1][0] * scale) / 2;
  }

  /** Returns the last page that starts at or above an offset in pixels, by bisection. */
  at(y, scale) {
    let [low, high] = [1, this.sheets.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.top(middle, scale) <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
