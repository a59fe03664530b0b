"""Take the pictures of the documentation from an app with an empty library.

Run `PYTHONPATH=. python docs/screenshots.py http://localhost:8501`. All documents are fictitious.
"""

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import FilePayload, Page, sync_playwright

from benchmarks.apps import chromium
from rag.parsing.pdf.mupdf import pymupdf

HERE = Path(__file__).parent / "pictures"
QUALITY = 78
"""Of WebP: text stays sharp, and all pictures together take less than 600 kB."""
QUESTIONS = (
    "How much debt does the loan agreement allow?",
    "How much cargo did the ports handle in 2025, and what drove the growth?",
)
STYLE = """
body { font-family: sans-serif; font-size: 10.5px; line-height: 1.45; }
h1 { font-size: 24px; color: #14324f; margin-bottom: 4px; }
h2 { font-size: 15px; color: #14324f; margin-top: 18px; }
p.lead { font-size: 12px; color: #555; }
td, th { padding: 3px 14px 3px 0; text-align: right; border-bottom: 0.5px solid #bbb; }
td.name, th.name { text-align: left; }
"""
REPORT = """
<h1>Northmoor Harbours plc</h1>
<p class="lead">Annual report 2025</p>
<h2>Letter to shareholders</h2>
<p>2025 was the year in which the new deep-water quay at Skerry Point paid its way. It took its first vessel in
February, three weeks ahead of plan, and was full by June. We are grateful to the 1,140 people who built it, and to
those who kept the old berths open beside it.</p>
<p>Not everything went well. The dredging contract cost 6 million euros more than budgeted, and a strike at two of our
railway partners closed the inland terminal for nine days in October.</p>
<h2>Cargo</h2>
<p>The four ports handled 48.2 million tonnes of cargo in 2025, 11 percent more than in the year before. Growth came
almost entirely from containers, where the new quay at Skerry Point added 1.3 million tonnes, and from wind turbine
parts bound for the northern fields. Bulk coal fell for the seventh year in a row and now makes up 4 percent of
the tonnage.</p>
<table>
<tr><th class="name">Million tonnes</th><th>2023</th><th>2024</th><th>2025</th></tr>
<tr><td class="name">Containers</td><td>19.8</td><td>20.9</td><td>24.6</td></tr>
<tr><td class="name">Project cargo and wind</td><td>3.1</td><td>3.9</td><td>5.2</td></tr>
<tr><td class="name">Liquid bulk</td><td>13.0</td><td>12.8</td><td>13.1</td></tr>
<tr><td class="name">Grain and other dry bulk</td><td>3.5</td><td>3.3</td><td>3.4</td></tr>
<tr><td class="name">Coal</td><td>3.2</td><td>2.5</td><td>1.9</td></tr>
</table>
<h2>Revenue and result</h2>
<p>Revenue rose by 9 percent to 612 million euros. Port dues follow tonnage and grew with it; rents, which are fixed
for ten years, did not. The operating margin widened from 27.4 to 28.9 percent, because the quay's cranes need fewer
hands per box than the old ones.</p>
<p>Net income was 97 million euros after 84 million in 2024. The board proposes a dividend of 0.62 euros per share.</p>
<h2>Investments</h2>
<p>Capital expenditure was 143 million euros, of which 88 million went into Skerry Point. Shore power for all ferry
berths will be finished in the spring of 2026 and costs 31 million euros, a third of it paid by the region.</p>
<h2>Debt and covenants</h2>
<p>Net debt stood at 402 million euros at the end of the year, or 1.8 times EBITDA; the loan agreement allows 3.0
times. The average maturity is 6.1 years and 80 percent of the interest is fixed.</p>
<h2>Risks</h2>
<p>Two shipping alliances account for 58 percent of the containers. Their contracts end in 2028 and 2031. A loss of the
larger one would, before countermeasures, lower revenue by about 70 million euros a year.</p>
<p>The sea wall of the eastern port was built for water levels that are now expected every 40 years instead of every
200. Raising it will cost between 45 and 60 million euros and must begin before 2029.</p>
<h2>People</h2>
<p>The group employed 2,315 people at the end of the year, 96 more than a year before. There were 11 accidents with
lost time, after 17 in 2024, and none that was fatal.</p>
<h2>Outlook</h2>
<p>For 2026 we expect between 49 and 51 million tonnes of cargo and a revenue of 630 to 650 million euros. Most of the
growth will again come from containers; the second crane group at Skerry Point begins work in May.</p>
"""
MINUTES = """# Board meeting of 12 November 2025

## Sea wall

The board took note of the engineers' report and asked for tenders by March.

## Dividend

A dividend of 0.62 euros per share will be proposed to the shareholders.
"""
NOTICE = """<h1>Shore power for ferries</h1><p>From April 2026 all ferries at berths 3 to 9 take their electricity from
the shore. Diesel generators must be off within 15 minutes of mooring.</p>"""


def report() -> bytes:
    """The annual report as a PDF."""
    story = pymupdf.Story(html=REPORT, user_css=STYLE)
    path = HERE / "report.tmp.pdf"
    writer = pymupdf.DocumentWriter(path)
    page = pymupdf.paper_rect("a4")
    frame = page + pymupdf.Rect(64, 64, -64, -64)
    more = True
    while more:
        device = writer.begin_page(page)
        more, _ = story.place(frame)
        story.draw(device)
        writer.end_page()
    writer.close()
    content = path.read_bytes()
    path.unlink()
    return content


def fill(page: Page) -> None:
    """Bring the papers in."""
    page.goto("/library")
    papers = {
        "Northmoor annual report 2025.pdf": ("application/pdf", report()),
        "Board minutes November.md": ("text/markdown", MINUTES.encode()),
        "Shore power notice.html": ("text/html", NOTICE.encode()),
    }
    files = [FilePayload(name=name, mimeType=kind, buffer=content) for name, (kind, content) in papers.items()]
    page.locator("input[type=file]").set_input_files(files)
    for name in papers:
        page.locator('[class*="st-key-file-ready"]').filter(has_text=name).wait_for()
    take(page, "upload")


def take(page: Page, name: str) -> None:
    """Save what is seen, when it has come to rest."""
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
    page.mouse.move(0, 899)
    page.wait_for_timeout(1500)
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").save(HERE / f"{name}.webp", quality=QUALITY, method=6)


def main(base_url: str) -> None:
    """Take all pictures."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_context(
            viewport={"width": 1440, "height": 900}, base_url=base_url, device_scale_factor=1.25
        ).new_page()
        page.set_default_timeout(300_000)
        fill(page)
        for question in QUESTIONS:
            page.goto("/")
            field = page.get_by_placeholder("Ask about your documents")
            field.fill(question)
            field.press("Enter")
            page.locator(".mark.quote").first.wait_for()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.reload()
            page.locator(".answer .chip").first.click()
            page.locator(".mark.quote").first.wait_for()
            take(page, f"chat-{scheme}")
        page.emulate_media(color_scheme="light")
        page.goto("/library")
        page.locator(".documents tbody tr td.tick input").first.click()
        page.get_by_role("button", name="Delete").and_(page.locator(":enabled")).wait_for()
        take(page, "library")
        page.goto("/index")
        page.get_by_test_id("stButtonGroup").get_by_text("Search", exact=True).click()
        page.get_by_placeholder("What to search for").fill("growth of container cargo")
        page.get_by_text("Rerank", exact=True).click()
        page.get_by_role("button", name="Search").click()
        page.locator(".mark").first.wait_for()
        take(page, "search")
        page.goto("/settings")
        page.get_by_text("Language", exact=True).first.wait_for()
        take(page, "settings")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
