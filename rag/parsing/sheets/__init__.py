"""Spreadsheets (XLSX, XLS, ODS, CSV): reading, conversion to PDF, and cell references of places on pages."""
