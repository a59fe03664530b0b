"""The views of the index page: the index itself with statistics and problems, its chunks, and search."""
