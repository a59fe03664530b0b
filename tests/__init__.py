# A regular package, so that `from tests import pdfs` means this folder:
# a library that the app needs installs a top-level `tests` of its own.
