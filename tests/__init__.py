# A regular package, so that `from tests import pdfs` finds this folder: a dependency installs a
# top-level package `tests`.
