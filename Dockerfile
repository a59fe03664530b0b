# Pagelight with its embedded database, models and OCR. All data is stored below /data.
#   docker build -t pagelight . && docker run --init --shm-size=1g -p 127.0.0.1:8501:8501 -v pagelight:/data pagelight
FROM python:3.11-slim-bookworm AS build

WORKDIR /build
COPY requirements.lock ./
RUN pip install --no-cache-dir --no-deps --require-hashes --prefix /dependencies -r requirements.lock

COPY pyproject.toml README.md LICENSE app.py server.py ./
COPY .streamlit .streamlit
COPY pages pages
COPY rag rag
COPY models models
# setuptools is among the locked dependencies.
RUN PYTHONPATH=/dependencies/lib/python3.11/site-packages \
    pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheel . ./models

FROM python:3.11-slim-bookworm

# Scans in Chinese, Japanese and languages with Latin letters need no program; for others add packages such as tesseract-ocr-ell.

# PostgreSQL refuses to run as root or as an unnamed user, and nothing else needs root.
RUN useradd --uid 10001 --user-group --create-home pagelight \
    && install --directory --owner pagelight --group pagelight --mode 0700 /data

# Dependencies first, so that code changes keep this layer.
COPY --from=build /dependencies /usr/local
RUN --mount=type=bind,from=build,source=/wheel,target=/wheel \
    pip install --no-cache-dir --no-deps --no-compile /wheel/*.whl

# Listen on all addresses of the container; `docker run --publish` decides who can connect.
ENV RAG_DATA_DIR=/data \
    RAG_APP_PORT=8501 \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    PYTHONUNBUFFERED=1

WORKDIR /home/pagelight
USER pagelight
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=15s --timeout=5s --start-period=90s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f\"http://127.0.0.1:{os.environ['RAG_APP_PORT']}/_stcore/health\", timeout=4)"]
CMD ["pagelight", "run"]
