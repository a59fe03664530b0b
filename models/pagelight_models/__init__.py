"""The weights of the reader; Pagelight opens the files and imports nothing."""
