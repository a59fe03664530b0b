"""Clients of `/retrieve` for locust, which send a new question after each answer."""

import json
import os
import random
from pathlib import Path

from locust import FastHttpUser, task

WORDS = json.loads(Path(os.environ["BENCHMARK_WORDS"]).read_text(encoding="utf-8"))
QUESTION_WORDS = 12
RESULTS = 5


class Client(FastHttpUser):
    """Sends only new questions, so that each one is embedded."""

    @task
    def retrieve(self) -> None:
        """Send one question."""
        query = " ".join(random.choices(WORDS, k=QUESTION_WORDS))
        with self.client.post("/retrieve", json={"query": query}, catch_response=True) as response:
            if response.status_code == 200 and len(response.json()["retrieved_chunks"]) != RESULTS:
                response.failure(f"not {RESULTS} chunks")
