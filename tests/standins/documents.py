"""Small documents of our own, in English and Korean.

Does not know who reads them.
"""

from pathlib import Path

TIDES = {
    "lagoon.md": """# The lagoon at Swale

The lagoon at Swale delivers 320 megawatts of tidal power to the grid. Its sixteen turbines were paid for by
the county, and tidal power at Swale costs 92 euros for each megawatt hour. Divers clean the turbines twice a
year.
""",
    "barrage.md": """# The barrage of Ouseport

The barrage of Ouseport has made tidal power since 1987 and costs 41 euros for each megawatt hour. Its gates
were replaced in 2011 at a price of 60 million euros. Silt behind the barrage limits tidal power in dry years.
""",
    "stream.md": """# Turbines in the Pentle strait

Free-standing turbines in the Pentle strait cost 210 euros for each megawatt hour of tidal power. Storms stop
the turbines on about thirty days a year. The cable to the shore is the part that fails most often.
""",
    "harbour.md": """# A harbour wall that pays

The harbour wall at Merrow carries small tidal power turbines that cost 130 euros for each megawatt hour.
Fishermen at Merrow say that the turbines keep seals away from the nets.
""",
}

CHEESE = {
    "cheese.md": """# Hard cheese

A hard cheese ripens for eighteen months in a cool cellar. The rind is brushed with brine every second week.
"""
}

HANOK = {
    "ondol.md": """# 온돌의 원리

온돌은 아궁이에서 데운 공기를 방바닥 아래 고래로 보내 바닥을 데우는 난방 방식이다. 구들장은 열을 오래 머금어
불을 끈 뒤에도 여덟 시간 동안 방을 따뜻하게 한다. 굴뚝은 연기를 집 밖으로 내보낸다.
""",
    "giwa.md": """# 기와 지붕

한옥의 기와 지붕은 흙을 구워 만든 기와를 얹어 비를 막는다. 처마는 여름 햇빛을 가리고 겨울 햇빛을 들인다.
""",
    "maru.md": """# 대청마루

대청마루는 바람이 통하도록 바닥을 띄운 마루로, 여름에 한옥을 시원하게 한다. 온돌은 겨울에 한옥을 따뜻하게 하는
난방 방식이고 마루는 여름을 위한 공간이다.
""",
}


def written(place: Path, documents: dict[str, str]) -> str:
    """The documents as files; the folder's name."""
    place.mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        (place / name).write_text(text, "utf-8")
    return str(place)


QUESTION = "How do tidal barrages compare with offshore wind?"

KOREAN_QUESTION = "조력 발전소는 전기를 어떻게 만드나요?"

DOCUMENTS = {
    "tides.md": """# Tidal power

A tidal barrage stores water behind a dam and lets it out through turbines when the tide has fallen. \
The barrage at Grey Sound has a capacity of 240 megawatts and was opened in 2011.

A tidal barrage can be planned for years ahead, since the tide can be computed. \
Its main limits are the cost of the dam and the silt that gathers behind it.
""",
    "wind.md": """# Wind at sea

Offshore wind turbines reach a capacity factor of about 45 percent in the northern basin. \
A tidal barrage reaches about 25 percent, because its turbines stand still for half of the day.

Offshore wind is cheaper to build than a tidal barrage, but its output follows the weather.
""",
    "조력.md": """# 조력 발전

조력 발전소는 밀물 때 바닷물을 가두었다가 썰물 때 내보내며 전기를 만든다. \
조력 발전소는 물때를 계산할 수 있어서 발전량을 미리 알 수 있다.

댐 안쪽에 쌓이는 흙은 조력 발전소의 가장 큰 문제로 꼽힌다.
""",
}


def stocked(folder: Path) -> Path:
    """The folder, made and filled."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, "utf-8")
    return folder
