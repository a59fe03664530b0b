"""The admin page: users and API keys."""

from rag.ui import page_frame
from rag.ui.admin import users
from rag.ui.language import N_

page_frame.page(N_("Admin"))
with page_frame.show_title("Admin"):
    views = {N_("Users"): users.users, N_("Keys"): users.keys}
    view = page_frame.choose_view(views)
with page_frame.error_boundary():
    users.require_administrator()
    view()
