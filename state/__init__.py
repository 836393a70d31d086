"""Records, reducers and the state of the graph."""

from pydantic import BaseModel

from fathom.state.depth import (
    BREADTH as BREADTH,
    ENDLESS_USD as ENDLESS_USD,
    LEVELS as LEVELS,
    MAX_ROUNDS as MAX_ROUNDS,
    ROUNDS as ROUNDS,
    USUAL_USD as USUAL_USD,
    Depth as Depth,
    Orchestration as Orchestration,
    Review as Review,
    Strategy as Strategy,
)
from fathom.state.planning import (
    Change as Change,
    EarlierRun as EarlierRun,
    Fork as Fork,
    RunUpdate as RunUpdate,
    ThreadKnowledge as ThreadKnowledge,
    ThreadTurn as ThreadTurn,
)
from fathom.state.evidence import (
    ClaimDraft as ClaimDraft,
    Contradiction as Contradiction,
    ContradictionSide as ContradictionSide,
    Control as Control,
    ControlKind as ControlKind,
    ControlTally as ControlTally,
    Difference as Difference,
    Finding as Finding,
    Relation as Relation,
    Ruling as Ruling,
    Settlement as Settlement,
    Tag as Tag,
    Check as Check,
    CheckName as CheckName,
    Gain as Gain,
    Gap as Gap,
    Hypothesis as Hypothesis,
    Judgement as Judgement,
    Reread as Reread,
    Rubric as Rubric,
    ENOUGH as ENOUGH,
    StopReason as StopReason,
    StopRule as StopRule,
)
from fathom.state.planning import (
    Direction as Direction,
    Effort as Effort,
    EffortKind as EffortKind,
    Forecast as Forecast,
    Lesson as Lesson,
    ReviewAnswer as ReviewAnswer,
    ThinkingTool as ThinkingTool,
    ThinkingToolName as ThinkingToolName,
)
from fathom.state.records import (
    SCOUT as SCOUT,
    Claim as Claim,
    Cost as Cost,
    Failure as Failure,
    Family as Family,
    Hit as Hit,
    LinkKind as LinkKind,
    Origin as Origin,
    Page as Page,
    Plan as Plan,
    Query as Query,
    Quote as Quote,
    Reason as Reason,
    Record as Record,
    Rejected as Rejected,
    Role as Role,
    SubQuestion as SubQuestion,
    Verdict as Verdict,
    dump_hits as dump_hits,
    load_hits as load_hits,
    short_hash as short_hash,
    short_id as short_id,
)
from fathom.state.report import (
    Block as Block,
    Calculation as Calculation,
    Citation as Citation,
    Edit as Edit,
    EditedText as EditedText,
    Fault as Fault,
    Heading as Heading,
    Operand as Operand,
    Outline as Outline,
    Priority as Priority,
    Repetition as Repetition,
    Report as Report,
    Section as Section,
    Sentence as Sentence,
    SentenceKind as SentenceKind,
    Status as Status,
    SummarySentence as SummarySentence,
)
from fathom.state.research import (
    MAX_QUESTION_CHARS as MAX_QUESTION_CHARS,
    SETTING_NAMES as SETTING_NAMES,
    Assignment as Assignment,
    BranchesOutput as BranchesOutput,
    BranchOutput as BranchOutput,
    Chapter as Chapter,
    ChapterOutput as ChapterOutput,
    PageOutput as PageOutput,
    Reading as Reading,
    ReadingOutput as ReadingOutput,
    ReadingRound as ReadingRound,
    ResearchInput as ResearchInput,
    ResearchState as ResearchState,
    RunState as RunState,
    Writing as Writing,
    WritingOutput as WritingOutput,
)
from fathom.state.run_config import (
    RunConfig as RunConfig,
)

# Checkpoints name a record by its module and class. This one name holds whichever file a class moves to; a
# class that is renamed needs a new layout of the database (`fathom.storage.database.LAYOUT_VERSION`).
for _kind in list(globals().values()):
    if isinstance(_kind, type) and issubclass(_kind, BaseModel) and _kind is not BaseModel:
        _kind.__module__ = __name__
del _kind
