-- name: lineage
-- Only if the document can have another version here; documents that follow a folder get versions from it.
SELECT d.lineage_id
FROM documents d
WHERE d.user_id = :user_id AND d.index_id = :index_id AND is_within(d.index_id, :within) AND d.id = :replaces
  AND d.deleted_at IS NULL AND NOT d.follows_source AND d.container_id IS NULL AND NOT d.mime_type = ANY (:containers);

-- name: lock_lineage
-- Also for shared collections: `lineage` has found the document there.
SELECT lock_lineage(:user_id, :lineage_id) WHERE is_within(:within::uuid, :within);

-- name: container
-- What the parts of a mail or an archive have from it.
SELECT d.follows_source, d.deleted_at, d.uploaded_by
FROM documents d
WHERE d.user_id = :user_id AND d.id = :container_id AND is_within(d.index_id, :within);

-- name: next_version
SELECT d.lineage_id, max(d.version) + 1 AS version, (array_agg(d.id) FILTER (WHERE d.superseded_by IS NULL))[1] AS superseded_by
FROM documents r JOIN documents d ON d.user_id = :user_id AND d.lineage_id = r.lineage_id
WHERE r.user_id = :user_id AND r.index_id = :index_id AND is_within(r.index_id, :within) AND r.id = :replaces AND r.deleted_at IS NULL
GROUP BY d.lineage_id;

-- name: add
-- Unless there is no room, or the index has the content. A new version is hidden from searches until it is ready, as older
-- versions are.
INSERT INTO documents (user_id, index_id, id, name, mime_type, sha256, size, source, shown_source, status,
                       follows_source, deleted_at, lineage_id, container_id, version, superseded_by, uploaded_by)
SELECT i.user_id, i.id, :id, :name, :mime_type, :sha256, :size, :source, :shown_source, :status, :follows_source::boolean,
       CASE WHEN :in_trash THEN now() ELSE :deleted_at::timestamptz END, :lineage_id, :container_id, :version, :superseded_by,
       coalesce(:uploaded_by::text, nullif(:actor::text, i.user_id))
FROM indexes i
WHERE i.user_id = :user_id AND i.id = :index_id AND is_within(i.id, :within)
  AND (:quota_bytes::bigint IS NULL
       OR (SELECT coalesce(sum(d.size), 0) FROM documents d WHERE d.user_id = :user_id) + :size <= :quota_bytes::bigint)
  AND (:follows_source::boolean OR NOT EXISTS (
      SELECT 1 FROM documents d
      WHERE d.user_id = :user_id AND d.index_id = :index_id AND d.sha256 = :sha256))
ON CONFLICT DO NOTHING
RETURNING *;

-- name: claim_key
-- Returns nothing if the key has a document already.
INSERT INTO upload_keys (user_id, key, document_id)
SELECT d.user_id, upload_key(:asker, :key), d.id
FROM documents d
WHERE d.user_id = :user_id AND d.id = :id AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
ON CONFLICT (user_id, key) DO NOTHING
RETURNING key;

-- name: same_content
-- The most visible document with this content.
SELECT id, name, version, superseded_by IS NOT NULL AS is_older, deleted_at IS NOT NULL AS in_trash
FROM documents
WHERE user_id = :user_id AND index_id = :index_id AND is_within(index_id, :within) AND sha256 = :sha256
  AND (NOT :follows_source OR (follows_source AND source = :source))
ORDER BY deleted_at DESC NULLS FIRST, superseded_by NULLS FIRST, number
LIMIT 1;

-- name: get
SELECT * FROM documents d WHERE user_id = :user_id AND id = :document_id AND in_sight(d.index_id, d.deleted_at, :within, :with_trash);

-- name: list
-- Documents without the sort key come last.
SELECT {document_columns}
FROM {documents_listed} d
CROSS JOIN LATERAL (
    SELECT CASE :order_by
               WHEN 'name' THEN lower(d.name)
               WHEN 'title' THEN lower(coalesce(d.given_title, d.title))
               WHEN 'author' THEN lower(coalesce(d.given_author, d.author))
               WHEN 'kind' THEN d.mime_type
               WHEN 'status' THEN CASE WHEN d.disabled THEN 'disabled' ELSE d.status END
               WHEN 'tags' THEN lower(nullif(joined_tags(d.tags), ''))
           END AS words,
           CASE :order_by
               WHEN 'added' THEN extract(epoch FROM coalesce(d.deleted_at, d.created_at) - timestamptz 'epoch')
               WHEN 'dated' THEN extract(epoch FROM coalesce(d.given_date, d.dated))
               WHEN 'pages' THEN d.page_count
               WHEN 'chunks' THEN d.chunk_count
               WHEN 'size' THEN d.size
               WHEN 'version' THEN d.version
           END AS amount
) AS by
ORDER BY CASE WHEN NOT :descending THEN words END ASC, CASE WHEN :descending THEN words END DESC NULLS LAST,
         CASE WHEN NOT :descending THEN amount END ASC, CASE WHEN :descending THEN amount END DESC NULLS LAST, number DESC
LIMIT :limit::bigint OFFSET :offset::bigint;

-- name: ids
SELECT id
FROM {documents_listed} d
ORDER BY number DESC;

-- name: count
SELECT count(*) AS documents
FROM {documents_listed} d;

-- name: page_labels
-- Page counts, and the printed labels of the requested pages where they differ from the numbers.
SELECT d.id, d.page_count,
       (SELECT jsonb_object_agg(info ->> 'number', info ->> 'label')
        FROM unnest(:document_ids::uuid[], :page_numbers::int[]) AS page (document_id, number),
             LATERAL (SELECT d.pages -> (page.number - 1)) AS of_page (info)
        WHERE page.document_id = d.id AND (info ->> 'number')::int = page.number
          AND info ->> 'label' NOT IN ('', info ->> 'number')) AS labels
FROM documents d
WHERE d.user_id = :user_id AND d.id = ANY (:document_ids::uuid[]) AND in_sight(d.index_id, d.deleted_at, :within, :with_trash);

-- name: languages
SELECT id, language FROM documents d
WHERE user_id = :user_id AND id = ANY (:ids::uuid[]) AND in_sight(d.index_id, d.deleted_at, :within, :with_trash);

-- name: update_progress
-- Also in the trash, from which it may be restored. Does nothing if the document is no longer being read.
UPDATE documents
SET stage_started_at = CASE WHEN status = :status AND progress_done <= :done THEN stage_started_at ELSE clock.at END,
    stage_started_with = CASE WHEN status = :status AND progress_done <= :done THEN stage_started_with ELSE :done END,
    status = :status, progress_done = :done, progress_total = :total, error = NULL, error_code = NULL
FROM (SELECT now() AS at) AS clock
WHERE user_id = :user_id AND id = :document_id AND status IN ('queued', 'parsing', 'embedding')
RETURNING id;

-- name: fail
-- A cancelled document stays cancelled.
UPDATE documents
SET status = 'failed', attempts = 0, retry_after = NULL, queued_at = NULL,
    error = CASE WHEN error_code = 'cancelled' THEN error ELSE :message END,
    error_code = CASE WHEN error_code = 'cancelled' THEN error_code ELSE :code END
WHERE user_id = :user_id AND id = :document_id
RETURNING id;

-- name: requeue
-- From its beginning; the present chunks stay searchable until then.
UPDATE documents
SET status = 'queued', progress_done = 0, progress_total = 0, error = NULL, error_code = NULL, attempts = 0,
    retry_after = NULL, renewing = chunk_count > 0 AND NOT partial, queued_at = NULL
WHERE user_id = :user_id AND id = :document_id AND deleted_at IS NULL
RETURNING *;

-- name: trash
-- The current version takes all others along; another version goes alone. The latest version is locked first, in the
-- same order as in a takeover.
WITH wanted AS MATERIALIZED (
    SELECT d.id
    FROM documents d
    WHERE d.user_id = :user_id AND d.deleted_at IS NULL AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
      AND (d.id = ANY (:ids::uuid[]) OR d.lineage_id IN (
          SELECT c.lineage_id FROM documents c
          WHERE c.user_id = :user_id AND c.id = ANY (:ids::uuid[]) AND c.superseded_by IS NULL))
    ORDER BY d.lineage_id, d.version DESC
    FOR NO KEY UPDATE
), gone AS (
    UPDATE documents d SET deleted_at = now()
    FROM wanted
    WHERE d.user_id = :user_id AND d.id = wanted.id
    RETURNING d.id
)
SELECT id FROM gone WHERE id = ANY (:ids::uuid[]);

-- name: restore
-- Versions that were trashed together are restored together. Returns the time of deletion of each, and whether it was asked for.
WITH wanted AS MATERIALIZED (
    SELECT d.id, d.deleted_at
    FROM documents d
    WHERE d.user_id = :user_id AND in_sight(d.index_id, d.deleted_at, :within, :with_trash) AND (d.lineage_id, d.deleted_at) IN (
        SELECT o.lineage_id, o.deleted_at FROM documents o WHERE o.user_id = :user_id AND o.id = ANY (:ids::uuid[]))
    ORDER BY d.lineage_id, d.version DESC
    FOR NO KEY UPDATE
), back AS (
    UPDATE documents d SET deleted_at = NULL
    FROM wanted
    WHERE d.user_id = :user_id AND d.id = wanted.id
    RETURNING d.id, wanted.deleted_at AS was_deleted_at
)
SELECT id, was_deleted_at, id = ANY (:ids::uuid[]) AS is_asked FROM back;

-- name: to_purge
-- The current version takes all others along.
SELECT d.id, d.number, d.name
FROM documents d
WHERE d.user_id = :user_id
  AND (d.id = ANY (:ids::uuid[]) AND d.deleted_at IS NOT NULL OR d.lineage_id IN (
      SELECT c.lineage_id FROM documents c
      WHERE c.user_id = :user_id AND c.id = ANY (:ids::uuid[]) AND c.superseded_by IS NULL AND c.deleted_at IS NOT NULL))
ORDER BY d.lineage_id, d.version DESC
FOR UPDATE;

-- name: skip_purged
-- Versions that name a document that is to be deleted then name the one after it.
UPDATE documents d SET superseded_by = gone.superseded_by
FROM documents gone
WHERE d.user_id = :user_id AND gone.user_id = :user_id AND gone.id = ANY (:ids::uuid[]) AND d.superseded_by = gone.id
  AND d.id <> ALL (:ids::uuid[]) AND gone.superseded_by IS NOT NULL;

-- name: take_over
SELECT take_over(:user_id, :ids::uuid[], :within::uuid);

-- name: edit
-- The user's values are stored beside those of the file, which apply again when the user's are removed.
UPDATE documents d
SET name = coalesce(:name, name), tags = coalesce(:tags::text[], tags), disabled = coalesce(:disabled, disabled),
    given_title = CASE WHEN :sets_title THEN :title ELSE given_title END,
    given_author = CASE WHEN :sets_author THEN :author ELSE given_author END,
    given_subject = CASE WHEN :sets_subject THEN :subject::jsonb ELSE given_subject END,
    given_date = CASE WHEN :sets_dated THEN :dated::date ELSE given_date END
WHERE user_id = :user_id AND id = :document_id AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
RETURNING *;

-- name: tag
-- Of tags that differ only in case the first stays, so existing ones do.
UPDATE documents d
SET tags = ARRAY(
    SELECT kept.tag
    FROM (
        SELECT DISTINCT ON (lower(tag)) tag, place
        FROM unnest(tags || :added::text[]) WITH ORDINALITY AS all_tags (tag, place)
        WHERE NOT has_tags(:removed::text[], ARRAY[tag])
        ORDER BY lower(tag), place
    ) AS kept
    ORDER BY kept.place
)
WHERE user_id = :user_id AND id = ANY (:ids::uuid[]) AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
RETURNING id;

-- name: tags
SELECT min(tag) AS name, count(*) AS documents
FROM documents, unnest(tags) AS tag
WHERE user_id = :user_id AND index_id = :index_id AND is_within(index_id, :within)
  AND deleted_at IS NULL AND superseded_by IS NULL
GROUP BY lower(tag)
ORDER BY lower(tag);

-- name: names
SELECT name, given_title FROM documents d
WHERE user_id = :user_id AND id = :document_id AND in_sight(d.index_id, d.deleted_at, :within, :with_trash);

-- name: subjects
-- What the documents of a scope are called and about, without the rest of their rows: every question is compared with it.
SELECT d.id, d.name, coalesce(d.given_title, d.title) AS title, coalesce(d.given_subject, d.subject, '{}') AS subject
FROM {documents_in_scope} scope
JOIN documents d ON d.user_id = :user_id AND d.id = scope.id
WHERE scope.chunk_count > 0
ORDER BY d.number DESC;

-- name: key_facts
SELECT key_facts FROM documents d
WHERE user_id = :user_id AND id = :document_id AND in_sight(d.index_id, d.deleted_at, :within, :with_trash);

-- name: keep_key_facts
-- Only of the reading that they were chosen from.
UPDATE documents d SET key_facts = :key_facts::jsonb
WHERE user_id = :user_id AND id = :document_id AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
  AND indexed_at IS NOT DISTINCT FROM :indexed_at::timestamptz
RETURNING id;

-- name: cancel
-- A document that was being read again keeps its former state if that was complete.
UPDATE documents
SET status = CASE WHEN renewing AND vector_count = chunk_count THEN 'ready' ELSE 'failed' END,
    error = CASE WHEN renewing AND vector_count = chunk_count THEN NULL ELSE :message END,
    error_code = CASE WHEN renewing AND vector_count = chunk_count THEN NULL ELSE :code END,
    renewing = false, attempts = 0, retry_after = NULL, queued_at = NULL
WHERE user_id = :user_id AND id = ANY (:ids::uuid[]) AND status IN ('queued', 'parsing', 'embedding')
RETURNING id;

-- name: lane
SELECT lane_of(renewing, status, chunk_count) AS lane FROM documents
WHERE user_id = :user_id AND id = :document_id AND status IN ('queued', 'parsing', 'embedding');

-- name: resume
-- If only vectors are missing, reading continues with these. A document that is being read stays as it is.
UPDATE documents d
SET status = CASE WHEN only_vectors THEN 'embedding' ELSE 'queued' END,
    progress_done = CASE WHEN only_vectors THEN vector_count ELSE 0 END,
    progress_total = CASE WHEN only_vectors THEN chunk_count ELSE 0 END,
    stage_started_at = now(), stage_started_with = CASE WHEN only_vectors THEN vector_count ELSE 0 END,
    error = NULL, error_code = NULL, attempts = 0, retry_after = NULL,
    renewing = renewing OR chunk_count > 0 AND vector_count = chunk_count
FROM (
    SELECT user_id, id, vector_count < chunk_count AND NOT renewing AND NOT partial AS only_vectors FROM documents
) AS how
WHERE d.user_id = :user_id AND d.id = :document_id AND how.user_id = d.user_id AND how.id = d.id
  AND d.deleted_at IS NULL AND d.status NOT IN ('queued', 'parsing', 'embedding') AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
RETURNING d.*;

-- name: enqueue
-- A document that waits for a retry is tried at once.
UPDATE documents d
SET queued_at = coalesce(queued_at, clock.at), attempts = CASE WHEN retry_after IS NULL THEN attempts ELSE 0 END,
    retry_after = NULL, error = NULL, error_code = NULL
FROM (SELECT now() AS at) AS clock
WHERE user_id = :user_id AND id = :document_id AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
RETURNING d.*;

-- name: postpone
-- It stays in its lane, with the reason for waiting. A cancelled or finished document stays so.
UPDATE documents
SET status = CASE WHEN lane_of(renewing, status, chunk_count) = 'embedding' THEN status ELSE 'queued' END,
    error = :message, error_code = :code, queued_at = coalesce(queued_at, clock.at),
    retry_after = seconds_after(clock.at, (:pauses::float8[])[attempts])
FROM (SELECT now() AS at) AS clock
WHERE user_id = :user_id AND id = :document_id AND status IN ('queued', 'parsing', 'embedding')
RETURNING id;

-- name: present
SELECT *
FROM documents d
WHERE user_id = :user_id AND id = :document_id AND deleted_at IS NULL AND in_sight(d.index_id, d.deleted_at, :within, :with_trash);

-- name: give_up_pictures
UPDATE documents SET pictures_waiting = false, attempts = 0, retry_after = NULL, note = coalesce(note || chr(10), '') || :note::text
WHERE user_id = :user_id AND id = :document_id;

-- name: set_trace
UPDATE documents d SET trace_parent = :traceparent
WHERE user_id = :user_id AND id = :document_id AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
RETURNING id;

-- name: trace
SELECT trace_parent FROM documents WHERE user_id = :user_id AND id = :document_id;

-- name: going
-- With all versions and attachments, which are locked until the transaction ends.
WITH RECURSIVE going AS (
    SELECT d.id
    FROM documents d
    WHERE d.user_id = :user_id AND d.lineage_id IN (
        SELECT c.lineage_id FROM documents c
        WHERE c.user_id = :user_id AND c.id = ANY (:ids::uuid[]) AND c.deleted_at IS NULL AND c.superseded_by IS NULL)
    UNION
    SELECT p.id FROM going g JOIN documents p ON p.user_id = :user_id AND p.container_id = g.id
)
SELECT d.id, d.index_id, d.name, d.status, d.follows_source, d.sha256,
       d.container_id IS NOT NULL AND d.id = ANY (:ids::uuid[]) AS is_part
FROM documents d
WHERE d.user_id = :user_id AND d.id IN (SELECT g.id FROM going g)
ORDER BY d.lineage_id, d.version DESC
FOR UPDATE;

-- name: indexes
-- Locked until the documents have moved.
SELECT * FROM indexes WHERE user_id = :user_id AND id = ANY (:index_ids::uuid[]) ORDER BY id FOR SHARE;

-- name: twins
SELECT name FROM documents
WHERE user_id = :user_id AND index_id = :index_id AND sha256 = ANY (:hashes::text[]) AND NOT follows_source
LIMIT 1;

-- name: move
SELECT move_documents(:user_id, :ids::uuid[], :index_id::uuid);
