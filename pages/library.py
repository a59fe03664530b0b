"""The library page: upload, documents and the trash."""

from rag.ui import page_frame
from rag.ui.language import N_
from rag.ui.library import library_page, sharing, trash

page_frame.page(N_("Library"))
with page_frame.show_title("Library"):
    views = {N_("Documents"): library_page.documents_view, N_("Trash"): trash.trash}
    view = page_frame.choose_view(views)
    with page_frame.error_boundary():
        sharing.share_menu()
with page_frame.error_boundary():
    view()
