-- name: scope
user_id = :user_id AND index_id = :index_id AND document_id IN (
    SELECT scope.id
    FROM documents_in_scope(
        :user_id, :index_id, :document_ids, :mime_types, :sources, :source_prefix, :added_after, :added_before
    ) scope
)
AND (CAST(:must_all AS text[]) IS NULL OR text ~* ALL (CAST(:must_all AS text[])))
AND (CAST(:must_any AS text[]) IS NULL OR text ~* ANY (CAST(:must_any AS text[])))
