-- Versions of documents. The one that is searched is the only one of its lineage without `superseded_by`; an older one,
-- and one that is still to be read, name another version there.

CREATE UNIQUE INDEX documents_current ON documents (user_id, lineage_id) WHERE superseded_by IS NULL;

-- Until the end of the transaction nobody else counts versions of a document, or changes which one is searched.
CREATE FUNCTION lock_lineage(of_user text, of_lineage uuid) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(hashtextextended(of_user || chr(10) || of_lineage::text, 2))
$$;

-- One document takes the place of `older` ones in one moment: no search sees both, or none. It comes out of the trash,
-- and is the latest version; what the owner says of the document, and the chats about it, go along.
CREATE FUNCTION supersede(of_user text, taker uuid, older uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    former documents;
    latest int;
BEGIN
    SELECT * INTO former FROM documents d
    WHERE d.user_id = of_user AND d.id = ANY (older) AND d.id <> taker
    ORDER BY d.number DESC LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM lock_lineage(of_user, former.lineage_id);
    SELECT max(d.version) INTO latest FROM documents d WHERE d.user_id = of_user AND d.lineage_id = former.lineage_id;
    UPDATE documents d SET superseded_by = taker, lineage_id = former.lineage_id
    WHERE d.user_id = of_user AND d.id = ANY (older) AND d.id <> taker;
    UPDATE documents d
    SET deleted_at = NULL, superseded_by = NULL, lineage_id = former.lineage_id,
        version = CASE WHEN d.lineage_id = former.lineage_id AND d.version > former.version
                       THEN d.version ELSE latest + 1 END,
        tags = former.tags, given_title = former.given_title, given_author = former.given_author,
        disabled = former.disabled
    WHERE d.user_id = of_user AND d.id = taker;
    UPDATE conversations c
    SET document_ids = ARRAY(
        SELECT DISTINCT CASE WHEN o.id = ANY (older) THEN taker ELSE o.id END FROM unnest(c.document_ids) AS o (id))
    WHERE c.user_id = of_user AND c.document_ids && older;
END
$$;

-- A version takes over in the transaction that makes it ready, whichever statement does that, or gets it back out of the
-- trash; not where a later one did before.
CREATE FUNCTION take_over() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    present uuid;
BEGIN
    PERFORM lock_lineage(NEW.user_id, NEW.lineage_id);
    SELECT d.id INTO present FROM documents d
    WHERE d.user_id = NEW.user_id AND d.lineage_id = NEW.lineage_id AND d.superseded_by IS NULL
      AND d.version < NEW.version;
    IF FOUND THEN
        PERFORM supersede(NEW.user_id, NEW.id, ARRAY[present]);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER take_over AFTER UPDATE OF status, deleted_at ON documents
FOR EACH ROW WHEN (NEW.status = 'ready' AND NEW.deleted_at IS NULL AND NEW.superseded_by IS NOT NULL)
EXECUTE FUNCTION take_over();

-- Whether an older version went into the trash together with the one that is searched.
CREATE FUNCTION went_along(older documents) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM documents c
        WHERE c.user_id = older.user_id AND c.lineage_id = older.lineage_id AND c.superseded_by IS NULL
          AND c.deleted_at = older.deleted_at)
$$;

-- Whether a version is still to take over: it is later than the one that is searched.
CREATE FUNCTION is_to_take_over(later documents) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM documents c
        WHERE c.user_id = later.user_id AND c.lineage_id = later.lineage_id AND c.superseded_by IS NULL
          AND c.version < later.version)
$$;
