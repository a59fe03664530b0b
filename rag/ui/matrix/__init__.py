"""The matrix page: fields of many documents in a table, reviewed cell by cell beside the page that states them."""
