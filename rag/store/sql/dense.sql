-- name: scope
user_id = :user_id AND index_id = :index_id AND document_id IN (
    SELECT scope.id
    FROM documents_in_scope(:user_id, :index_id, :document_ids, :mime_types, :sources, :source_prefix) scope
)
