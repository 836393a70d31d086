"""Units of measure in English and Korean: their dimension and their size in base units."""

_TABLE = """
power 1 w watt watts 와트
power 1e3 kw kilowatt kilowatts 킬로와트
power 1e6 mw megawatt megawatts 메가와트
power 1e9 gw gigawatt gigawatts 기가와트
power 1e12 tw terawatt terawatts 테라와트
energy 1 wh watt-hour watt-hours
energy 1e3 kwh kilowatt-hour kilowatt-hours 킬로와트시
energy 1e6 mwh megawatt-hour megawatt-hours 메가와트시
energy 1e9 gwh gigawatt-hour gigawatt-hours 기가와트시
energy 1e12 twh terawatt-hour terawatt-hours 테라와트시
length 1e-9 nm nanometres nanometers 나노미터
length 1e-6 µm μm micrometres micrometers microns 마이크로미터
length 1e-3 mm millimetres millimeters millimetre 밀리미터
length 1e-2 cm centimetres centimeters centimetre 센티미터 센티
length 1 m metre metres meter meters 미터
length 1e3 km kilometre kilometres kilometer kilometers 킬로미터 킬로
length 1609.344 mile miles mi 마일
length 0.3048 foot feet ft 피트
length 0.0254 inch inches 인치
length 0.9144 yard yards 야드
area 1 m2 m² m^2 square-metre square-metres square-meter square-meters 제곱미터
area 1e6 km2 km² km^2 square-kilometre square-kilometres square-kilometer square-kilometers 제곱킬로미터
area 2589988 square-mile square-miles
area 0.092903 square-foot square-feet sqft sq-ft 제곱피트
area 100 are ares 아르
area 1e4 hectare hectares ha 헥타르
area 3.3058 평
area 4046.86 acre acres 에이커
volume 1 litre litres liter liters 리터
volume 0.1 dl decilitre decilitres 데시리터
volume 1e-3 ml millilitres milliliters 밀리리터
volume 1e3 m3 m³ m^3 cubic-metre cubic-metres cubic-meter cubic-meters 세제곱미터
volume 1e12 km3 km³ km^3 cubic-kilometre cubic-kilometres cubic-kilometer cubic-kilometers
volume 3.785 gallon gallons 갤런
volume 158.987 barrel barrels 배럴
mass 1e-6 µg μg micrograms 마이크로그램
mass 1e-3 mg milligram milligrams 밀리그램
mass 1 g gram grams 그램
mass 453.59237 lb lbs
mass 6350.29 st stone
mass 28.3495 oz ounce ounces 온스
mass 1e3 kg kilogram kilograms kilo kilos 킬로그램
mass 1e6 t tonne tonnes ton tons 톤
time 1e-3 ms millisecond milliseconds 밀리초
time 1 s second seconds 초
time 60 minute minutes min 분
time 3600 hour hours h hr hrs 시간
time 86400 day days 일
time 604800 week weeks 주 주일
time 2629800 month months 개월 달
quarter 1 분기
time 31557600 year years yr yrs 년 해
time 315576000 decade decades
time 3155760000 century centuries
century 1 세기
degree 1 degree degrees ° 도
celsius 1 °c celsius degrees-celsius degree-celsius
fahrenheit 1 °f fahrenheit degrees-fahrenheit degree-fahrenheit
percent 1 % percent per-cent 퍼센트 프로
percent 0.1 ‰ permille per-mille 퍼밀
points 0.01 bp bps basis-point basis-points 베이시스포인트
points 1 %p point points percentage-point percentage-points pp %포인트 퍼센트포인트 포인트
information 1 byte bytes 바이트
information 1e3 kb kilobytes 킬로바이트
information 1e6 mb megabytes 메가바이트
information 1e9 gb gigabytes 기가바이트
information 1e12 tb terabytes 테라바이트
frequency 1 hz hertz 헤르츠
frequency 1e3 khz
frequency 1e6 mhz megahertz
frequency 1e9 ghz gigahertz 기가헤르츠
speed 1 km/h kph 시속
speed 1.609344 mph
speed 3.6 m/s
dollar 1 dollar dollars usd $ us$ 달러 불
dollar 1 캐나다달러 호주달러 홍콩달러
dollar 0.01 cent cents ¢ 센트
euro 1 euro euros eur € 유로
won 1 won krw ₩ 원
yen 1 yen jpy ¥ 엔
pound 1 pound pounds gbp £ 파운드
yuan 1 yuan cny renminbi rmb 위안
rupee 1 rupee rupees inr 루피
times 1 times fold 배 곱절
persons 1 명 사람 인
things 1 개
machines 1 대
cases 1 건
places 1 곳 군데
animals 1 마리
houses 1 채
ordinal 1 번째 차 위 호
age 1 세 살
"""

UNITS: dict[str, tuple[str, float]] = {}
for _line in _TABLE.strip().splitlines():
    _dimension, _factor, *_names = _line.split()
    for _name in _names:
        UNITS.setdefault(_name, (_dimension, float(_factor)))


def is_same_measure(left: str, right: str) -> bool:
    """Tell whether two dimensions are comparable; no dimension fits any."""
    if left == right or not left or not right:
        return True
    return {left, right} <= {"degree", "celsius"} or {left, right} <= {"degree", "fahrenheit"}
