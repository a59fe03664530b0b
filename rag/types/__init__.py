"""Frozen pydantic models of the domain: documents, searches, answers, accounts.

Boxes are in PDF points with the origin at the top left of the page **as displayed** (crop box and
rotation applied). Pages and lines count from 1; lines run through the whole document in reading order.
Python names are snake_case; camelCase aliases are accepted everywhere and used when `by_alias=True`.
"""

from rag.types.accounts import *
from rag.types.answers import *
from rag.types.base import *
from rag.types.conversations import *
from rag.types.document_metadata import *
from rag.types.documents import *
from rag.types.indexes import *
from rag.types.indexing import *
from rag.types.matrices import *
from rag.types.operations import *
from rag.types.overviews import *
from rag.types.requests import *
from rag.types.search import *
from rag.types.settings import *
from rag.types.tables import *
from rag.types.text import *
from rag.types.validation import *
from rag.types.viewing import *
