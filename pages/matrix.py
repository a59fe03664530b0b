"""The matrix page: fields of many documents."""

from rag.ui import page_frame
from rag.ui.language import N_
from rag.ui.matrix import form, page

page_frame.page(N_("Matrix"))
with page_frame.show_title("Matrix"), page_frame.error_boundary():
    form.form_button()
with page_frame.error_boundary():
    page.show()
