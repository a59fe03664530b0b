-- Users have no vocabularies of their own any more: the packaged ones widen every question.
DROP TABLE glossaries;
