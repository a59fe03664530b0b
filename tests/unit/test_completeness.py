"""Every character of a flowing file stands in its rendition and in its blocks, or is told to be missing."""

import html
import uuid
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag import parsing
from rag.parsing import completeness, renditions
from rag.parsing.completeness import measure
from rag.parsing.conversion import flowing
from rag.parsing.conversion.texts import decode, of_html
from rag.parsing.document import iter_pages
from rag.parsing.mupdf import open_pdf, pymupdf
from rag.parsing.pieces import TEXT_FLAGS
from rag.types import Completeness, ParsedDocument, ParsingConfig, Passage
