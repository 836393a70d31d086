"""The layout of a PostgreSQL database, by version: our tables, and what goes by itself.

Does not know LangGraph's tables but for the rows that are superseded; its saver makes and migrates them.
The rules are those of `fathom.storage.database`, which says why.
"""

from fathom.storage.tables import postgres_tables

_INSIDE = """
    {0}.thread_id = new.thread_id and strpos({0}.checkpoint_ns, ':') > 0
    and (new.checkpoint_ns = '' or starts_with({0}.checkpoint_ns, new.checkpoint_ns || '|'))
"""
_OLDER = 'checkpoint_id collate "C" < new.checkpoint_id'

_TRIGGERS = f"""
create or replace function fathom_prune_superseded() returns trigger language plpgsql as $$
begin
    delete from checkpoint_writes where thread_id = new.thread_id and checkpoint_ns = new.checkpoint_ns
        and checkpoint_id = new.parent_checkpoint_id;
    delete from checkpoint_writes w where {_INSIDE.format("w")} and {_OLDER};
    delete from checkpoints c where {_INSIDE.format("c")} and {_OLDER};
    delete from checkpoint_blobs b where {_INSIDE.format("b")} and not exists (
        select 1 from checkpoints c where c.thread_id = b.thread_id and c.checkpoint_ns = b.checkpoint_ns);
    if strpos(new.checkpoint_ns, ':') > 0 then
        delete from checkpoints where thread_id = new.thread_id and checkpoint_ns = new.checkpoint_ns
            and {_OLDER};
        delete from checkpoint_blobs b where b.thread_id = new.thread_id
            and b.checkpoint_ns = new.checkpoint_ns
            and b.version is distinct from new.checkpoint -> 'channel_versions' ->> b.channel;
    end if;
    return null;
end $$;
create or replace trigger fathom_prune_superseded after insert on checkpoints
    for each row execute function fathom_prune_superseded();

-- This saver packs writes in a thread: they may come after the checkpoint that contains them, and stay out.
create or replace function fathom_skip_late_output() returns trigger language plpgsql as $$
begin
    if exists (select 1 from checkpoints c where c.thread_id = new.thread_id
            and c.checkpoint_ns = new.checkpoint_ns and c.parent_checkpoint_id = new.checkpoint_id)
        or strpos(new.checkpoint_ns, ':') > 0 and exists (
            select 1 from checkpoints c where c.thread_id = new.thread_id and c.checkpoint_ns = ''
            and c.checkpoint_id collate "C" > new.checkpoint_id)
    then
        return null;
    end if;
    return new;
end $$;
create or replace trigger fathom_skip_late_output before insert on checkpoint_writes
    for each row when (new.idx >= 0) execute function fathom_skip_late_output();

create or replace function fathom_drop_partial_output() returns trigger language plpgsql as $$
begin
    delete from checkpoint_writes where thread_id = new.thread_id and checkpoint_ns = new.checkpoint_ns
        and checkpoint_id = new.checkpoint_id and task_id = new.task_id and idx >= 0;
    return null;
end $$;
create or replace trigger fathom_drop_partial_output after insert or update on checkpoint_writes
    for each row when (new.channel = '__error__') execute function fathom_drop_partial_output();

-- The sum of a batch changes with the payments of its runs, in the same transaction, whoever pays.
create or replace function fathom_add_to_batch() returns trigger language plpgsql as $$
declare
    paid bigint := 0;
    payer text;
begin
    if tg_op <> 'DELETE' then paid := paid + new.nano; payer := new.run; end if;
    if tg_op <> 'INSERT' then paid := paid - old.nano; payer := old.run; end if;
    update batches set nano = nano + paid
        where name = (select batch from batch_runs where run = owner(payer)) and paid <> 0;
    return null;
end $$;
create or replace trigger fathom_add_to_batch after insert or update or delete on payments
    for each row execute function fathom_add_to_batch();
"""  # noqa: S608 - all words are our own

# Whoever follows a run listens under its name.
_NOTICES = """
create or replace function fathom_tell_of_event() returns trigger language plpgsql as $$
begin
    perform pg_notify('fathom_' || new.run, new.number::text);
    return null;
end $$;
create or replace trigger fathom_tell_of_event after insert on events
    for each row execute function fathom_tell_of_event();
"""

# What is kept by run has the name of its thread, and behind a stroke the name its branches share.
_OWNER = """
create or replace function owner(run text) returns text language sql immutable
    as $$ select split_part(run, '/', 1) $$;
"""

# Each step brings a database from the version before to the next one. A released step stays as it is.
_STEPS = (postgres_tables() + _OWNER + _TRIGGERS + _NOTICES,)
LAYOUT_VERSION = len(_STEPS)
_NOTE = f"""
create table if not exists fathom_layout (version integer not null);
delete from fathom_layout;
insert into fathom_layout values ({LAYOUT_VERSION});
"""  # noqa: S608 - a number of ours


def layout_script(version: int) -> str:
    """Return the words that bring a database from this version to ours."""
    return "".join(_STEPS[version:]) + _NOTE
