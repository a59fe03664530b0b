"""The address of the former upload page leads to the library, which takes files in."""

import streamlit as st

st.switch_page("pages/library.py")
