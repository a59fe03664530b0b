"""Clients of `/retrieve`, for locust: each asks a new question as soon as it has the answer to the last."""

import json
import os
import random
from pathlib import Path

from locust import FastHttpUser, task

WORDS = json.loads(Path(os.environ["BENCHMARK_WORDS"]).read_text(encoding="utf-8"))
QUESTION_WORDS = 12
RESULTS = 5


class Client(FastHttpUser):
    """Asks what nobody asked before, so that every question is embedded."""

    @task
    def retrieve(self) -> None:
        """One question."""
        query = " ".join(random.choices(WORDS, k=QUESTION_WORDS))
        with self.client.post("/retrieve", json={"query": query}, catch_response=True) as response:
            if response.status_code == 200 and len(response.json()["retrieved_chunks"]) != RESULTS:
                response.failure(f"not {RESULTS} chunks")
