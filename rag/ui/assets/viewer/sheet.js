// A page as elements: its image, marks, and transparent text over them.
// Lengths are PDF points of the displayed page; the CSS variable --scale turns them into pixels, so a zoom moves pages,
// highlights and text together and a highlight can be measured in the DOM.

const pen = document.createElement("canvas").getContext("2d");

function element(className, variables = {}, text = "", tag = "div") {
  const node = document.createElement(tag);
  node.className = className;
  for (const [name, value] of Object.entries(variables)) node.style.setProperty(`--${name}`, value);
  node.textContent = text;
  return node;
}

function button(className, label, text, press) {
  const node = element(className, {}, text, "button");
  node.type = "button";
  if (label) node.ariaLabel = node.title = label;
  node.addEventListener("click", press);
  return node;
}

const box = ([x0, y0, x1, y1]) => ({ x: x0, y: y0, w: x1 - x0, h: y1 - y0 });

/** Returns a transparent line of text, stretched to the printed line, for selecting and copying. */
function textLine([x0, y0, x1, y1, text]) {
  const [width, height] = [x1 - x0, y1 - y0];
  const upright = height <= 1.5 * width || text.length < 3;
  const [along, size] = upright ? [width, 0.8 * height] : [height, 0.8 * width];
  pen.font = `${size}px sans-serif`;
  const stretch = along / Math.max(pen.measureText(text).width, 1);
  const fit = upright ? `scaleX(${stretch})` : `translateX(calc(var(--scale) * ${width}px)) rotate(90deg) scaleX(${stretch})`;
  return element("line", { x: x0, y: y0, h: upright ? height : width, size, fit }, text);
}

/** Draws boxes on a sheet, under its text. */
function draw(sheet, className, rects, title = "") {
  const before = sheet.querySelector(".line");
  return rects.map((rect) => {
    const node = element(className, box(rect));
    if (title) node.title = title;
    sheet.insertBefore(node, before);
    return node;
  });
}
