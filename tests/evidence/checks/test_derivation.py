"""Figures and dates of a statement: in the evidence, derivable from it, or refused."""

import pytest

from fathom.evidence.checks.derivation import Passage, find_underived

LIST = "The plan names its problems:\n- cost\n- noise\n- delay\n- staff\n- trust"
DERIVED = [
    ("The plant delivers 0.32 GW.", Passage(("The plant delivers 320 MW.",))),
    ("He was 1 minute 55 seconds behind.", Passage(("| 3 | Luca Ferri | +1:55 |",))),
    ("연간 이익은 1억1200만~1억2000만 파운드로 보았다.", Passage(("Profit in the £112m–£120m range",))),
    ("The trip takes 90 minutes.", Passage(("The trip takes 1.5 hours.",))),
    ("About 18,000 more couples married.", Passage(("The number rose by 17,958.",))),
    ("Around three quarters agreed.", Passage(("75 percent of those asked agreed.",))),
    ("The plan names five problems.", Passage((LIST,))),
    ("It was the eighth drop: rates fell for 8 years.", Passage(("It was the eighth drop in a row.",))),
    ("The rate rose in 2024.", Passage(("The rate rose last year.",), date="2025-02-26")),
    ("In December 2025 the team saw little impact.", Passage(("We see little impact.",), date="2025-12-19")),
    ("Both sides use version 1.0.", Passage(("Client and server speak v1.0.",))),
    ("2025년 아기는 25만4500명이다.", Passage(("출생아 수: 25만 4,500명.",), title="2025년 통계")),
    ("2024년에는 전년보다 3.6% 늘었다.", Passage(("지난해 3.6% 늘었다.",), date="2025-02-26")),
    ("2021년 이후 4년 만에 0.8명대가 되었다.", Passage(("2021년 뒤로 네 해 만에 0.80명이다.",))),
    ("사망이 12만 명 많아 5년 연속 줄었다.", Passage(("Deaths led by 120,000, the fifth year running.",))),
    ("2025년 1분기에 늘었다.", Passage(("올해 1분기에 늘었다.",), date="2025-05-29")),
    ("세대의 몫은 한 개인의 일이 아니다.", Passage(("사람마다 다르다.",))),
    ("버스로 1시간 15분이 걸린다.", Passage(("버스로 75분이 걸린다.",))),
    ("The dam holds a quarter of a million litres.", Passage(("The dam holds 250,000 litres.",))),
    ("금리를 0.25%포인트 내렸다.", Passage(("The rate was cut by 25 basis points.",))),
    ("불량률은 1.2%다.", Passage(("불량률은 12‰이다.",))),
    ("응답자 10명 중 8명이 찬성했다.", Passage(("찬성은 80.4%였다.",))),
    ("입원은 60% 많았다.", Passage(("입원은 1.6배였다.",))),
    ("점포는 160만8000곳이다.", Passage(("| 점포 | 1,608 |",), around="| 구분 | 점포 수(천 곳) |")),
    ("다섯 팀 가운데 5개 구단이 넘었다.", Passage(("다섯 구단이 넘었다.",))),
    ("물가는 2%대로 올랐다.", Passage(("물가는 2.4%로 올랐다.",))),
    ("2026년 1월 22일에 시행된다.", Passage(("오는 22일 시행된다.",), date="2026-01-08")),
    ("COVID-19 delayed the works.", Passage(("The pandemic delayed the works.",))),
    ("2024년 1분기에 시작했다.", Passage(("'24.2월에 시작했다.",))),
    ("여건이 나아지면 0.85만큼 오른다.", Passage(("0.85만큼 높아질 수 있다.",))),
    ("One in six had never used it.", Passage(("Of 86 people, 14 had never used it.",))),
    ("Ten of the twelve sites failed.", Passage(("Two of the twelve sites passed; the others failed.",))),
    ("The lake holds 1.2 billion litres.", Passage(("The lake holds 1.2 million cubic metres.",))),
    ("The trip takes 90 minutes.", Passage(("The trip takes an hour and a half.",))),
    ("She is in her fifties.", Passage(("She is 54 and lives in Osby.",))),
    ("그는 50대다.", Passage(("그는 54세다.",))),
    ("It was the 30th fair.", Passage(("It was the thirtieth fair.",))),
    ("The season brought 1.1 million guests.", Passage(("The season brought 1,104,882 guests.",))),
    ("There were 600 in each arm.", Passage(("1,200 patients were split into two arms.",))),
    ("The water has 140 °F.", Passage(("The water has 60 °C.",))),
    ("The line was 18 months late.", Passage(("Due in June 2022, it opened in December 2023.",))),
    ("Each person costs $50.", Passage(("It costs $10 million for 200,000 people.",))),
    ("It applies since 1 January 2024.", Passage(("It applies since this year began.",), date="2024-05-02")),
    ("The 18th-century manor has rooms.", Passage(("The manor was built in 1764.",))),
    ("18세기에 지은 집이다.", Passage(("1764년에 지은 집이다.",))),
    ("일곱 곳이 있다.", Passage(("북문(1998), 물방앗골(2003), 항구(2007), 성곽, 역전, 과수원, 강변.",))),
    ("공사는 3년 6개월 걸린다.", Passage(("2026년 3월에 시작해 2029년 9월에 끝난다.",))),
    ("한 해에 60만 원을 받는다.", Passage(("매달 5만 원을 받는다.",))),
    ("인구는 3,633만 명이다.", Passage(("인구는 3천633만 명이다.",))),
    ("238,300 babies were born.", Passage(("출생아는 23만 8천300명이다.",))),
    ("반년 동안 운영한다.", Passage(("It runs for six months.",))),
    ("The mall has 57,700 square metres.", Passage(("The mall has 621,192 sq ft.",))),
    ("He lost about 60 kg.", Passage(("He lost 9 st 6 lb.",))),
    ("It supports five versions.", Passage(("It supports 3.7, 3.8, 3.9, 3.10, and 3.11.",))),
    ("Osby sold it in March 1998.", Passage(("It came in February 1998. A month later Osby sold it.",))),
    ("The rate fell in December 2024.", Passage(("In December the rate fell.",), date="2025-01-15")),
    ("He won eleven stages.", Passage(("He won five stages in 1931, four in 1932 and two in 1935.",))),
    ("1377명 많았다.", Passage(("전년에는 2만 2,201명이었다.",), around="2만 3,578명이었다.")),
    ("나머지는 4210억 원이다.", Passage(("8,940억 원과 8,710억 원이다.",), around="모두 2조 1,860억 원.")),
    ("It fell since October 2025.", Passage(("5개월째 줄었다.",), date="2026-03-18")),
    ("It rose from 2024 to 2025.", Passage(("2025년에는 전년보다 늘었다.",), date="2026-04-15")),
    ("자료가 2억5000만 건을 넘는다.", Passage(("| OpenAlex | 250M+ | free |",))),
    ("넓이는 650㎢가 넘는다.", Passage(("It covers over 251 sqmi.",))),
    ("It runs at 120 km/h.", Passage(("시속 120km로 달린다.",))),
    ("It rose in the first half of 2025.", Passage(("올해 상반기에 늘었다.",), date="2025-09-02")),
]  # fmt: skip
UNDERIVED = [
    ("The plant delivers 240 MW.", Passage(("The plant delivers 240 kW.",)), "240 MW"),
    ("The plant opened in 1967.", Passage(("The plant opened in 1966.",)), "1967"),
    ("The fee is 40 million dollars.", Passage(("The fee is 40 million euros.",)), "40 million dollars"),
    ("The plan names seven problems.", Passage((LIST,)), "seven"),
    ("Prices rose by 12.4 percent.", Passage(("Prices rose by 14.2 percent.",)), "12.4 percent"),
    ("인구 1만 명당 5.0명이다.", Passage(("인구 1천 명당 5.0명이다.",)), "1만 명"),
    ("정점은 2025년이다.", Passage(("정점은 2027년이다.",), date="2023-02-04"), "2025년"),
    (
        "2026년 11월 1일 기준이다.",
        Passage(("2025년 11월 1일 기준이다.",), date="2026-07-28"),
        "2026년 11월 1일",
    ),
    ("The fee is 2.5 cents.", Passage(("The fee is $2.50.",)), "2.5 cents"),
    ("It took 1 hour 20 minutes.", Passage(("It took 75 minutes.",)), "1 hour 20 minutes"),
    ("Version 1.5.7 is fast.", Passage(("Version 1.5.1 is fast.",)), "1.5.7"),
    ("The wall took 100,000 men.", Passage(("The wall took 260,000 men 21 years.",)), "100,000"),
    ("출생아는 6만 5,021명이다.", Passage(("1~3월 출생아는 6만 5,022명이다.",)), "6만 5,021명"),
    ("혼인은 23만 건이었다.", Passage(("혼인은 22만 2,412건이었다.",)), "23만 건"),
]


@pytest.mark.parametrize(("statement", "passage"), DERIVED)
def test_what_can_be_derived_is_not_refused(statement: str, passage: Passage) -> None:
    assert find_underived(statement, passage) == []


@pytest.mark.parametrize(("statement", "passage", "figure"), UNDERIVED)
def test_what_cannot_be_derived_is_named(statement: str, passage: Passage, figure: str) -> None:
    assert find_underived(statement, passage) == [figure]


def test_a_key_of_many_digits_is_no_number() -> None:
    assert find_underived("9" * 400, Passage(("1" * 400,))) == []
