"""Run the upload page of the app without a browser, ingest one file and show its progress."""

import sys
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[1] / "app.py"
PATIENCE_SECONDS = 300
POLL_SECONDS = 1.0


def main(path: Path) -> None:
    """Run until killed."""
    page = AppTest.from_file(str(APP), default_timeout=PATIENCE_SECONDS).run()
    page.switch_page("pages/library.py").run()
    page.file_uploader[0].upload(path.name, path.read_bytes(), "application/pdf")
    while not page.run().exception:
        time.sleep(POLL_SECONDS)
    sys.exit(f"the page failed: {page.exception[0].value}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
