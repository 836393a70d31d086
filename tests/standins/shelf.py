"""A small shelf of documents about power from the sea, for runs that search folders.

Does not know what is asked about them.
"""

from pathlib import Path

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
