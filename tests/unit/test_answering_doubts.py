"""Claims in the words of their source that small words make say something else, and claims that keep them."""

import pytest

from rag.answering.text.markup import ProposedQuote
from rag.answering.verification.citations import Claim
from rag.answering.verification.grounding import Grounder
from rag.types import Sentence, Support
from tests import sources


def judge(claim: str, source: str) -> Sentence:
    """The verdict about a claim that quotes all of `source`."""
    sentence = Sentence(text=claim, citation_ids=("S1",), start=0, end=len(claim))
    grounder = Grounder({"S1": sources.hit(source)}, locate=sources.locate)
    ((judged,), _) = grounder.ground([Claim(sentence, (ProposedQuote("S1", source, 0),))])
    return judged


def check(claim: str, source: str, *, is_true: bool) -> None:
    """It is supported if it is true; if not, something is named that it lacks."""
    judged = judge(claim, source)
    assert (judged.support is Support.SUPPORTED) is is_true, judged.missing
    assert bool(judged.missing) is not is_true


MOST = "Most of the ferries were repaired in Oskarshamn, some of our quays rebuilt, and two of the five cranes failed."
SECOND = "Lyngdal is the second largest harbour of the coast, and one of the oldest."


@pytest.mark.parametrize(
    ("claim", "source", "is_true"),
    [
        ("Most of the ferries were repaired in Oskarshamn.", MOST, True),
        ("All of the ferries were repaired in Oskarshamn.", MOST, False),
        ("The ferries were only repaired in Oskarshamn.", MOST, False),
        ("Many ferries were repaired in Oskarshamn.", MOST, False),
        ("Two of the five cranes failed.", MOST, True),
        ("The five cranes failed.", MOST, False),
        ("Some of our quays were rebuilt.", MOST, True),
        ("Our quays were rebuilt.", MOST, False),
        ("All quays were rebuilt.", MOST, False),
        ("Five of the two cranes failed.", MOST, False),
        ("Lyngdal is the second largest harbour of the coast.", SECOND, True),
        ("Lyngdal is the largest harbour.", SECOND, False),
        ("Lyngdal is the oldest harbour.", "Lyngdal is one of the oldest harbours of the coast.", False),
        ("Lyngdal is one of the oldest harbours.", "Lyngdal is one of the oldest harbours of the coast.", True),
        ("Every pilot has a licence.", "Each pilot of the station has a licence.", True),
        ("Pilots have a licence every year.", "Pilots of the station have a licence each year.", True),
        ("Tolls come only from lorries.", "Tolls come solely from lorries.", True),
        ("The number of lorries fell to 14.", "The number of lorries in the tunnel fell to 14.", True),
        ("Our quays were sold.", "Our quays and some of our quays on the island were sold.", True),
        ("We bought $5,000,000 of 3 notes.", "We bought $5.0 million of 3 notes.", True),
        ("9 out of 12 lorries passed.", "9 of the 12 lorries passed.", True),
        ("Both sales brought 5 million.", "The sale of the quay brought 5 million.", False),
        ("Both sales brought 5 million.", "Each sale brought 5 million.", True),
        ("Both sales brought 5 million.", "The sales brought 5 million.", True),
        ("Die Fähren wurden repariert.", "Alle Fähren wurden in Oskarshamn repariert.", True),
    ],
)  # fmt: skip
def test_a_claim_speaks_of_as_much_as_its_source(claim: str, source: str, is_true: bool) -> None:
    check(claim, source, is_true=is_true)


BARGES = "Up to 40 barges may wait in the basin, and tugs moor for 2 weeks or less."
TUGS = "Over 300 tugs moor in the basin, and barges wait at least 6 days."


@pytest.mark.parametrize(
    ("claim", "source", "is_true"),
    [
        ("Up to 40 barges may wait.", BARGES, True),
        ("At most 40 barges may wait.", BARGES, True),
        ("40 barges may wait.", BARGES, False),
        ("More than 40 barges may wait.", BARGES, False),
        ("Tugs moor for at most two weeks.", BARGES, True),
        ("Tugs moor for more than 2 weeks.", BARGES, False),
        ("Barges wait at least six days.", TUGS, True),
        ("Barges wait no more than 6 days.", TUGS, False),
        ("Barges wait exactly 6 days.", TUGS, False),
        ("More than 300 tugs moor in the basin.", TUGS, True),
        ("At least 300 tugs moor in the basin.", TUGS, True),
        ("Fewer than 300 tugs moor in the basin.", TUGS, False),
        ("About 70% of the tugs moor.", "Nearly 70% of the tugs moor in the basin.", True),
        ("70% of the tugs moor.", "Nearly 70% of the tugs moor in the basin.", True),
        ("Over 70% of the tugs moor.", "Nearly 70% of the tugs moor in the basin.", False),
        ("The fee is about 30 kroner.", "The fee for tugs is approximately 30 kroner.", True),
        ("The fee is 30 kroner.", "The fee for tugs is approximately 30 kroner.", True),
        ("The fee must be at most 30 kroner.", "The fee for tugs must not, at any time, exceed 30 kroner.", True),
        ("The fee must exceed 30 kroner.", "The fee for tugs must not, at any time, exceed 30 kroner.", False),
        ("The fee must be over 30 kroner.", "The fee for tugs must be > 30 kroner.", True),
        ("The fee must be ≤ 30 kroner.", "The fee for tugs must be > 30 kroner.", False),
        ("The dredging lasts 9 years.", "The dredging of the basin lasts over 9 years.", True),
        ("Die Gebühr beträgt 30 Kronen.", "Die Gebühr für Schlepper beträgt 30 Kronen.", True),
        ("Tolls rose 18%.", "Tolls rose 18% to $192 million in 2031.", True),
        ("Tolls rose to $192 million.", "Tolls rose 18% to $192 million in 2031.", True),
        ("Tolls rose to 18%.", "Tolls rose to 18% to 20% in 2031.", False),
    ],
)
def test_a_figure_keeps_its_bound(claim: str, source: str, is_true: bool) -> None:
    check(claim, source, is_true=is_true)


LOCKS = "Lock 4 lacks a gauge, the keeper failed to report the leak, and Vassvik refused to renew the permit in March."


@pytest.mark.parametrize(
    ("claim", "source", "is_true"),
    [
        ("Lock 4 lacks a gauge.", LOCKS, True),
        ("Lock 4 does not have a gauge.", LOCKS, True),
        ("Lock 4 has a gauge.", LOCKS, False),
        ("The keeper did not report the leak.", LOCKS, True),
        ("The keeper reported the leak.", LOCKS, False),
        ("Vassvik did not renew the permit in March.", LOCKS, True),
        ("Vassvik renewed the permit in March.", LOCKS, False),
        ("The lock lacks lighting.", "The lock on the western canal does not have lighting.", True),
        ("The lock lacks lighting on the western canal.", "The lock has lighting on the western canal.", False),
        ("The lock has recurring leaks at the gate.", "The lock has non-recurring leaks at the gate.", False),
        ("The rules allow mooring at night.", "The rules of the lock prohibit mooring at night.", False),
        ("Boats were prevented from mooring at night.", "Boats were prevented from mooring at night by ice.", True),
        ("Boats moored at night by the ice.", "Boats were prevented from mooring at night by the ice.", False),
        ("The keeper paid in May.", "The keeper avoided a fine in March and paid in May.", True),
        ("The keeper declined the offer of the canal.", "The keeper declined the offer of the canal in May.", True),
        ("Leaks declined to 3.", "The leaks of the lock fell to 3 in May.", True),
        ("The keeper took the offer of the canal.", "The keeper declined to take the offer of the canal.", False),
    ],
)
def test_what_is_lacking_refused_or_failed_is_not(claim: str, source: str, is_true: bool) -> None:
    check(claim, source, is_true=is_true)


FERRY = "The ferry sails at noon unless the strait is frozen, and the crew sleeps aboard."
TOLL = "If a lorry exceeds 12 metres, the toll doubles, and the driver pays at the gate."
PERMIT = "Subject to approval by Harbour Board, Brakstad will lease the pier, except the crane, in 2031."


@pytest.mark.parametrize(
    ("claim", "source", "is_true"),
    [
        ("The ferry sails at noon unless the strait is frozen.", FERRY, True),
        ("The ferry sails at noon.", FERRY, False),
        ("The strait is frozen.", FERRY, False),
        ("The ferry sails at noon if the strait is frozen.", FERRY, False),
        ("The ferry sails at noon, even if the strait is frozen.", FERRY, False),
        ("The crew sleeps aboard.", FERRY, True),
        ("The toll doubles if a lorry exceeds 12 metres.", TOLL, True),
        ("The toll doubles when a lorry exceeds 12 metres.", TOLL, True),
        ("The toll doubles.", TOLL, False),
        ("A lorry exceeds 12 metres.", TOLL, False),
        ("The toll doubles unless a lorry exceeds 12 metres.", TOLL, False),
        ("Subject to approval, Brakstad will lease the pier except the crane.", PERMIT, True),
        ("Brakstad will lease the pier in 2031.", PERMIT, False),
        ("Subject to approval, Brakstad will lease the pier including the crane.", PERMIT, False),
        ("The lease is subject to tax.", "The lease of the pier is subject to tax.", True),
        ("The board asked if the pier was safe.", "In May the board asked if the pier was safe.", True),
        ("The margin was 9% excluding tolls.", "Excluding tolls, the margin of the port was 9%.", True),
        ("The margin was 9%.", "Excluding tolls, the margin of the port was 9%.", False),
        ("Le péage est de 9 euros.", "Le péage du port est de 9 euros sauf le dimanche.", True),
        ("Pilots stay ashore in fog and snow.", "Pilots of the station stay ashore in fog or snow.", False),
        ("Pilots stay ashore in snow or fog.", "Pilots of the station stay ashore in fog or snow.", True),
    ],
)
def test_a_claim_keeps_conditions_and_exceptions(claim: str, source: str, is_true: bool) -> None:
    check(claim, source, is_true=is_true)


@pytest.mark.parametrize(
    ("fragment", "source", "support"),
    [
        ("13 weeks.", "The season of 2031 had 13 weeks.", Support.QUOTED),
        ("13 weeks.", "The season had 13 regattas in 12 weeks.", Support.NOT_VERIFIED),
        ("Ada Vinter.", "Ms. Ada Vinter leads the station.", Support.QUOTED),
        ("Ada Vinter.", "Ada Lund succeeded Per Vinter.", Support.NOT_VERIFIED),
    ],
)
def test_the_words_of_a_fragment_stand_together(fragment: str, source: str, support: Support) -> None:
    assert judge(fragment, source).support is support


TOLLS = "Average tolls for tugs in the northern harbour were"


@pytest.mark.parametrize(
    ("claim", "source", "support"),
    [
        ("The pier has 9 cranes.", "The pier has 7 cranes.", Support.CONTRADICTED),
        ("With 90 tugs the basin is closed.", "With more than 85 tugs the basin is closed.", Support.NOT_VERIFIED),
        ("The pier is not leased.", "The pier is leased.", Support.CONTRADICTED),
        ("25 of 42 piers are not leased.", "17 of 42 piers are leased.", Support.NOT_VERIFIED),
        ("The pier has 2 cranes.", "The pier has 9 cranes or 7.", Support.NOT_VERIFIED),  # 9 - 7
        ("The pier has 3 cranes.", "The pier has 9 cranes or 7.", Support.CONTRADICTED),
        ("Tugs may not enter without a pilot.", "Tugs may enter only with a pilot.", Support.NOT_VERIFIED),
        ("Tugs may enter without a pilot.", "Tugs may enter only with a pilot.", Support.CONTRADICTED),
        (f"{TOLLS} higher in 2031 than in 2032.", f"{TOLLS} lower in 2032 than in 2031.", Support.NOT_VERIFIED),
        (f"{TOLLS} higher in 2032 than in 2031.", f"{TOLLS} lower in 2032 than in 2031.", Support.CONTRADICTED),
    ],
)
def test_only_what_the_source_makes_false_is_contradicted(claim: str, source: str, support: Support) -> None:
    assert judge(claim, source).support is support


def test_words_that_the_source_lacks_leave_a_claim_open_to_a_judge_of_meaning() -> None:
    source = "Ferries between the islands of the coast carry mail, parcels, cars and passengers daily."
    judged = judge("Ferries between the islands of the coast carry mail, parcels, lorries and passengers.", source)
    assert judged.support is not Support.SUPPORTED
    assert "lorries" in judged.missing


LOANS = "Loans to dealers rose from €7 million to €9 million in 2031."
AUDIT = "Falk Revision audited the statements in accordance with the standards of the PCAOB."
MOTION = "Ms. Vinter moved that the pier be kept until May, seconded by Ms. Lund."
HEARING = "The board heard the pilots of the coast before it set the fee."
PIER = "The pier of Brakstad was leased by Norrtug to Vassvik Rederi in June."


@pytest.mark.parametrize(
    ("claim", "source", "is_true"),
    [
        ("Loans to dealers rose to €9 million from €7 million in 2031.", LOANS, True),
        ("Loans from dealers rose from €7 million to €9 million in 2031.", LOANS, False),
        ("Loans to dealers rose from €9 million to €7 million.", LOANS, False),
        ("Loans to dealers rose by €9 million in 2031.", LOANS, False),
        ("Norrtug leased the pier of Brakstad to Vassvik Rederi in June.", PIER, True),
        ("The pier of Brakstad was leased to Vassvik Rederi by Norrtug in June.", PIER, True),
        ("The pier of Brakstad was leased by Vassvik Rederi to Norrtug in June.", PIER, False),
        ("Claims against pilots were settled.", "Claims by pilots were settled in June.", False),
        ("In June Norrtug succeeded Ada Vinter.", "Ada Vinter succeeded Norrtug in June.", False),
        ("Norrtug was succeeded by Ada Vinter in June.", "Ada Vinter succeeded Norrtug in June.", True),
        ("Ada Vinter was succeeded by Norrtug in June.", "Ada Vinter succeeded Norrtug in June.", False),
        ("The statements are audited by the PCAOB.", AUDIT, False),
        ("The statements were audited by Falk Revision.", AUDIT, True),
        ("Ms. Vinter moved that the pier be kept, seconded by Ms. Lund.", MOTION, True),
        ("Ms. Lund moved that the pier be kept, seconded by Ms. Vinter.", MOTION, False),
        ("The board heard the pilots before it set the fee.", HEARING, True),
        ("The board set the fee before it heard the pilots.", HEARING, False),
        ("Norrtug sold Rederi to Vassvik in June.", "Norrtug sold Vassvik to Rederi in June.", False),
        ("In June Norrtug sold Vassvik to Rederi.", "Norrtug sold Vassvik to Rederi in June.", True),
        ("Coal goes from Brakstad to Vassvik.", "Coal goes from Vassvik to Brakstad.", False),
        ("Coal goes to Brakstad from Vassvik.", "Coal goes from Vassvik to Brakstad.", True),
        ("Loans to Vassvik and Rederi rose.", "Loans to Rederi and Vassvik rose in June.", True),
        ("Ice melted because tolls fell.", "Tolls fell because ice melted.", False),
        ("Because ice melted, tolls fell.", "Tolls fell because ice melted.", True),
        ("If the pier opens, the ice melts.", "If the ice melts, the pier opens.", False),
        ("The pier opens if the ice melts.", "If the ice melts, the pier opens.", True),
        ("Tolls rose after the flood.", "After the flood, tolls rose.", True),
        ("Rent exceeds interest on the loan.", "Interest on the loan exceeds rent.", False),
    ],
)
def test_who_acts_on_whom_and_what_comes_from_where_are_kept(claim: str, source: str, is_true: bool) -> None:
    check(claim, source, is_true=is_true)


TOLLS = "We expect tolls of between €9 million and €11 million in 2031."
PILOT = "The pilot shall inform the harbour master of every delay."
BERTH = "The lessee may cancel the berth within 14 days, and shall pay a fee of €90."
SLUICE = "The insurer alleges that Norrtug neglected the sluice. Norrtug closed the sluice in May."
CRANE = "Norrtug repaired the crane in 2031."


@pytest.mark.parametrize(
    ("claim", "source", "is_true"),
    [
        ("Tolls of between €9 million and €11 million are expected in 2031.", TOLLS, True),
        ("Tolls were between €9 million and €11 million in 2031.", TOLLS, False),
        ("The pilot must inform the harbour master of every delay.", PILOT, True),
        ("The pilot informs the harbour master of every delay.", PILOT, True),
        ("The pilot informed the harbour master of every delay.", PILOT, False),
        ("The pilot may inform the harbour master of every delay.", PILOT, False),
        ("The lessee has the right to cancel the berth within 14 days.", BERTH, True),
        ("The lessee must cancel the berth within 14 days.", BERTH, False),
        ("The lessee cancelled the berth within 14 days.", BERTH, False),
        ("The lessee must pay a fee of €90.", BERTH, True),
        ("Norrtug closed the sluice in May.", SLUICE, True),
        ("Norrtug neglected the sluice.", SLUICE, False),
        ("Norrtug is alleged to have neglected the sluice.", SLUICE, True),
        ("Norrtug planned to repair the crane in 2031.", CRANE, False),
        ("Norrtug had to repair the crane in 2031.", CRANE, False),
        ("The tug must not pass the bridge.", "The tug may not pass the bridge at night.", True),
        ("The tug will pass the bridge.", "The tug is likely to pass the bridge.", False),
        ("The tug will pass the bridge.", "The tug is expected to pass the bridge.", True),
        ("Wages rose in May.", "Wages in the port rose in May.", True),
    ],
)  # fmt: skip
def test_what_is_expected_allowed_owed_or_alleged_is_not_told_as_done(claim: str, source: str, is_true: bool) -> None:
    check(claim, source, is_true=is_true)


CROSSES = "Use of the quays was nearly 90% at Varna, just over 75% at Lodz and 40% in the United States."
PLANS = (
    "The pier brought in €7 million in 2031 and €9 million in 2032; the ferry made 4 trips in May, and sank in June."
)
LINES = "The loan of Norrtug bears 4% and ends in 2038; the notes bear a fixed rate of 5.5% and end in 2040."
QUAYS = "Norrtug kept the ferries, and Vassvik Rederi received the pilots along with €24 million of debt."
RATES = (
    "The toll on lorries was a loss of 12.2% and 11.3% in May and June of 2031, respectively, and a gain of 10.9% and "
    "2.1% in May and June of 2030, respectively."
)
FEES = "Fees for the use of quays were €396 and €295 in the years 2032 and 2031."
PAUSE = "Tolls (of lorries and cars), which Vassvik collects and Norrtug counts, were €4 million, and fines €2 million."


@pytest.mark.parametrize(
    ("claim", "source", "is_true"),
    [
        ("Use of the quays was just over 75% at Lodz.", CROSSES, True),
        ("At Lodz, use of the quays was just over 75%, and 40% in the United States.", CROSSES, True),
        ("Use of the quays was just over 75% at Varna.", CROSSES, False),
        ("Use of the quays was nearly 90% in the United States.", CROSSES, False),
        ("Use of the quays was just over 75% at Varna and nearly 90% at Lodz.", CROSSES, False),
        ("The pier brought in €7 million in 2031 and €9 million in 2032.", PLANS, True),
        ("The pier brought in €9 million in 2031.", PLANS, False),
        ("The ferry sank in June.", PLANS, True),
        ("The pier made 4 trips in May.", PLANS, False),
        ("The ferry brought in €7 million in 2031.", PLANS, False),
        ("The notes bear a fixed rate of 5.5%.", LINES, True),
        ("The loan of Norrtug bears a fixed rate of 5.5%.", LINES, False),
        ("The loan of Norrtug ends in 2038.", LINES, True),
        ("The loan of Norrtug ends in 2040.", LINES, False),
        ("Norrtug kept the ferries.", QUAYS, True),
        ("Norrtug kept the pilots.", QUAYS, False),
        ("Vassvik Rederi received the pilots.", QUAYS, True),
        ("Norrtug received €24 million of debt.", QUAYS, False),
        ("Tolls were €4 million.", PAUSE, True),
        ("Tolls of lorries and cars were €4 million.", PAUSE, True),
        ("Fines were €4 million.", PAUSE, False),
        ("Costs rose by 4%.", "Prices fell by 7%, while tolls rose by 12%, so that costs grew by 4%.", True),
        ("Tolls rose by 4%.", "Prices fell by 7%, while tolls rose by 12%, so that costs grew by 4%.", False),
        ("Tolls rose to €9 million in May.", "Tolls rose from €7 million in April to €9 million in May.", True),
        ("Tolls rose to €9 million in April.", "Tolls rose from €7 million in April to €9 million in May.", False),
        (RATES, RATES, True),
        (RATES.replace("12.2% and 11.3%", "11.3% and 12.2%"), RATES, False),
        (FEES, FEES, True),
        (FEES.replace("€396 and €295", "€295 and €396"), FEES, False),
        ("Norrtug sold between 4 and 6 tugs in May.", "In May Norrtug sold between 4 and 6 tugs and 3 piers.", True),
    ],
)  # fmt: skip
def test_half_of_one_statement_and_half_of_another_are_none(claim: str, source: str, is_true: bool) -> None:
    check(claim, source, is_true=is_true)


SHARE = "The share of lorries declined from 14.6% in May to 13.9% in June because of higher fees."
BACK = "The pilot paid the lessee, and the lessee paid the pilot."
RANGE = "We expect tolls of between €9 million and €11 million."
SALES = "Tolls were €9 million in the port in 2032 and €7 million in 2031."


@pytest.mark.parametrize(
    ("claim", "source", "is_true"),
    [
        ("The company expects tolls to fall.", "We expect tolls to fall.", True),
        ("In Varna, the pilots of Norrtug had 30 boats.", "Pilots of Norrtug had 20 boats in Lodz, 30 in Varna.", True),
        ("In 2031 most pilots passed the test.", "Most of the pilots passed the test in 2031, but five left.", True),
        ("Tolls rose from €7 million in 2031 to €9 million in 2032.", SALES, True),
        ("Tolls fell from €7 million in 2031 to €9 million in 2032.", SALES, False),
        ("Tolls fell from €9 million in 2032 to €7 million in 2031.", SALES, True),
        ("Tolls rose to €9 million in 2032.", SALES, False),
        ("We expect tolls of €9 million.", RANGE, False),
        ("We expect tolls of €9 million to €11 million.", RANGE, True),
        ("We expect tolls of €9 million.", "We expect tolls of €9–11 million.", False),
        ("We expect tolls of at least €9 million.", "We expect tolls of at least €9 million to be paid.", True),
        ("Tolls rose to €9 million.", "Tolls rose from €7 million to €9 million, in spite of a reduced fee.", True),
        ("The ferry sank on December 31.", "The ferry sank in Varna on Dec 31.", True),
        ("The ferry sank on November 30.", "The ferry sank in Varna on Dec 30.", False),
        ("On 9 of 12 days, the tug beat the ferry.", "The tug beat the ferry on 9 of 12 days but lost the last.", True),
        ("The share of lorries fell to 13.9% in June.", SHARE, True),
        ("The share of lorries rose to 13.9% in June.", SHARE, False),
        (BACK, BACK, True),
        ("Tolls were €9 million in the first quarter of 2031.", "Tolls were €9 million in Q1 2031.", True),
        ("Tolls were €9 million in the second quarter of 2031.", "Tolls were €9 million in Q1 2031.", False),
        ("Tolls were €9 million in Q2 2031.", "Tolls were €9 million in the first half of 2031.", False),
        ("Tolls were €9 million in the first half of 2031.", "Tolls were €9 million in H1 of 2031.", True),
    ],
)  # fmt: skip
def test_the_same_in_another_order_or_read_off_its_figures(claim: str, source: str, is_true: bool) -> None:
    check(claim, source, is_true=is_true)


SHIPS = "Lindmark owned 815, 795 and 782 ships at August 29, 2021, August 30, 2020 and September 1, 2019, respectively."
FARES = "In the north, fares and tolls were 5.2 million and 3.1 million euros, respectively."


@pytest.mark.parametrize(
    ("claim", "source", "is_true"),
    [
        ("Lindmark owned 815 ships at August 29, 2021.", SHIPS, True),
        ("Lindmark owned 815 ships in 2021.", SHIPS, True),
        ("Lindmark owned 795 ships in 2020 and 815 in 2021.", SHIPS, True),
        ("Lindmark owned 815 ships at August 30, 2020.", SHIPS, False),
        ("Lindmark owned 815 ships at August 29, 2021, August 30, 2020 and September 1, 2019.", SHIPS, False),
        ("Lindmark owned 815 and 782 ships in 2021 and 2020, respectively.", SHIPS, False),
        ("Fares were 5.2 million euros.", FARES, True),
        ("Tolls were 3.1 million euros.", FARES, True),
        ("Tolls were 5.2 million euros.", FARES, False),
        ("Fares and tolls were 5.2 million and 3.1 million euros.", FARES, True),
    ],
)  # fmt: skip
def test_values_belong_to_the_years_and_subjects_that_respectively_gives_them(
    claim: str, source: str, is_true: bool
) -> None:
    check(claim, source, is_true=is_true)
