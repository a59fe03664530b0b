// Positions a mark's label beside the words, never on them.

const BADGE_GAP_PX = 3;

const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

/**
 * Puts a badge left of the lines that it is for, else right of them, above or below, where no words of the page are; at
 * the edge of the page if there is no such place. `rect` is its mark's first box, `lines` are those of the page, in points.
 */
function placeBadge(badge, rect, lines, [pageWidth], scale) {
  const [width, height] = [badge.offsetWidth / scale, badge.offsetHeight / scale];
  if (!width) return;
  const gap = BADGE_GAP_PX / scale;
  const own = lines.filter((line) => meet(line, rect));
  const left = Math.min(rect[0], ...own.map((line) => line[0]));
  const right = Math.max(rect[2], ...own.map((line) => line[2]));
  const y = (rect[1] + rect[3] - height) / 2;
  const places = [
    [left - gap - width, y],
    [right + gap, y],
    [rect[0], rect[1] - height],
    [rect[0], rect[3]],
  ];
  const isFree = ([x, top]) =>
    x >= -GAP_PX / scale && x + width <= pageWidth + GAP_PX / scale && !lines.some((line) => meet(line, [x, top, x + width, top + height]));
  const [x, top] = places.find(isFree) ?? [-GAP_PX / scale, y];
  badge.style.setProperty("--x", x);
  badge.style.setProperty("--y", top);
}
