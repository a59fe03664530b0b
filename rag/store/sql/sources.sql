-- name: find
-- Includes the trash, without `pages` and without attachments, which follow their containers.
SELECT user_id, id, index_id, name, mime_type, sha256, size, source, shown_source, title, status, progress_done, progress_total, error,
       error_code, page_count, failed_pages, line_count, chunk_count, language, created_at, indexed_at, deleted_at, vector_count,
       pictures_waiting, completeness, note, container_id, lineage_id, version, superseded_by, author, dated, given_title,
       given_author, given_date, tags, disabled, parts, stage_started_at, stage_started_with
FROM documents
WHERE user_id = :user_id AND index_id = :index_id AND container_id IS NULL
  AND (md5(source) = ANY (SELECT md5(s) FROM unnest(:sources::text[]) AS s) AND source = ANY (:sources::text[])
       OR starts_with(source, :prefix::text))
ORDER BY number;

-- name: show
UPDATE documents d SET shown_source = s.source
FROM unnest(:ids::uuid[], :sources::text[]) AS s (id, source)
WHERE d.user_id = :user_id AND d.id = s.id AND d.shown_source IS DISTINCT FROM s.source
RETURNING d.id;

-- name: named
-- By id, by path or URL, or by the SHA-256 of path or URL.
SELECT r.reference, d.id
FROM unnest(:references::text[]) AS r (reference)
JOIN documents d ON d.user_id = :user_id AND d.index_id = :index_id AND is_within(d.index_id, :within) AND d.deleted_at IS NULL
  AND (d.id::text = lower(r.reference) OR d.superseded_by IS NULL AND (
           d.source = r.reference OR encode(sha256(convert_to(d.source, 'UTF8')), 'hex') = lower(r.reference)));

-- name: resolve
-- As in a filter of sources, or by name or id.
SELECT wanted.source, d.id
FROM unnest(:sources::text[]) AS wanted (source)
JOIN documents d ON d.user_id = :user_id AND d.index_id = :index_id AND is_within(d.index_id, :within) AND d.deleted_at IS NULL
  AND d.superseded_by IS NULL
  AND (d.name = wanted.source OR d.id::text = lower(wanted.source) OR NOT d.disabled AND {is_wanted_source});

-- name: supersede
-- In one statement: no search sees both or neither. Chats about the old documents are then about the new one. A
-- document that was in the trash since it was added was not thrown away.
WITH was AS (
    SELECT id, deleted_at, deleted_at <> created_at AS thrown_away
    FROM documents WHERE user_id = :user_id AND id = :document_id FOR UPDATE
), shown AS (
    UPDATE documents d SET deleted_at = NULL
    FROM was
    WHERE d.user_id = :user_id AND d.id = was.id
    RETURNING d.id, was.deleted_at, was.thrown_away
), hidden AS (
    UPDATE documents d SET deleted_at = now()
    FROM shown
    WHERE d.user_id = :user_id AND d.id = ANY (:older::uuid[]) AND d.id <> shown.id AND d.deleted_at IS NULL
    RETURNING d.id
), moved AS (
    UPDATE conversations c
    SET document_ids = ARRAY(
        SELECT DISTINCT CASE WHEN o.id IN (SELECT id FROM hidden) THEN :document_id::uuid ELSE o.id END
        FROM unnest(c.document_ids) AS o (id))
    FROM shown
    WHERE c.user_id = :user_id AND c.document_ids && :older::uuid[]
)
SELECT s.id, s.deleted_at AS was_deleted_at, s.thrown_away, ARRAY(SELECT id FROM hidden) AS hidden FROM shown s;

-- name: find_by_upload_key
SELECT d.*
FROM upload_keys k JOIN documents d USING (user_id)
WHERE k.user_id = :user_id AND k.key = upload_key(:asker, :key) AND d.id = k.document_id
  AND in_sight(d.index_id, d.deleted_at, :within, :with_trash);

-- name: set_upload_key
INSERT INTO upload_keys (user_id, key, document_id)
SELECT d.user_id, upload_key(:asker, :key), d.id
FROM documents d
WHERE d.user_id = :user_id AND d.id = :document_id AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
ON CONFLICT (user_id, key) DO UPDATE SET document_id = EXCLUDED.document_id, created_at = EXCLUDED.created_at
RETURNING key;
