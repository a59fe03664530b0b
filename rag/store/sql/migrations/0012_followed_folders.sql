-- The folders that an index follows, by what the ids of their files begin with: what was asked when each was last synced,
-- without any key, so that it can be done again.

ALTER TABLE indexes ADD COLUMN followed jsonb NOT NULL DEFAULT '{}';
