// Requests to the page server (rag/ui/viewer/page_server.py), cached only in the browser's memory. The viewer's parts are
// concatenated in the order of SCRIPTS in rag/ui/viewer/pdf_viewer.py and share one scope.

const KEPT_PICTURES = 80;
const KEPT_TEXTS = 400;
const OUTLIVING_CHARS = 20000; // changes up to this size outlive the page they were made on; browsers allow 64 KB
const [MIN_SCALE, MAX_SCALE] = [0.1, 6]; // pixels per point that the server draws
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

  /** Throws an Error with the server's message. `path` begins with the document's id. */
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

  /** Failed requests are not cached. */
  _once(kept, key, make) {
    const found = kept.get(key);
    if (found) return found;
    const made = make();
    kept.set(key, made);
    made.catch(() => kept.delete(key));
    return made;
  }

  /** Returns name, page sizes and labels; `known` came with the app's page and takes precedence over the cache. */
  keep(known) {
    this.documents.set(known.id, Promise.resolve(expanded(known)));
  }

  describe(id) {
    return this._once(this.documents, id, async () => expanded(await this.json(id)));
  }

  /** Returns the URL of a page's image at `scale` pixels per point. */
  picture(id, number, scale) {
    return this._once(this.pictures, `${id}/${number}/${scale}`, async () => {
      const drawn = Math.min(Math.max(scale, MIN_SCALE), MAX_SCALE);
      const response = await this.ask(`${id}/pages/${number}/picture?scale=${drawn}`);
      return URL.createObjectURL(await response.blob());
    });
  }

  has(id, number, scale) {
    return this.pictures.values.has(`${id}/${number}/${scale}`);
  }

  /** Returns the lines of a page: [x0, y0, x1, y1, text] in points. */
  lines(id, number, stamp) {
    return this._once(this.texts, `${id}/${number}/${stamp}`, () => this.json(`${id}/pages/${number}/lines`));
  }

  /** Prefetches when no other request is running. */
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

/** Expands page sizes, which are run-length encoded. */
function expanded(known) {
  return { ...known, sizes: known.sizes.flatMap(([width, height, count]) => Array.from({ length: count }, () => [width, height])) };
}
