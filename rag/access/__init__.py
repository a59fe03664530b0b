"""Who is let in, as whom and how often: one gate for every door.

Nothing is imported here, so that the command line starts fast.
"""
