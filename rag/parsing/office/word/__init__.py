"""Word documents (DOCX): what Word works out when it prints, such as numbers and hidden text."""
