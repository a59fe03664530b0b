// A strip beside the pages that shows which of them were found, cited, or match the search.

class Strip {
  constructor(viewer) {
    this.viewer = viewer;
    this.node = viewer.find(".strip");
    this.node.addEventListener("click", ({ offsetY }) => viewer.goTo(1 + Math.floor((offsetY / this.node.clientHeight) * viewer.sheets.length)));
  }

  /** Page numbers: `found` and `cited` for the answer, `hits` of the search in the document. */
  show({ found = null, cited = [], hits = [] }) {
    const count = this.viewer.sheets.length;
    const failed = this.viewer.known?.failed ?? [];
    const kinds = { failed, found: found ?? [], cited, hit: hits };
    this.node.hidden = !count || !Object.values(kinds).some((pages) => pages.length);
    const ticks = Object.entries(kinds).flatMap(([kind, pages]) =>
      [...new Set(pages)].map((page) => element(`tick ${kind}`, { at: (page - 1) / count, part: 1 / count })),
    );
    this.node.replaceChildren(...ticks);
    const searched = count - failed.length;
    const parts = [];
    if (found) parts.push(_("{searched} of {count} pages searched", { searched, count }), _("{count} found", { count: new Set(found).size }), listed(cited));
    if (hits.length) parts.push(_("words on {count} pages", { count: hits.length }));
    this.node.title = parts.join(" · ");
    this.node.ariaLabel = _("Coverage: {parts}", { parts: parts.join(", ") });
  }
}

const listed = (pages) => (pages.length ? _("cited: page {pages}", { pages: [...new Set(pages)].sort((a, b) => a - b).join(", ") }) : _("cited: none"));
