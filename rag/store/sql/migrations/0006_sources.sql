-- Documents that follow a file (its path or URL is their `source`): equal content at two places is then two documents,
-- and several versions of one file may exist, of which all but one are in the trash. An upload stays a duplicate of
-- whatever has its content.

ALTER TABLE documents ADD COLUMN follows_source boolean NOT NULL DEFAULT false;

ALTER TABLE documents DROP CONSTRAINT documents_user_id_index_id_sha256_key;

-- A path may be too long for a key, its hash is not.
CREATE UNIQUE INDEX documents_content ON documents
    (user_id, index_id, sha256, (CASE WHEN follows_source THEN md5(source) ELSE '' END));

CREATE INDEX documents_source ON documents (user_id, index_id, md5(source)) WHERE source IS NOT NULL;
