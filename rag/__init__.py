"""Pagelight's engine: from PDFs to answers whose every claim is tied to its exact words on the page."""
