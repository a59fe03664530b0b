-- The columns of a matrix are typed fields, no longer questions; people review its cells.

-- `fields` have ids, which stay when a field is renamed. `pilot`: only the first so many documents are filled.
-- `follows`: documents that were added since, of a collection and with certain tags, join by themselves.
ALTER TABLE matrices ADD COLUMN fields jsonb;
ALTER TABLE matrices ADD COLUMN pilot int;
ALTER TABLE matrices ADD COLUMN follows jsonb;
ALTER TABLE matrices ADD COLUMN following_since timestamptz NOT NULL DEFAULT now();

ALTER TABLE matrices NO FORCE ROW LEVEL SECURITY;  -- the rows of all users
ALTER TABLE matrix_cells NO FORCE ROW LEVEL SECURITY;

-- The id of a question is made from its text, as the key of its cells was. A name is one line,
-- without invisible characters that change the order of its letters.
UPDATE matrices SET fields = (
    SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'id', encode(substr(question_key(value), 1, 16), 'hex')::uuid,
        'name', coalesce(nullif(btrim(left(regexp_replace(regexp_replace(
            value ->> 'text', '[\u202a-\u202e\u2066-\u2069]', '', 'g'), '[\s\x01-\x1f\x7f]+', ' ', 'g'), 200)), ''), '?'),
        'instruction', value ->> 'text',
        'should_agree', CASE WHEN value -> 'should_agree' = 'true' THEN true END)) ORDER BY ordinality)
    FROM jsonb_array_elements(questions) WITH ORDINALITY
);
ALTER TABLE matrices ALTER COLUMN fields SET NOT NULL;
ALTER TABLE matrices DROP COLUMN questions;
ALTER TABLE matrices FORCE ROW LEVEL SECURITY;

-- A cell belongs to a field by its id: a worker may fill cells while fields are reordered or renamed. The document and
-- hash that it was filled from tell when it is out of date. A review is a person's, and no worker writes it.
CREATE TABLE field_cells (
    user_id text NOT NULL CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    matrix_id uuid NOT NULL,
    lineage_id uuid NOT NULL,
    field_id uuid NOT NULL,
    document_id uuid NOT NULL,
    sha256 text NOT NULL,
    cell jsonb NOT NULL,
    previous jsonb,  -- the value of the content before
    review jsonb,
    is_outdated boolean NOT NULL DEFAULT false,  -- filled for another definition of the field
    PRIMARY KEY (user_id, matrix_id, lineage_id, field_id),
    FOREIGN KEY (user_id, matrix_id) REFERENCES matrices (user_id, id) ON DELETE CASCADE,
    FOREIGN KEY (user_id, document_id) REFERENCES documents (user_id, id) ON DELETE CASCADE
);
CREATE INDEX ON field_cells (user_id, document_id);

-- An answer is a value that is text.
CREATE FUNCTION as_field_cell(answered jsonb, field_id uuid) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object(
        'lineage_id', answered -> 'lineage_id', 'field_id', field_id, 'document_id', answered -> 'document_id',
        'version', answered -> 'version', 'sha256', answered -> 'sha256',
        'state', CASE answered ->> 'status' WHEN 'answered' THEN 'found' WHEN 'not_found' THEN 'not_stated' ELSE 'failed' END,
        'value', nullif(answered ->> 'answer', ''), 'words', coalesce(answered ->> 'answer', ''),
        'citations', CASE WHEN answered ->> 'quote' IS NULL THEN '[]'::jsonb ELSE jsonb_build_array(jsonb_build_object(
            'quote', answered -> 'quote', 'page_number', answered -> 'page_number', 'page_label', answered -> 'page_label',
            'regions', coalesce(answered -> 'regions', '[]'::jsonb))) END,
        'verdict', answered -> 'verdict', 'confidence', answered -> 'likelihood', 'model', answered -> 'model',
        'reason', answered -> 'reason', 'filled_at', answered -> 'answered_at')
$$;
INSERT INTO field_cells (user_id, matrix_id, lineage_id, field_id, document_id, sha256, cell, previous)
SELECT c.user_id, c.matrix_id, c.lineage_id, f.id, c.document_id, c.sha256,
       as_field_cell(c.cell, f.id), CASE WHEN c.previous IS NOT NULL THEN as_field_cell(c.previous, f.id) END
FROM matrix_cells c CROSS JOIN LATERAL (SELECT encode(substr(c.asked, 1, 16), 'hex')::uuid AS id) f;
DROP FUNCTION as_field_cell(jsonb, uuid);
DROP TABLE matrix_cells;
DROP FUNCTION question_key(jsonb);


-- Lists of fields that a user saved.
CREATE TABLE field_templates (
    user_id text NOT NULL CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    name text NOT NULL,
    fields jsonb NOT NULL,
    saved_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, name)
);
