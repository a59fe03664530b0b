"""Optical character recognition with Tesseract."""
