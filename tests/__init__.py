# A regular package, so that `from tests import pdfs` means this folder: a wheel that the app needs installs a `tests` of its own.
