// What viewers have from the door (rag/ui/viewer/page_server.py), kept in the browser's memory and nowhere else.
// The viewer's parts are put together in the order of SCRIPTS in rag/ui/viewer/pdf_viewer.py and share one scope.

const KEPT_PICTURES = 80;
const KEPT_TEXTS = 400;
const OUTLIVING_CHARS = 20000; // changes up to this size outlive the page they were made on; browsers allow 64 KB
const AT_ONCE = 2; // requests for what is only near; what is in sight does not wait

class Kept {
  constructor(most, forget = () => {}) {
    Object.assign(this, { most, forget, values: new Map() });
  }

  get(key) {
    const value = this.values.get(key);
    if (value !== undefined) {
      this.values.delete(key);
      this.values.set(key, value);
    }
    return value;
  }

  set(key, value) {
    this.values.set(key, value);
    if (this.values.size <= this.most) return;
    const [oldest, old] = this.values.entries().next().value;
    this.values.delete(oldest);
    this.forget(old);
  }

  delete(key) {
    this.values.delete(key);
  }
}

class Source {
  constructor() {
    this.documents = new Kept(KEPT_TEXTS);
    this.pictures = new Kept(KEPT_PICTURES, (url) => url.then(URL.revokeObjectURL, () => {}));
    this.texts = new Kept(KEPT_TEXTS);
    this.waiting = [];
    this.busy = 0;
  }

  /** Raises an Error with the door's words. `path` begins with the document's id. */
  async ask(path, method = "GET", body = undefined) {
    const { path: base, header, ticket } = this.door;
    const headers = { [header]: ticket, "accept-language": LANGUAGE, ...(body && { "content-type": "application/json" }) };
    const said = body && JSON.stringify(body);
    const keepalive = method !== "GET" && (said?.length ?? 0) <= OUTLIVING_CHARS;
    const response = await fetch(`${base}/${path}`, { method, headers, body: said, cache: "no-store", keepalive });
    if (response.ok) return response;
    const { message } = await response.json().catch(() => ({}));
    throw new Error(message ?? _("This cannot be shown now. Reload the page."));
  }

  async json(path, method, body) {
    return (await this.ask(path, method, body)).json();
  }

  /** A failed request is not kept. */
  _once(kept, key, make) {
    const found = kept.get(key);
    if (found) return found;
    const made = make();
    kept.set(key, made);
    made.catch(() => kept.delete(key));
    return made;
  }

  /** Name, size of each page, labels; `known` is what came with the page of the app, and wins over what is kept. */
  keep(known) {
    this.documents.set(known.id, Promise.resolve(expanded(known)));
  }

  describe(id) {
    return this._once(this.documents, id, async () => expanded(await this.json(id)));
  }

  /** The URL of a page's picture, `scale` pixels to the point. */
  picture(id, number, scale) {
    return this._once(this.pictures, `${id}/${number}/${scale}`, async () => {
      const response = await this.ask(`${id}/pages/${number}/picture?scale=${scale}`);
      return URL.createObjectURL(await response.blob());
    });
  }

  has(id, number, scale) {
    return this.pictures.values.has(`${id}/${number}/${scale}`);
  }

  /** Lines of a page: [x0, y0, x1, y1, text] in points. */
  lines(id, number, stamp) {
    return this._once(this.texts, `${id}/${number}/${stamp}`, () => this.json(`${id}/pages/${number}/lines`));
  }

  /** Asks for what will be wanted soon, when nothing else is asked for. */
  later(work) {
    this.waiting.push(work);
    if (this.waiting.length > 40) this.waiting.shift();
    this._next();
  }

  _next() {
    if (this.busy >= AT_ONCE || !this.waiting.length) return;
    this.busy += 1;
    const done = () => {
      this.busy -= 1;
      this._next();
    };
    this.waiting.shift()().then(done, done);
  }
}

const source = new Source();

/** The sizes of pages come as runs of pages alike. */
function expanded(known) {
  return { ...known, sizes: known.sizes.flatMap(([width, height, count]) => Array.from({ length: count }, () => [width, height])) };
}
