-- Who did what, when and from where. Rows are only added: what is told here is the same for ever.

CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor text NOT NULL,
    action text NOT NULL,
    owner text NOT NULL,  -- whose thing it was done to
    subject_kind text NOT NULL DEFAULT '',
    subject_id text NOT NULL DEFAULT '',
    subject_name text NOT NULL DEFAULT '',
    door text NOT NULL DEFAULT '',  -- app, rest, mcp, cli, worker or python
    address text NOT NULL DEFAULT '',
    details jsonb NOT NULL DEFAULT '{}'  -- never a document's text
);
CREATE INDEX audit_at_idx ON audit (at);
CREATE INDEX audit_actor_idx ON audit (actor, id);
CREATE INDEX audit_owner_idx ON audit (owner, id);

CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('pagelight.forgetting_audit', true) = 'on'
       AND current_user = (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = TG_RELID) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit is only added to' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER keep_audit BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION keep_audit();
CREATE TRIGGER keep_all_audit BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION keep_audit();

-- The one way to let old rows go, which is told in turn. For who owns the table, or whom its owner lets run this.
CREATE FUNCTION forget_audit(who text, before timestamptz, through text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    gone bigint;
    before_all text := coalesce(current_setting('pagelight.all_users', true), '');
BEGIN
    PERFORM set_config('pagelight.forgetting_audit', 'on', true), set_config('pagelight.all_users', 'on', true);
    DELETE FROM audit WHERE at < before;
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('pagelight.forgetting_audit', 'off', true);
    IF gone > 0 THEN
        INSERT INTO audit (actor, action, owner, subject_kind, door, details)
        VALUES (who, 'audit.forget', who, 'audit', through, jsonb_build_object('rows', gone, 'before', before));
    END IF;
    PERFORM set_config('pagelight.all_users', before_all, true);
    RETURN gone;
END $$;
REVOKE EXECUTE ON FUNCTION forget_audit(text, timestamptz, text) FROM PUBLIC;
