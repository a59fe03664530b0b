"""The weights of the reader and the entailment model; Pagelight opens the files and imports nothing."""
