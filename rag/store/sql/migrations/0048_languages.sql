-- The language that a user reads the pages in, as a tag of two or three letters; none: that of the browser.

ALTER TABLE accounts ADD COLUMN language text CHECK (language ~ '^[a-z]{2,3}$');
