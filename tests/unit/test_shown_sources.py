"""What other machines may read of where a document came from."""

import pytest

from rag.types import shown_source


@pytest.mark.parametrize(
    "source",
    [
        "/home/ann/reports/2023/x.md",
        "~/reports/x.md",
        r"C:\reports\x.md",
        "d:/reports/x.md",
        r"\server\share\x.md",
        "file:///home/ann/x.md",
        "local:///home/ann/x.md",
        "zip://x.md::/home/ann/reports.zip",
        "simplecache::file:///home/ann/x.md",
    ],
)
def test_a_path_of_this_machine_is_the_path_in_its_folder(source: str) -> None:
    assert shown_source(source, "2023/x.md") == "2023/x.md"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("s3://bucket/reports/x.md", "s3://bucket/reports/x.md"),
        ("gdrive://folder/file", "gdrive://folder/file"),
        ("sftp://ann:secret@host/reports/x.md", "sftp://host/reports/x.md"),
        ("data/policies.md", "data/policies.md"),
    ],
)
def test_addresses_and_what_a_caller_says_are_shown_without_user_and_password(source: str, shown: str) -> None:
    assert shown_source(source, "x.md") == shown
