"""Compose answers from statements with cited sources, also of one question to several documents."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence

from rag import prompts, types
from rag.answering.extraction.extractive_answer import DOUBTFUL_LIKELIHOOD
from rag.answering.passages.statements import Label, Statement
from rag.answering.text.markup import CITATION_MARK, plain_text
from rag.answering.text.term_weights import word_set
from rag.answering.verification.grounding import Grounder, Locate
from rag.answering.verification.quote_matching import Quote

EXTRACTIVE_MODEL = "extractive"
"""The model name of answers without a language model."""


def compose(parts: Sequence[Statement | Label], *, locate: Locate) -> types.AnswerResponse:
    """Compose an answer of paragraphs, every statement cited; each passage is one source.

    Raises:
        errors.GroundingError: a document cannot be read any more.
    """
    hits = _sources(parts)
    ids = {_key(hit): citation_id for citation_id, hit in hits.items()}
    grounder = Grounder(hits, locate=locate)
    text, sentences, citations = "", list[types.Sentence](), list[types.Citation]()
    for part in parts:
        text += "\n\n" if text else ""
        start = len(text)
        if isinstance(part, Label):
            text += part.text
            continue
        cited = tuple(dict.fromkeys(ids[_key(source.hit)] for source in part.sources))
        shown = plain_text(part.text)
        text += f"{shown} {''.join(f'[{citation_id}]' for citation_id in cited)}"
        if part.row:
            citations.append(grounder.cite_unit(len(sentences), cited[0], *part.row))
        else:
            for source in dict.fromkeys((_key(source.hit), source.span) for source in part.sources):
                citations.append(
                    grounder.cite(len(sentences), ids[source[0]], Quote(source[1], types.Verdict.VERIFIED))
                )
        support = types.Support.QUOTED if part.is_verbatim else types.Support.SUPPORTED
        sentences.append(types.Sentence(text=shown, citation_ids=cited, start=start, end=len(text), support=support))
    return types.AnswerResponse(
        status="ok",
        answer=text,
        sentences=tuple(sentences),
        citations=tuple(citations),
        sources=hits,
        model=EXTRACTIVE_MODEL,
    )


_Key = tuple[object, int, int]


def _key(hit: types.Hit) -> _Key:
    return hit.passage.document_id, hit.passage.line_start, hit.passage.line_end


def _sources(parts: Iterable[Statement | Label]) -> dict[str, types.Hit]:
    hits: dict[_Key, types.Hit] = {}
    for part in parts:
        for source in part.sources if isinstance(part, Statement) else ():
            hits.setdefault(_key(source.hit), source.hit)
    return {f"S{number}": hit for number, hit in enumerate(hits.values(), start=1)}


_DOCUMENTS = (
    r"(?:documents|reports|files|filings|papers|contracts|agreements|leases|policies|letters|studies|pdfs|texts|articles|"
    r"companies|10-ks|10-qs)"
)
_EACH = re.compile(
    rf"\b(?:(?:for|in|of|from|across|among|between)\s+)?(?:in\s+)?(?:which|each|both|all|every|any)"
    rf"(?:\s+one)?(?:\s+of)?(?:\s+(?:the|these|those|my|our|chosen|selected|two|three|four|five|six))*"
    rf"\s+(?:{_DOCUMENTS}|(?:document|report|file|filing|paper|contract|agreement|lease|policy|letter|company))\b[\s,:]*"
    rf"|\b(?:across|among|between|compare)\s+(?:the\s+|these\s+|those\s+|my\s+|our\s+)*(?:two\s+|three\s+)?{_DOCUMENTS}\b[\s,:]*"
    r"|\b(?:per\s+document|document\s+by\s+document|respectively)\b[\s,:]*",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:compar(?:e|es|ed|ing|ison)|versus|vs\.?|difference[s]?\s+between|differ|both|each|respectively|in\s+contrast)(?!\w)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^\s*+(?:please\s++)?(?:(?:compare|contrast)|(?:(?:give|show)\s++(?:me\s++)?)?a?\s*comparison\s+of"
    r"|what\s+(?:is|are|was|were)\s+the\s+differences?\s+between)\s+",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r"(?:['’]s?)?\s*+(?:,\s*+)?(?:(?:and|or|vs\.?|versus|with|to|than|against|und|oder|et|y)\b\.?\s*+)?"
    r"(?:(?<=\s)(?:that|those)\s+of\s*+)?(?:the\s+)?",
    re.IGNORECASE,
)
_JOINING = word_set(
    "and or v v. vs vs. versus with to than against compared und oder et y in of for from at by the is that"
)
"""Words that only lead from one name to the next."""
_OWN_PERIOD = re.compile(r"^\s*\([^()]{0,20}\d[^()]{0,20}\)")
"""The period of the last name, in brackets."""
_SUPERLATIVE = re.compile(
    r"^(?:(?:who|which(?:\s+(?:one|company|of\s+(?:the\s+two|them)))?)\s+)?(?:has|have|had|is|was|made|makes|got|spent|spends|pays|paid)"
    r"\s+(?:the\s+)?(?:bigger|biggest|higher|highest|larger|largest|more|most|greater|greatest|lower|lowest|less|least|fewer|"
    r"fewest|smaller|smallest)\b",
    re.IGNORECASE,
)
_SPENT_MOST = re.compile(
    r"^(?:(?:who|which(?:\s+(?:one|company|of\s+(?:the\s+two|them)))?)\s+)?(?:(?P<spent>spen[dt]s?)|pa(?:id|ys?))\s+"
    r"(?:the\s+)?(?:more|most|less|least)\s+(?=(?:on|for|in|to)\b)",
    re.IGNORECASE,
)
_HAS_MORE = re.compile(
    r"^(?:do|does|did|has|have|had)\s+(?P<who>[^?,;]{1,60}?)\s(?:have\s+|had\s+|got\s+)?(?:more|fewer)\s+(?=\w)(?!than\b)",
    re.IGNORECASE,
)
"""A question which of two has more, as one of them is asked it: "Did Acme have more branches in its 2021 report"."""
_OF_REPORTS = re.compile(
    r"\s*+(?:annual\s+|quarterly\s+)?(?:10-?[kq]|reports?|filings?|editions?|versions?|policy|policies)s?\b",
    re.IGNORECASE,
)
_BY_HOW_MUCH = re.compile(r"(?<![\s,;])[\s,;]*+\b(?:and\s+)?by\s+how\s+(?:much|many)\b", re.IGNORECASE)
_AGAINST = re.compile(
    r"(?<!\s)(?:\s*,)?\s+(?:with|to|against|versus|vs\.?|than)\s+(?:(?:that|those)\s+of\s+)?(?:the\s+)?$", re.IGNORECASE
)
_WHEN = re.compile(r"\s*+(?:(?:in|for|at|during|as\s+of|from)\s.*)?[?.!\s]*", re.IGNORECASE | re.DOTALL)
_HOW = re.compile(r"how\s+(?:does|do|did)\s+(?P<topic>\S.*?)(?<!\s)\s+compare(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_MENTIONS = re.compile(
    r"(?:mention|discuss|describe|address|cover|treat|speak\s+of|talk\s+about|refer\s+to|deal\s+with)s?\s+(?P<topic>.+)",
    re.IGNORECASE | re.DOTALL,
)
_OWNER = re.compile(r"['’]s?(?!\w)")


def asks_of_each(question: str) -> bool:
    """Return whether `question` asks each document: "in which of these reports …"."""
    return _EACH.search(question) is not None


def each_noun(question: str) -> str:
    """Return what `question` asks each of: "companies", "papers"; "" if it asks none."""
    match = _EACH.search(question)
    return match[0].strip(" ,:").split()[-1].lower() if match else ""


def compares(question: str) -> bool:
    """Return whether `question` has words of comparison."""
    return _COMPARED.search(question) is not None


def are_listed(question: str, names: Sequence[types.Span]) -> bool:
    """Return whether the names follow each other, as in "Acme, Globex and Initech"."""
    gaps = [question[first.end : second.start] for first, second in itertools.pairwise(names)]
    return bool(gaps) and all(_JOINT.fullmatch(gap) for gap in gaps) and bool(re.search(r"\w", gaps[-1]))


def questions_for_reports(question: str, periods: Sequence[types.Span]) -> list[str]:
    """Return the question for each of several reports that it names by their periods: "in its 2021 or 2022 10-K"."""
    if not are_listed(question, periods) or not _OF_REPORTS.match(question, periods[-1].end):
        return []
    return [_HAS_MORE.sub(r"\g<who>: how many ", question_for_one(question, periods, own)) for own in periods]


def question_for_each(question: str) -> str:
    """Return the question as each document is asked it."""
    return _as_question(_EACH.sub(" ", question), question)


def question_for_one(question: str, names: Sequence[types.Span], own: types.Span) -> str:
    """Return the question as the document named at `own` is asked it."""
    name = question[own.start : own.end]
    if are_listed(question, names):
        owner = _OWNER.match(question, names[-1].end)
        end = owner.end() if owner else names[-1].end
        return _as_question(f"{question[: names[0].start]}{name}{owner[0] if owner else ''}{question[end:]}", question)
    first, *_, last = names
    against = _AGAINST.search(question, 0, last.start)
    owner = _OWNER.match(question, last.end)
    tail = question[owner.end() if owner else last.end :]
    both_have_words = against is not None and not owner and not _WHEN.fullmatch(tail)
    if len(names) != 2 or against is None or both_have_words:
        return _as_question(_of_one_part(question, names, own), question)
    has_own_words = bool(owner) and not _WHEN.fullmatch(tail)
    if own == last and has_own_words:  # "… with Globex's dividend"
        return _as_question(f"compare {question[last.start :]}", question)
    head = question[: first.start] + name + question[first.end : against.start()]
    return _as_question(head if has_own_words else head + tail, question)


def _of_one_part(question: str, names: Sequence[types.Span], own: types.Span) -> str:
    """Return the beginning of a question with one of its names and what is asked of that, or else of all."""
    following = next((name.start for name in names if name.start > own.start), None)
    part = question[own.start : following]
    if following is not None:
        words = part.split()
        while words and words[-1].strip(",;?").lower() in _JOINING | {""}:
            words.pop()
        part = " ".join(words).rstrip(" ,;?")
    tail = _OWN_PERIOD.sub("", question[names[-1].end :])
    has_own_words = any(len(word) > 2 for word in re.findall(r"[^\W\d_]+", part[own.end - own.start :]))
    return f"{question[: names[0].start]} {part}{'' if has_own_words or following is None else f' {tail}'}"


def _as_question(text: str, asked: str) -> str:
    text = " ".join(_BY_HOW_MUCH.sub("", text).split()).strip(" ,:")
    text = _SPENT_MOST.sub(lambda match: f"How much was {'spent' if match['spent'] else 'paid'} ", text)
    text = _SUPERLATIVE.sub("What was the", text)
    statement = text.rstrip("?. ")
    if lead := _LEAD.match(text):
        text = f"What is {statement[lead.end() :]}?"
    elif match := _HOW.fullmatch(statement):
        text = f"What is {match['topic']}{match['rest']}?"
    elif match := _MENTIONS.fullmatch(statement):
        text = f"What is said about {match['topic']}?"
    return text[0].upper() + text[1:] if text else asked


# --- answers put together -----------------------------------------------------------------------------


def join(answers: Sequence[tuple[str, types.AnswerResponse]]) -> types.AnswerResponse:
    """Join several answers, each under its name, with sources renumbered.

    Beside a likely answer an unlikely one counts for nothing: a document that says nothing of the matter is not quoted
    with something else. The result is insufficient only if all are; its likelihood is that of the least likely part.
    """
    text, sentences, citations, sources = "", list[types.Sentence](), list[types.Citation](), dict[str, types.Hit]()
    if any(is_likely(answer) for _, answer in answers):
        answers = [
            (name, answer.model_copy(update={"status": "insufficient_context"}) if is_unlikely(answer) else answer)
            for name, answer in answers
        ]
    for name, answer in answers:
        ids = {old: f"S{len(sources) + number}" for number, old in enumerate(answer.sources, start=1)}
        first = len(sentences)
        text += ("\n\n" if text else "") + f"{heading(name)}\n\n"
        if answer.status != "ok":
            text += prompts.NOTHING_FOUND_HERE
            continue
        end = 0
        for sentence in answer.sentences:
            text += _renumbered(answer.answer[end : sentence.start], ids)
            start, end = len(text), sentence.end
            text += _renumbered(answer.answer[sentence.start : end], ids)
            cited = tuple(ids.get(old, old) for old in sentence.citation_ids)
            sentences.append(sentence.model_copy(update={"citation_ids": cited, "start": start, "end": len(text)}))
        text += _renumbered(answer.answer[end:], ids)
        citations += [
            citation.model_copy(
                update={"citation_id": ids[citation.citation_id], "sentence": citation.sentence + first}
            )
            for citation in answer.citations
        ]
        sources |= {ids[old]: hit for old, hit in answer.sources.items()}
    answered = [answer for _, answer in answers if answer.status == "ok"]
    likelihoods = [answer.likelihood for answer in answered if answer.likelihood is not None]
    if not answered:
        nearest = tuple(hit for _, answer in answers for hit in answer.nearest[:2])
        return answers[0][1].model_copy(update={"nearest": nearest})
    return types.AnswerResponse(
        status="ok",
        answer=text,
        sentences=tuple(sentences),
        citations=tuple(citations),
        sources=sources,
        likelihood=min(likelihoods, default=None),
        model=EXTRACTIVE_MODEL,
        usage=types.Usage(latency_ms=sum(answer.usage.latency_ms for _, answer in answers)),
    )


def is_likely(answer: types.AnswerResponse) -> bool:
    """Return whether an answer is likely; what is worked out from rows that were recognised is."""
    likelihood = 1.0 if answer.likelihood is None else answer.likelihood
    return answer.status == "ok" and likelihood >= types.LIKELY_THRESHOLD


def is_unlikely(answer: types.AnswerResponse) -> bool:
    """Return whether an answer is less likely than one that is doubtful for its kind alone."""
    return answer.likelihood is not None and answer.likelihood < DOUBTFUL_LIKELIHOOD


def heading(name: str) -> str:
    """Format a name as a heading."""
    return f"**{' '.join(plain_text(name).replace('*', ' ').split())}**"


def _renumbered(text: str, ids: Mapping[str, str]) -> str:
    return CITATION_MARK.sub(lambda mark: f"[{ids.get(mark[1], mark[1])}]", text)
