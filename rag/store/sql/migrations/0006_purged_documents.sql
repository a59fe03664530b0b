-- When a document was purged is looked up in the audit log, for citations of it.
CREATE INDEX audit_purged_idx ON audit (subject_id) WHERE action = 'document.purge';
