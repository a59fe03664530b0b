"""Archives (ZIP): extraction of files within limits, and their list as PDF."""
