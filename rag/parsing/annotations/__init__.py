"""What a PDF has beside the text of its pages: form fields, comments and attached files."""
