"""Words that say the same, so that a fair paraphrase is not taken for another statement.

A short list by hand, of the words reports are made of: it does not know all synonyms, and an unknown pair
counts as two different words. Each line is one idea; words are given as `words.stem` leaves them or in full.
"""

_ENGLISH = """
fall fell fallen drop decline decrease shrink shrank slump dip lower cut reduce reduction lessen diminish down
rise rose risen increase grow grew grown growth climb gain jump surge up expand raise boost
begin began begun start commence launch open opening
end ended finish complete completion close conclude stop cease shut
build built construct construction erect
make made produce production generate manufacture output
buy bought acquire acquisition purchase takeover
sell sold sale
show showed shown find found indicate demonstrate reveal report
use used using utilise utilize employ
big large huge major great
small little minor tiny
many numerous lots
important key crucial significant essential
help aid assist support
need require must necessary
keep kept maintain retain preserve hold held
give gave given provide supply deliver offer
get got receive obtain
say said state announce declare tell told
think thought believe consider
link associate association relate correlate correlation connect tie
cause lead led result due because trigger induce
build built construct
country nation state
company firm business corporation enterprise maker manufacturer
car vehicle automobile
house home dwelling
worker employee staff job
child children kid
person people human resident inhabitant citizen
doctor physician
illness disease sickness
death mortality die died dead fatality
year annual yearly annually
week weekly
month monthly
day daily
price cost charge expense
money fund funding
income revenue earning sales turnover
study research survey trial experiment investigation
result outcome finding
area region zone
town city
damage harm hurt
fast quick rapid speed
old aged worn
new recent
whole entire full
part portion section
about around roughly approximately circa nearly almost
half 50
power electricity energy
found founded establish create set
run ran operate operation
move moved shift relocate
stay remain
carry transport
allow permit let enable
prevent stop block avert
stay stood stand
lie located situated
hold contain store
live inhabit dwell
try attempt seek
plan intend aim
expect anticipate forecast project should due scheduled
possible possibly may might could perhaps potentially
avoid shun
beat defeat overcome outperform win won
teach teacher
service maintain inspect check
measure gauge
size scale extent
type kind sort
amount quantity volume
share proportion percentage
rate pace
happen occur took place
post mail letter
come came arrive arrival
go went gone leave left depart
replace substitute swap
choose chose select pick
join merge combine
repay repaid pay paid payment
write wrote written author
film movie picture
song track single
kill killed murder
war conflict
law act legislation statute
leader head chief
wife spouse husband
member part
music musical
team side club
game match
actor actress star
"""
_KOREAN = """
늘 늘어나 증가 상승 오르 올랐 올라 높아지 높아졌 확대 커지
줄 줄어들 감소 하락 내리 내렸 떨어지 떨어졌 낮추 낮아지 낮아졌 축소 줄이
시작 개시 착수
끝 종료 완료 마치 마무리
완공 준공
열 개장 개관 개업 문을
만들 생산 제조 제작 만든
인수 매입 사들
쓰 쓴 사용 이용 활용
관련 연관 상관 관계
원인 때문
발표 공개 밝히 밝혔 밝힌
크 커 큰 대규모
작 작은 소규모
회사 기업 업체
차 자동차 차량
사람 명 인구 주민
학교 교육기관
사망 죽 숨지 숨졌
연구 조사 실험
결과 성과
비용 가격 값 사업비 공사비
매출 수입
전기 전력
짓 지었 건설 세우 세웠
막 방지 예방
돕 도움 지원
살 거주 서식
가능 수
점검 정비
절반 반
늦 지연
""".strip()


def _grouped(text: str) -> dict[str, str]:
    groups: dict[str, str] = {}
    for line in text.strip().splitlines():
        words = line.split()
        for word in words:
            groups.setdefault(word, words[0])
    return groups


ENGLISH_GROUPS = _grouped(_ENGLISH)
KOREAN_GROUPS = _grouped(_KOREAN)
