"""Languages in Latin letters: those that are told apart, and all that must not be called foreign."""

import pytest

from fathom.text.languages import DETECTED_LANGUAGES, detect_question_language, detect_wrong_language

SAID = {
    "English": "The plant was opened in 1966 and it has made power for the town since then, but there"
    " are plans to"
    " replace it with two smaller ones that can be run by fewer people.",
    "French": "La centrale a été ouverte en 1966 et elle produit depuis lors du courant pour la ville,"
    " mais on veut"
    " la remplacer par deux autres, plus petites, qui ne demandent pas autant de personnel.",
    "German": "Das Kraftwerk wurde 1966 eröffnet und versorgt seither die Stadt mit Strom, doch es soll"
    " durch zwei"
    " kleinere ersetzt werden, die auch von weniger Leuten zu betreiben sind.",
    "Spanish": "La central se abrió en 1966 y desde entonces da corriente a la ciudad, pero hay planes para"
    " cambiarla por dos más pequeñas que no necesiten a tanta gente en los turnos.",
    "Italian": "La centrale è stata aperta nel 1966 e da allora dà corrente alla città, ma si pensa di"
    " sostituirla"
    " con due più piccole che non hanno bisogno di tante persone per i turni.",
    "Portuguese": "A central foi aberta em 1966 e desde então dá corrente à cidade, mas há planos para a"
    " trocar por"
    " duas mais pequenas que não precisem de tantas pessoas nos turnos da noite.",
    "Dutch": "De centrale werd in 1966 geopend en levert sindsdien stroom aan de stad, maar er zijn"
    " plannen om haar"
    " door twee kleinere te vervangen die met minder mensen kunnen draaien.",
}
PAIRS = [(one, other) for one in DETECTED_LANGUAGES for other in DETECTED_LANGUAGES if one != other]


@pytest.mark.parametrize(("wanted", "written"), PAIRS)
def test_two_sentences_in_another_language_are_noticed(wanted: str, written: str) -> None:
    assert detect_wrong_language(SAID[written], instead_of=wanted) == written


@pytest.mark.parametrize("language", DETECTED_LANGUAGES)
def test_a_text_in_the_language_asked_for_is_not_foreign(language: str) -> None:
    assert detect_wrong_language(SAID[language], instead_of=language) == ""
    assert detect_question_language(SAID[language]) == language


def test_one_sentence_of_usual_length_is_enough() -> None:
    said = (
        "La centrale de Grey Sound produit de l'électricité pour les habitants de la ville et des environs."
    )
    assert detect_wrong_language(said, instead_of="English") == "French"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "240 MW",
        "C'est la vie.",
        "The film La Vie en rose, by Olivier Dahan, is about Édith Piaf.",
        "Members: Universidad de la República, Banco de la Nación, Instituto Nacional de Estadística.",
        "Rio de Janeiro, Santiago de Compostela, Las Palmas de Gran Canaria, San Pedro de Macorís, Los"
        " Angeles",
        "Ludwig van Beethoven, Vincent van Gogh, Hugo de Vries, Johan de Witt, Willem van der Zwan",
        "The motto is “Liberté, égalité, fraternité, et que les lois soient les mêmes pour tous dans le"
        " pays”.",
        'He wrote: "Il n\'y a pas de hors-texte, et il ne faut pas que les mots le disent sans les autres."',
        "The law («les lois et les décrets sont publiés au journal officiel de la République») was passed.",
        'Run `for i in range(n): print(i, end="")` and then `del la, le, les, des, un, une` in the shell.',
        "```\ndel la, le, les, des, un, une, et, est, que, qui, dans, pour, pas\n```",
        "See https://example.org/le/la/les/des/du/de/un/une/et/est/que/qui/dans/pour/pas for more.",
        "GDP per capita, PPP (constant 2017 USD): 12,400; share of wind: 31 %; CO2 per kWh: 210 g.",
        "GPU: H100 SXM5 80 GB; RAM: 2 TB DDR5; NVMe: 8x 3.84 TB; NIC: 400 Gb/s; OS: Debian.",
        "Das Auto, Kindergarten, Zeitgeist, Schadenfreude and Weltschmerz are words that English has"
        " from German.",
        "Par exemple is French for for example, and de facto, ad hoc, vis-à-vis and per se are used in"
        " English too.",
        "El Niño and La Niña are the warm and the cool phase of a pattern across the tropical Pacific.",
        "LE MONDE EST À NOUS ET LES AUTRES SONT DANS LA RUE POUR LE DIRE",
        "la la la la la la la la la la la la",
        "Kraftværket blev åbnet i 1966 og har siden leveret strøm til byen, men der er planer om at"
        " erstatte det"
        " med to mindre, som færre folk kan drive, og som er billigere for dem der bor i byen.",
        "Kraftverket öppnades 1966 och har sedan dess försett staden med ström, men det finns planer på"
        " att ersätta"
        " det med två mindre som kan drivas av färre människor.",
        "Elektrownia została otwarta w 1966 roku i od tego czasu dostarcza prąd do miasta, ale są plany,"
        " aby ją"
        " zastąpić dwiema mniejszymi.",
        "Pembangkit itu dibuka pada tahun 1966 dan sejak itu memasok listrik ke kota, tetapi ada rencana"
        " untuk"
        " menggantinya dengan dua yang lebih kecil.",
        "발전소는 1966년에 문을 열었고 그 뒤로 도시에 전기를 보낸다.",
    ],
)
def test_names_quotations_code_figures_and_other_languages_are_not_called_foreign(text: str) -> None:
    assert detect_wrong_language(text, instead_of="English") == ""


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What is the cost of heat pumps?", "English"),
        ("Who is the director of La Vie en rose?", "English"),
        ("Was kostet eine Wärmepumpe im Jahr 2024?", "German"),
        ("Combien coûte une pompe à chaleur en France ?", "French"),
        ("¿Qué bombas de calor son mejores para el frío?", "Spanish"),
        ("Quali sono i costi delle pompe di calore?", "Italian"),
        ("Quais são os custos das bombas de calor?", "Portuguese"),
        ("Wat kost een warmtepomp in Nederland?", "Dutch"),
        ("Heat pump costs 2024", ""),
        ("Who wrote En attendant Godot?", ""),
        ("Wer schrieb The Lord of the Rings?", ""),
        ("Hvad koster en varmepumpe i Danmark, og hvordan virker den?", ""),
        ("Quina és la capital de Catalunya i quants habitants té?", ""),
        ("", ""),
    ],
)
def test_a_question_whose_language_cannot_be_told_has_none(question: str, language: str) -> None:
    assert detect_question_language(question) == language


def test_nothing_is_foreign_to_a_language_without_a_list() -> None:
    assert (
        detect_wrong_language(SAID["French"], instead_of="")
        == detect_wrong_language(SAID["French"], instead_of="Danish")
        == ""
    )


@pytest.mark.parametrize("letter", ["a", "é", "_", "\u1100", "„", "“", "«", "`", '"'])
def test_a_letter_repeated_for_ever_says_nothing_and_takes_no_time(letter: str) -> None:
    assert detect_wrong_language(letter * 200_000, instead_of="English") == ""
