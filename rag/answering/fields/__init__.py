"""Read typed fields from documents: the request to a model, checked values, quoted values, and confidence."""
