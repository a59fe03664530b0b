-- Parts of other statements, which name them in braces. A view or a function could not take their place: Citus runs
-- neither SQL functions over spread tables nor a join that it cannot see.

-- name: filtered
-- What a filter selects, for searches and for lists.
d.user_id = :user_id AND d.index_id = only_within(:index_id, :within)
AND (CAST(:document_ids AS uuid[]) IS NULL OR d.id = ANY (CAST(:document_ids AS uuid[])))
AND (CAST(:mime_types AS text[]) IS NULL OR d.mime_type = ANY (CAST(:mime_types AS text[])))
AND (CAST(:sources AS text[]) IS NULL
     OR EXISTS (SELECT 1 FROM unnest(CAST(:sources AS text[])) AS wanted (source) WHERE {is_wanted_source}))
AND (CAST(:source_prefix AS text) IS NULL
     OR has_source_prefix(coalesce(d.shown_source, d.name), d.source, CAST(:source_prefix AS text)))
AND (CAST(:added_after AS timestamptz) IS NULL OR d.created_at >= CAST(:added_after AS timestamptz))
AND (CAST(:added_before AS timestamptz) IS NULL OR d.created_at < CAST(:added_before AS timestamptz))
AND (CAST(:tags AS text[]) IS NULL OR has_tags(d.tags, CAST(:tags AS text[])))
AND (CAST(:author AS text) IS NULL
     OR position(lower(CAST(:author AS text)) IN lower(coalesce(d.given_author, d.author, ''))) > 0)
AND (CAST(:dated_after AS date) IS NULL OR coalesce(d.given_date, d.dated) >= CAST(:dated_after AS date))
AND (CAST(:dated_before AS date) IS NULL OR coalesce(d.given_date, d.dated) < CAST(:dated_before AS date))

-- name: is_wanted_source
-- Whether the document `d` has the source `wanted`: as answers show it, in full, or by the end of its path
-- (data/policies.md). Backslashes of Windows are taken as slashes.
wanted.source <> '' AND (
    translate(wanted.source, '\', '/') IN (translate(coalesce(d.shown_source, d.name), '\', '/'), translate(d.source, '\', '/'))
    OR right(translate(d.source, '\', '/'), length(wanted.source) + 1) = '/' || translate(wanted.source, '\', '/'))

-- name: documents_in_scope
-- The documents that a search may return.
(
    SELECT d.id, d.number, d.chunk_count, d.lexeme_count, d.language
    FROM documents d
    WHERE {filtered} AND d.deleted_at IS NULL AND d.superseded_by IS NULL AND NOT d.disabled
)

-- name: went_along
-- Whether the older version `d` was put into the trash together with the current one.
EXISTS (
    SELECT 1 FROM documents c
    WHERE c.user_id = :user_id AND c.lineage_id = d.lineage_id AND c.superseded_by IS NULL AND c.deleted_at = d.deleted_at
)

-- name: is_to_take_over
-- Whether the version `d` is later than the current one and will replace it.
EXISTS (
    SELECT 1 FROM documents c
    WHERE c.user_id = :user_id AND c.lineage_id = d.lineage_id AND c.superseded_by IS NULL AND c.version < d.version
)

-- name: document_columns
-- Of the documents `d` in a list, all that is shown but `pages`, which can be thousands per document.
d.user_id, d.id, d.index_id, d.name, d.mime_type, d.sha256, d.size, d.source, d.shown_source, d.title, d.status, d.progress_done,
d.progress_total, d.error, d.error_code, d.page_count, d.failed_pages, d.line_count, d.chunk_count, d.language, d.created_at, d.indexed_at,
d.deleted_at, d.vector_count, d.pictures_waiting, d.completeness, d.note, d.container_id, d.lineage_id, d.version, d.superseded_by, d.author,
d.dated, d.given_title, d.given_author, d.given_date, d.subject, d.given_subject, d.tags, d.disabled, d.parts, d.stage_started_at,
d.stage_started_with, d.retry_after

-- name: cell_in_sight
-- Whether the cell `c` is of a matrix and of a document that a statement may see. In a shared collection these are its own.
(CAST(:within AS uuid) IS NULL OR EXISTS (
    SELECT 1 FROM matrices m, documents d
    WHERE m.user_id = :user_id AND m.id = c.matrix_id AND is_within(m.index_id, :within)
      AND d.user_id = :user_id AND d.id = c.document_id AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)))

-- name: previous_in_sight
-- Whether the value that the cell `c` had before is of a document that a statement may see: it may be in the trash alone.
(CAST(:within AS uuid) IS NULL OR EXISTS (
    SELECT 1 FROM documents p
    WHERE p.user_id = :user_id AND p.id::text = c.previous ->> 'document_id'
      AND in_sight(p.index_id, p.deleted_at, :within, :with_trash)))

-- name: job_in_sight
-- Whether a statement may see the job `j`. In a shared collection these are the ones that fill its matrices.
(CAST(:within AS uuid) IS NULL OR j.kind = 'matrix' AND EXISTS (
    SELECT 1 FROM matrices m
    WHERE m.user_id = :user_id AND m.id::text = j.request ->> 'matrix_id' AND is_within(m.index_id, :within)))

-- name: documents_listed
-- The documents in a list. Of the versions of a document these are the current one and those that will replace it; in the
-- trash, older ones only if they were deleted on their own. `search` is looked for in names, titles, authors and tags.
(
    SELECT d.*
    FROM documents d
    WHERE {filtered}
      AND (d.deleted_at IS NOT NULL) = :in_trash AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
      AND (d.superseded_by IS NULL OR CASE WHEN :in_trash THEN NOT {went_along} ELSE {is_to_take_over} END)
      AND (CAST(:disabled AS boolean) IS NULL OR d.disabled = CAST(:disabled AS boolean))
      AND (CAST(:status AS text) IS NULL OR d.status = CAST(:status AS text))
      AND (CAST(:search AS text) IS NULL OR EXISTS (
          SELECT 1 FROM unnest(
              ARRAY[d.name, coalesce(d.given_title, d.title), coalesce(d.given_author, d.author)] || d.tags
          ) AS field (words)
          WHERE position(lower(CAST(:search AS text)) IN lower(field.words)) > 0))
)
