-- name: add
-- In the transaction of the action. In a shared collection the owner is another user than the actor.
INSERT INTO audit (actor, action, owner, subject_kind, subject_id, subject_name, door, address, details)
SELECT :actor, :action, coalesce(:owner, :user_id), :subject_kind, :subject_id, :subject_name, :door, :address,
       :details || CASE WHEN :within::uuid IS NULL THEN '{}' ELSE jsonb_build_object('shared', true) END;

-- name: documents
-- Who uploaded a mail or an archive also uploaded its attachments, which a worker finds. Citus sends a query that is part
-- of the insertion itself to every shard, so that one node that is down would stop the uploads of all users.
SELECT array_agg(coalesce(CASE :action::text WHEN 'document.upload' THEN d.uploaded_by END, :actor) ORDER BY d.number)
           AS actors,
       array_agg(d.id::text ORDER BY d.number) AS ids,
       array_agg(d.index_id ORDER BY d.number) AS index_ids,
       array_agg(d.name ORDER BY d.number) AS names,
       array_agg(jsonb_build_object('index', i.name, 'size', d.size)::text ORDER BY d.number) AS details
FROM documents d JOIN indexes i ON i.user_id = d.user_id AND i.id = d.index_id
WHERE d.user_id = :user_id AND d.id = ANY (:ids::uuid[]) AND in_sight(d.index_id, d.deleted_at, :within, true);

-- name: add_documents
INSERT INTO audit (actor, action, owner, subject_kind, subject_id, subject_name, door, address, details)
SELECT d.actor, :action, :user_id, 'document', d.id, d.name, :door, :address, d.details::jsonb
FROM unnest(:actors::text[], :ids::text[], :index_ids::uuid[], :names::text[], :details::text[])
     AS d (actor, id, index_id, name, details)
WHERE :within::uuid IS NULL OR d.index_id = :within;

-- name: list
-- With `sees_all` of all users, else what the user did or what was done to the user's data; the latest first. An action
-- is given as a whole, or by its subject's kind, or by its verb.
SELECT *
FROM audit
WHERE (:sees_all OR actor = :user_id OR owner = :user_id)
  AND (:since::timestamptz IS NULL OR at >= :since::timestamptz)
  AND (:until::timestamptz IS NULL OR at < :until::timestamptz)
  AND (:of_actor::text IS NULL OR actor = :of_actor::text)
  AND (:of_action::text IS NULL OR :of_action::text IN (action, split_part(action, '.', 1), split_part(action, '.', 2)))
  AND (:below::bigint IS NULL OR id < :below::bigint)
ORDER BY id DESC
LIMIT :limit::bigint;

-- name: purged_at
-- When a document of the user was purged, or by the user. What is purged has no collection: nothing for shared ones.
SELECT max(at) AS at
FROM audit
WHERE action = 'document.purge' AND subject_id = :document_id AND :user_id IN (actor, owner) AND :within::uuid IS NULL;

-- name: forget
-- Runs as the owner of the table.
SELECT forget_audit(:actor, :before, :door) AS rows;
