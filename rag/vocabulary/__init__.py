"""Domain vocabularies, formulas, periods, references and landmarks in questions and documents."""

from rag.vocabulary.document_kinds import DocumentKind, cues_of, document_kinds, marked_kind
from rag.vocabulary.field_templates import field_templates, fitting_template
from rag.vocabulary.formulas import (
    Expression,
    Figure,
    Formula,
    Operand,
    definitions,
    find_figure,
    in_printed_terms,
    is_labelled,
    parse_expression,
    plain_label,
)
from rag.vocabulary.landmarks import Landmarks, landmarks, own_pages
from rag.vocabulary.periods import find_periods, spell_out_periods, years, years_away
from rag.vocabulary.query_widening import Widened, Widener, Widening, widener
from rag.vocabulary.question_words import (
    QuestionTemplates,
    any_of,
    document_terms,
    question_templates,
    reason_language,
    words,
)
from rag.vocabulary.references import Reference, references
from rag.vocabulary.vocabulary import Vocabulary, load, trades
