"""Routes for documents."""

import datetime as dt
import uuid
from pathlib import Path
from typing import Annotated, Literal

import pydantic
from fastapi import APIRouter, File, Form, Header, Query, Request, Response, UploadFile
from fastapi.responses import FileResponse

from rag import errors, types
from rag.api.authentication import Reader, Writer
from rag.api.responses import DOWNLOAD_HEADERS, IndexName, Items, Limit, Offset, Page, listed, page

IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=200,
        pattern=types.PRINTABLE,
        description="The same file sent again under the same key is the same document.",
    ),
]
Box = Annotated[str, pydantic.Field(pattern=types.BOX)]
Search = Annotated[
    str | None, Query(max_length=200, pattern=types.STORABLE, description="Part of a name, title, author or tag.")
]

MAX_ZOOM_PIXELS = 20_000_000
"""Maximum size of a page image; a larger zoom is reduced."""

ANY_MODEL = types.GenerationOptions()
"""The language model of the settings."""

router = APIRouter(tags=["documents"])


class PasswordRequest(types.Model):
    """The password of an encrypted document. It is not stored."""

    password: pydantic.SecretStr = pydantic.Field(max_length=1000)


class UploadForm(pydantic.BaseModel):
    """A file, its index, and its password if it is encrypted. The password is not stored."""

    model_config = pydantic.ConfigDict(extra="forbid")

    file: Annotated[UploadFile, File(description="PDF, DOCX, PPTX, HTML, Markdown, text, EML, MSG, or ZIP.")]
    index_name: Annotated[str, pydantic.Field(alias="indexName", max_length=200, pattern=types.STORABLE)] = (
        types.DEFAULT_INDEX
    )
    password: Annotated[str | None, pydantic.Field(max_length=1000)] = None
    replaces: Annotated[
        uuid.UUID | None, pydantic.Field(description="The document, in its index, that this is a new version of.")
    ] = None
    on_same_name: Annotated[
        types.OnSameName,
        pydantic.Field(
            alias="onSameName",
            description="What to do with a file that has the name of a document: `keep` makes a separate document, "
            "`version` a new version, `ask` refuses (409, `same_name`).",
        ),
    ] = "keep"
    tags: Annotated[types.Tags, pydantic.Field(alias="tag", description="A tag that it gets; repeated: several.")] = ()


@router.post(
    "/documents",
    status_code=202,
    responses={200: {"model": types.Document, "description": "It was uploaded before with the same idempotency key"}},
)
def upload(
    *,
    response: Response,
    sender: Writer,
    form: Annotated[UploadForm, Form(media_type="multipart/form-data")],
    idempotency_key: IdempotencyKey = None,
) -> types.Document:
    """Upload a file. It is read in the background: its `status` becomes `ready` or `failed`.

    It can be searched as soon as it is `searchable`: by words, and by meaning for `vectorCount` of its `chunkCount`.
    """
    document, is_new = sender.engine.for_index(form.index_name or types.DEFAULT_INDEX).documents.upload(
        form.file.file,
        form.file.filename or "unnamed",
        index_name=form.index_name or types.DEFAULT_INDEX,
        password=form.password,
        key=idempotency_key,
        replaces=form.replaces,
        on_same_name=form.on_same_name,
        tags=form.tags,
    )
    if not is_new:
        response.status_code = 200
        response.headers["idempotency-replayed"] = "true"
    response.headers["location"] = f"documents/{document.id}"
    return document


@router.get("/documents")
def list_documents(
    *,
    sender: Reader,
    index_name: IndexName = types.DEFAULT_INDEX,
    search: Search = None,
    tags: Annotated[
        list[Annotated[str, pydantic.Field(max_length=64, pattern=types.STORABLE)]],
        Query(alias="tag", default_factory=list, max_length=50, description="Only with this tag; repeated: with all."),
    ],
    author: Annotated[
        str | None, Query(max_length=500, pattern=types.STORABLE, description="Part of the name.")
    ] = None,
    dated_after: Annotated[dt.date | None, Query(alias="datedAfter", description="The first day.")] = None,
    dated_before: Annotated[dt.date | None, Query(alias="datedBefore", description="The day after the last.")] = None,
    saved: Annotated[
        str | None, Query(alias="filter", max_length=100, pattern=types.STORABLE, description="A saved filter.")
    ] = None,
    document_status: Annotated[types.DocumentStatus | None, Query(alias="status")] = None,
    disabled: Annotated[bool | None, Query(description="Only disabled, or only enabled documents.")] = None,
    trash: bool = False,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Page[types.Document]:
    """List the current versions of an index's documents, or with `trash` those in the trash, newest first."""
    found = sender.engine.documents.list(
        index_name,
        search=search,
        filters=types.Filters(
            tags=tuple(tags), author=author, dated_after=dated_after, dated_before=dated_before, saved=saved
        ),
        status=document_status,
        disabled=disabled,
        in_trash=trash,
        limit=limit + 1,
        offset=offset,
    )
    return page(found, limit, offset)


@router.patch("/documents/{document_id}")
def edit_document(sender: Writer, document_id: uuid.UUID, body: types.DocumentEdit) -> types.Document:
    """Edit a document's name, title, author, date or tags, or disable it; omitted fields stay unchanged."""
    return sender.engine.documents.edit(document_id, body)


@router.get("/documents/{document_id}")
def get_document(sender: Reader, document_id: uuid.UUID) -> types.Document:
    """Get a document with its pages, in the trash or not."""
    return sender.engine.documents.get(document_id)


@router.delete(
    "/documents/{document_id}",
    status_code=204,
    response_model=None,
    responses={200: {"model": types.PurgeReceipt, "description": "With `permanent`: a receipt of what was deleted."}},
)
def delete_document(sender: Writer, document_id: uuid.UUID, permanent: bool = False) -> Response:
    """Move a document to the trash; with `permanent`, delete one in the trash for good, and get a receipt."""
    document = sender.engine.documents.get(document_id)
    if not permanent:
        sender.engine.documents.trash([document.id])
        return Response(status_code=204)
    receipt = sender.engine.documents.purge([document.id])
    if not receipt.document_ids:
        raise errors.ConflictError(
            "Only documents in the trash are removed for good. Delete it without `permanent` first."
        )
    return Response(receipt.model_dump_json(by_alias=True), media_type="application/json")


@router.post("/documents/{document_id}/restore")
def restore_document(sender: Writer, document_id: uuid.UUID) -> types.Document:
    """Restore a document from the trash; one that is not there stays unchanged."""
    document = sender.engine.documents.get(document_id)
    sender.engine.documents.restore([document.id])
    return sender.engine.documents.get(document_id)


@router.post("/documents/{document_id}/retry", status_code=202)
def retry_document(sender: Writer, document_id: uuid.UUID) -> types.Document:
    """Continue with a document that failed or was cancelled, or read a ready one again."""
    return sender.engine.documents.retry(document_id)


@router.post("/documents/{document_id}/cancel")
def cancel_document(sender: Writer, document_id: uuid.UUID) -> types.Document:
    """Cancel the reading of a document. Its finished part stays searchable."""
    document = sender.engine.documents.get(document_id)
    sender.engine.documents.cancel([document.id])
    return sender.engine.documents.get(document_id)


@router.post("/documents/{document_id}/password", status_code=202)
def unlock_document(sender: Writer, document_id: uuid.UUID, body: PasswordRequest) -> types.Document:
    """Give the password of an encrypted document, which is then read."""
    return sender.engine.documents.unlock(document_id, body.password.get_secret_value())


@router.get("/documents/{document_id}/versions")
def list_versions(sender: Reader, document_id: uuid.UUID) -> Items[types.Document]:
    """List all versions of a document, the latest first."""
    return listed(sender.engine.versions.list(document_id))


@router.post("/documents/{document_id}/current")
def make_current(sender: Writer, document_id: uuid.UUID) -> types.Document:
    """Go back to an older version, which becomes the latest, searched one."""
    return sender.engine.versions.make_current(document_id)


@router.get("/documents/{document_id}/diff")
def diff(
    sender: Reader,
    document_id: uuid.UUID,
    against: Annotated[uuid.UUID | None, Query(description="An older version; the previous one unless given.")] = None,
) -> types.VersionDiff:
    """Compare a document with another version, paragraph by paragraph, with pages and boxes."""
    older = against or sender.engine.versions.before(document_id).id
    return sender.engine.versions.diff(older, document_id)


@router.get("/documents/{document_id}/overview")
def get_overview(sender: Reader, document_id: uuid.UUID) -> types.DocumentOverview:
    """Get what a document is, about whom, its key facts with pages and boxes, and questions to ask it."""
    return sender.engine.documents.overview(document_id)


@router.post("/documents/{document_id}/overview")
def improve_overview(
    sender: Writer, document_id: uuid.UUID, body: types.GenerationOptions = ANY_MODEL
) -> types.DocumentOverview:
    """Have a language model write the key facts of a document; those that their quotes do not prove are left out."""
    return sender.engine.documents.improve_overview(document_id, body)


@router.post("/documents/{document_id}/overview/estimate")
def estimate_overview(
    sender: Reader, document_id: uuid.UUID, body: types.GenerationOptions = ANY_MODEL
) -> types.OverviewEstimate:
    """Estimate the tokens and the cost of an overview by a language model; none is called."""
    return sender.engine.documents.estimate_overview(document_id, body)


@router.get("/documents/{document_id}/tables")
def list_tables(request: Request, sender: Reader, document_id: uuid.UUID) -> Items[types.DataTable]:
    """List a document's tables as data: columns with kinds and units, and which rows are totals."""
    with request.app.state.searches.acquire():
        return listed(sender.engine.tables.list(document_id))


@router.post("/documents/{document_id}/tables/query")
def query_table(request: Request, sender: Reader, document_id: uuid.UUID, body: types.TableQuery) -> types.TableResult:
    """Count, add up, filter or group the rows of a table, by a question or one SELECT statement on the table `data`.

    The result has the statement, the numbers of the rows that it used, and their boxes.
    """
    with request.app.state.questions.acquire():
        return sender.engine.tables.query(
            document_id, body.table, sql=body.sql, question=body.question, generation=body.generation
        )


@router.get("/documents/{document_id}/chunks")
def list_chunks(
    sender: Reader,
    document_id: uuid.UUID,
    page_number: Annotated[int | None, Query(alias="page", ge=1, le=2**31 - 1)] = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Page[types.Chunk]:
    """List a document's chunks, or those on a page, in reading order, with lines and boxes."""
    document = sender.engine.documents.get(document_id)
    found = sender.engine.store.chunks.of_document(document.id, page_number=page_number, limit=limit + 1, offset=offset)
    return page(found, limit, offset)


@router.get(
    "/documents/{document_id}/content",
    response_class=FileResponse,
    responses={
        200: {"content": {"*/*": {}}, "description": "The file"},
        206: {"content": {"*/*": {}}, "description": "The requested ranges"},
        304: {"description": "The client has it already"},
        416: {"content": {"text/plain": {}}, "description": "There is no such range"},
    },
)
def get_content(
    request: Request, sender: Reader, document_id: uuid.UUID, form: Literal["original", "rendition"] = "original"
) -> Response:
    """Download the original file, or the PDF that is displayed; whole or in ranges."""
    document = sender.engine.documents.get(document_id)
    is_original = form == "original"
    path = sender.engine.files.original(document.id) if is_original else sender.engine.files.rendition(document.id)
    name = document.name if is_original else f"{Path(document.name).stem}.pdf"
    stat = path.stat()
    tag = f'"{document.sha256[:32]}-{stat.st_size:x}-{stat.st_mtime_ns:x}"'
    headers = {**DOWNLOAD_HEADERS, "etag": tag}
    if tag in {candidate.strip() for candidate in request.headers.get("if-none-match", "").split(",")}:
        return Response(status_code=304, headers=headers)
    mime_type = document.mime_type if is_original else "application/pdf"
    return FileResponse(path, media_type=mime_type, filename=name, headers=headers)


@router.get(
    "/documents/{document_id}/pages/{page_number}/image",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}, "description": "The page"}},
)
def get_page_image(
    *,
    sender: Reader,
    document_id: uuid.UUID,
    page_number: int,
    zoom: Annotated[float, Query(ge=0.1, le=4.0, description="Pixels per point.")] = 2.0,
    chunk: Annotated[uuid.UUID | None, Query(description="A chunk whose lines are marked.")] = None,
    box: Annotated[
        list[Box],
        Query(default_factory=list, max_length=1000, description="Left, top, right, bottom in points; repeated."),
    ],
) -> Response:
    """Render a page as an image, with the lines of a chunk, or the boxes of a citation, marked."""
    document = sender.engine.documents.get(document_id)
    info = next((info for info in document.pages if info.number == page_number), None)
    if info is None:
        raise errors.NotFoundError(f"{document.name} has no page {page_number}; it has {document.page_count}.")
    regions: list[types.Region] = []
    if chunk is not None:
        marked = sender.engine.store.chunks.find(chunk)
        if marked.document_id != document.id:
            raise errors.NotFoundError(f"{document.name} has no chunk {chunk}. List its chunks.")
        regions += marked.regions
    if box:
        rects = tuple(types.Rect(*map(float, text.split(","))) for text in box)
        regions.append(types.Region(page_number=page_number, rects=rects))
    fitting = min(zoom, (MAX_ZOOM_PIXELS / max(1.0, info.width * info.height)) ** 0.5)
    image = sender.engine.pages.image(document.id, page_number, zoom=fitting, regions=regions)
    return Response(image, media_type="image/png", headers={"cache-control": "private, no-cache"})


@router.get("/documents/{document_id}/annotations")
def list_annotations(sender: Reader, document_id: uuid.UUID) -> tuple[types.Annotation, ...]:
    """List the caller's own highlights and notes in a document, in page order."""
    return tuple(sender.engine.store.annotations.list(document_id))


@router.post("/documents/{document_id}/annotations", status_code=201)
def add_annotation(sender: Writer, document_id: uuid.UUID, body: types.AnnotationRequest) -> types.Annotation:
    """Highlight a place, with an optional note. Nobody else sees it."""
    return sender.engine.annotations.add(document_id, body)


@router.patch("/documents/{document_id}/annotations/{annotation_id}")
def edit_annotation(
    sender: Writer, document_id: uuid.UUID, annotation_id: uuid.UUID, body: types.AnnotationEdit
) -> types.Annotation:
    """Change the note of a highlight."""
    return sender.engine.annotations.edit(document_id, annotation_id, body.note)


@router.delete("/documents/{document_id}/annotations/{annotation_id}", status_code=204)
def delete_annotation(sender: Writer, document_id: uuid.UUID, annotation_id: uuid.UUID) -> None:
    """Remove a highlight and its note."""
    sender.engine.store.annotations.delete(document_id, annotation_id)
