"""What is wrong with a section in another language, and what is not."""

import pytest

from fathom.text.languages import describe_wrong_language

AS_ASKED = "the language of the question"
ENGLISH = "What does the plant at Grey Sound make in a year, and for whom?"
IN_ENGLISH = "The plant makes power for the town, and it has been run by the same people since it was opened."
IN_FRENCH = "La centrale produit de l'électricité pour les habitants de la ville et elle est dans le port."
IN_KOREAN = "그레이 사운드 발전소는 240 메가와트를 만든다고 알려져 있다."


@pytest.mark.parametrize(
    ("text", "language", "question", "wrong"),
    [
        (IN_FRENCH, AS_ASKED, ENGLISH, f"it is not written in {AS_ASKED}, but in French"),
        (IN_FRENCH, "English", "Qui ?", "it is not written in English, but in French"),
        (IN_FRENCH, " german", ENGLISH, "it is not written in  german, but in French"),
        (IN_ENGLISH, "Español", ENGLISH, "it is not written in Español, but in English"),
        (IN_KOREAN, "English", ENGLISH, "it is not written in English"),
        (IN_KOREAN, "nl", ENGLISH, "it is not written in nl"),
        (IN_ENGLISH, "Korean", ENGLISH, "it is not written in Korean"),
        (IN_ENGLISH, AS_ASKED, ENGLISH, ""),
        (IN_FRENCH, "fr", ENGLISH, ""),
        (IN_FRENCH, "Klingon", ENGLISH, ""),
        (IN_FRENCH, AS_ASKED, "Grey Sound plant output 2024", ""),
        (IN_FRENCH, AS_ASKED, f"{ENGLISH} Answer in French, please.", ""),
        (IN_KOREAN, AS_ASKED, f"{ENGLISH} Answer in Korean, please.", ""),
        (
            IN_FRENCH,
            "English",
            f"{ENGLISH} Answer in French, please.",
            "it is not written in English, but in French",
        ),
    ],
)
def test_another_language_is_named_where_it_is_sure(
    text: str, language: str, question: str, wrong: str
) -> None:
    assert describe_wrong_language(text, language, question) == wrong


@pytest.mark.parametrize(
    "question",
    [
        "Combien coûte une pompe à chaleur dans le port ? Répondez en anglais.",
        "Was kostet eine Wärmepumpe im Jahr 2024? Antworte auf Englisch.",
        "¿Qué bombas de calor son mejores para el frío? Responde en inglés.",
        "Quali sono i costi delle pompe di calore? Rispondi in inglese.",
        "Quais são os custos das bombas de calor? Responda em inglês.",
        "Wat kost een warmtepomp van het merk? Antwoord in het Engels.",
        "그레이 사운드 발전소는 일 년에 얼마나 많은 전기를 만드나? 영어로 답해 줘.",
        "그레이 사운드 발전소는 일 년에 얼마나 많은 전기를 만드나? Answer in English.",
    ],
)
def test_who_asks_for_another_language_in_his_own_gets_it(question: str) -> None:
    first, _, _ = question.rpartition("? ")
    assert describe_wrong_language(IN_ENGLISH, AS_ASKED, f"{first}?")
    assert describe_wrong_language(IN_ENGLISH, AS_ASKED, question) == ""
