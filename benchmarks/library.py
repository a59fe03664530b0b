"""Measure the library page with thousands of documents in a browser: loading, filtering, sorting, paging.

Needs Chromium. The documents are rows without files, which is all the page reads.
"""

import statistics
import tempfile

import psycopg
from playwright.sync_api import Page

from benchmarks import apps, databases
from benchmarks.report import Section, at_most
from benchmarks.settings import Options
from benchmarks.timing import percentiles
from rag.store.store import Store
from rag.types import LOCAL_USER, ChunkingOptions, DocumentQuery, EmbeddingSpace

DOCUMENTS, QUICK_DOCUMENTS = 5_000, 200
ROUNDS, QUICK_ROUNDS = 10, 1
READY_MS = at_most(1_000)
FILTERED_MS = at_most(300)
ROWS = 100
WORDS = "77"
"""Part of fewer names than fit on a page of the table."""
SPACE = EmbeddingSpace(provider="none", model="none", dimensions=8)
REST_MS = 300
MADE = """
    INSERT INTO documents (user_id, index_id, id, lineage_id, name, title, mime_type, sha256, size, status, page_count,
                           chunk_count, tags, author, dated, created_at)
    SELECT %(user_id)s, %(index_id)s, made.id, made.id, 'Report ' || n || '.pdf', 'Annual report of company ' || n,
           'application/pdf', md5(n::text) || md5(n::text), 100000 + n * 37, 'ready', n %% 300 + 1, n %% 300 * 4 + 4,
           CASE WHEN n %% 3 = 0 THEN ARRAY['finance', 'year ' || 2000 + n %% 20] ELSE ARRAY[]::text[] END,
           'Author ' || n %% 40, date '2000-01-01' + n, now() - n * interval '1 hour'
    FROM generate_series(1, %(count)s) AS n, LATERAL (SELECT gen_random_uuid() AS id, n AS each) AS made
"""
ACT = """([act, shown]) => new Promise(done => {
    const table = () => [...document.querySelectorAll("*")].map(node => node.shadowRoot)
        .find(root => root?.querySelector(".documents"))?.querySelector(".documents");
    const look = () => table()?.querySelector(".range").textContent.startsWith(shown)
        ? requestAnimationFrame(() => done(performance.now() - started)) : setTimeout(look, 5);
    const started = performance.now();
    if (act === "open") [...document.querySelectorAll("a")].find(node => node.innerText.includes("Library")).click();
    if (act === "turn") table().querySelector("[data-step='1']").click();
    look();
})"""
"""Act, and return the milliseconds until the table's row counter starts with `shown`."""


def measure(options: Options, section: Section) -> None:
    """Measure the database queries alone and the page in the browser."""
    apps.chromium()
    count, rounds = (QUICK_DOCUMENTS, QUICK_ROUNDS) if options.quick else (DOCUMENTS, ROUNDS)
    section.about = f"{count:,} documents, medians of {rounds}"
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        databases.server(options) as server_url,
        databases.temporary(server_url) as url,
    ):
        with Store.open(url) as store:
            _fill(store, url, count)
            _ask(store, section, rounds)
        with apps.serving(folder, url) as base_url, apps.opened(base_url) as page:
            _watch(page, section, count, rounds)


def _fill(store: Store, url: str, count: int) -> None:
    index = store.of(LOCAL_USER).indexes.ensure("default", SPACE, ChunkingOptions())
    with psycopg.connect(url) as connection:
        connection.execute(MADE, {"user_id": LOCAL_USER, "index_id": index.id, "count": count})


def _ask(store: Store, section: Section, rounds: int) -> None:
    own = store.of(LOCAL_USER)
    index = own.indexes.get("default")

    def shown(words: str) -> None:
        asked = DocumentQuery(search=words)
        own.documents.count(index.id, asked)
        own.documents.list(index.id, asked, order_by="name", descending=False, limit=ROWS)

    shown("")
    section.add("database: count and one page", percentiles(shown, [""] * rounds).p50, "ms")
    section.add("database: the same, filtered", percentiles(shown, ["company 49"] * rounds).p50, "ms")


def _watch(page: Page, section: Section, count: int, rounds: int) -> None:
    found = sum(WORDS in str(number) for number in range(1, count + 1))
    everything, some = f"1–{min(ROWS, count)} of", f"1–{found} of"
    opened, filtered, turned = [], [], []
    page.goto("/settings")
    for _ in range(rounds + 1):
        opened.append(_act(page, "open", everything))
        turned.append(_act(page, "turn", f"{ROWS + 1}–"))
        filtered.append(_filter(page, WORDS, some))
        page.get_by_role("link", name="Settings").click()
        page.get_by_role("heading", name="Settings", exact=True).wait_for()
    section.add("page ready", statistics.median(opened[1:]), "ms", READY_MS)
    section.add("next page", statistics.median(turned[1:]), "ms", FILTERED_MS)
    section.add("page filtered", statistics.median(filtered[1:]), "ms", FILTERED_MS)


def _filter(page: Page, words: str, shown: str) -> float:
    field = page.get_by_placeholder("Name, title, author or tag")
    field.fill(words)
    apps.rest(page, REST_MS)
    field.press("Enter", no_wait_after=True)
    milliseconds: float = page.evaluate(ACT, ["", shown])
    return milliseconds


def _act(page: Page, act: str, shown: str) -> float:
    apps.rest(page, REST_MS)
    milliseconds: float = page.evaluate(ACT, [act, shown])
    return milliseconds
