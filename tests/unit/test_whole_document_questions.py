import pytest

from rag.answering.extraction.whole_document_questions import asks_whole_document

WHOLE = """
List all penalties
List the obligations of the tenant
Please list every deadline
list all the exemptions in the Harbour Act
Enumerate the definitions
Name all directors mentioned in this filing
Give me every obligation of the tenant
Give me a list of all definitions
Make a complete list of the parties
Can you find all references to climate change?
Extract all dates and amounts
Identify each risk
What are all the warnings?
What are the seven principles of data protection?
What are the 3 types of partitioning?
How many routines are there in the manual?
How many routines does it have?
How many penalties does the Act impose?
How many chapters are there?
How many recommendations are made?
How many tables does this report contain?
How many companies are mentioned in the report?
How many experiments are described?
How many tables are in the paper?
How many photographs are included in the document?
Which companies are mentioned?
Which chemicals does the report name?
What persons are named in the contract?
All mentions of arbitration
Nenne alle Pflichten des Mieters
Nenne mir bitte sämtliche Fristen
Liste alle Strafen auf
Zähle alle Ausnahmen auf
Können Sie mir alle Ausnahmen nennen?
Wie viele Kapitel hat das Buch?
Wie viele Strafen werden genannt?
Wie viele Verträge gibt es in diesem Dokument?
Welche Unternehmen werden im Bericht erwähnt?
Welche Medikamente nennt der Bericht?
Was sind alle Warnhinweise?
"""
PARTICULAR = """
How many employees does Acme have?
How many employees did Acme have in 2022?
How many employees are in the report?
How many stores are there?
How many shares were outstanding?
How many ships did the harbour handle?
How many steps are needed to reset the device?
How many directors does the company have?
How many customers does the report have?
How many pages does the document have?
How many risks were reported in 2022?
How many stock options were granted?
How many countries does Acme operate in?
What are the main risks?
What are the net sales?
What are the requirements for termination?
What are the 12 months ended sales?
What is the penalty for late payment?
What is the total of all penalties?
What were the revenues in 2023?
List the revenue for 2022 and 2023
Show me the balance sheet
Who signed the contract?
List all signatories
Who is the auditor?
Which year does the report describe?
Did all the directors attend?
Does the report mention all subsidiaries?
Tell me about the company
Wie viele Mitarbeiter hat Acme?
Wie viele Mitarbeiter gibt es in diesem Bericht?
Wie hoch war der Umsatz?
Welche Strafe gilt bei Verzug?
Was sind die Umsatzerlöse 2023?
"""


@pytest.mark.parametrize("question", WHOLE.strip().split("\n"))
def test_what_only_all_of_the_text_answers_is_about_the_whole_document(question: str) -> None:
    assert asks_whole_document(question)


@pytest.mark.parametrize("question", PARTICULAR.strip().split("\n"))
def test_a_fact_that_stands_somewhere_is_searched_for(question: str) -> None:
    assert not asks_whole_document(question)
