import {
  storedInternSettingsSchema,
  type Decision,
  type InputState,
  type RunEnding,
  type InternStatus,
  type RunState,
  type StepKind,
  type StepState,
} from '../../resources/interns.ts';
import { integer, json, nullable, text, textOf } from '../../resources/columns.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';

const settings = json(storedInternSettingsSchema);

/** A saved agent. */
const interns = {
  id: text,
  workspace_id: text,
  /** The user of the key that made it, or the key itself. */
  creator_id: text,
  creator_key_hash: text,
  name: text,
  description: nullable(text),
  instructions: text,
  /** Null: the default of the workspace or of the gateway. */
  model: nullable(text),
  settings,
  version: integer,
  status: textOf<InternStatus>(),
  /** Of provisioning, from 1; null: none is under way. */
  step: nullable(integer),
  failure: nullable(text),
  /** Of the key that pays for its runs. No text has this digest: it is of no key that could be sent. */
  key_hash: text,
  created_at_ms: integer,
  updated_at_ms: integer,
};
export type InternRow = RowOf<typeof interns>;
export type InternsTable = TableOf<typeof interns>;
export const internRows = createRowMapper(interns);

/** What a run goes by, whatever is changed meanwhile. */
const versions = {
  intern_id: text,
  version: integer,
  instructions: text,
  model: nullable(text),
  settings,
  created_at_ms: integer,
};
export type InternVersionRow = RowOf<typeof versions>;
export type InternVersionsTable = TableOf<typeof versions>;
export const internVersionRows = createRowMapper(versions);

/** What a call with an idempotency key has made. */
const calls = { id: text, body_hash: text, subject_id: text, expires_at_ms: integer };
export type InternCallRow = RowOf<typeof calls>;
export type InternCallsTable = TableOf<typeof calls>;
export const internCallRows = createRowMapper(calls);

const sessions = {
  intern_id: text,
  id: text,
  /** Always empty: what it was about is read from its first run, whose texts are encrypted. */
  title: text,
  first_run_id: nullable(text),
  /** The key that began it. */
  key_hash: text,
  created_at_ms: integer,
  last_at_ms: integer,
};
export type InternSessionRow = RowOf<typeof sessions>;
export type InternSessionsTable = TableOf<typeof sessions>;
export const internSessionRows = createRowMapper(sessions);

const runs = {
  id: text,
  intern_id: text,
  session_id: text,
  version: integer,
  run_trigger: textOf<'chat' | 'api' | 'schedule'>(),
  state: textOf<RunState>(),
  /** How often it was given to a job: each time under another id. */
  turn: integer,
  /** Of its last step; 0: none. */
  step: integer,
  spent_nano_usd: integer,
  prompt_tokens: integer,
  completion_tokens: integer,
  /** Of its time, without waits. */
  left_ms: integer,
  approval_mode: textOf<'manual' | 'self-drive'>(),
  /** Of what works on it: no other writes to it until the next one has taken it. */
  worker: nullable(text),
  /** Why it is done: by itself, or by a limit. */
  ending: nullable(textOf<RunEnding>()),
  error: nullable(text),
  created_at_ms: integer,
  updated_at_ms: integer,
  finished_at_ms: nullable(integer),
  /** That began it. */
  schedule_id: nullable(text),
};
export type InternRunRow = RowOf<typeof runs>;
export type InternRunsTable = TableOf<typeof runs>;
export const internRunRows = createRowMapper(runs);

const steps = {
  run_id: text,
  n: integer,
  kind: textOf<StepKind>(),
  /** Of the function; of a step of the model, the model. */
  name: text,
  /** As the model named its call; empty: a step of the model. */
  call_id: text,
  state: textOf<StepState>(),
  /** How often it was started. */
  attempts: integer,
  cost_nano_usd: integer,
  generation_id: nullable(text),
  created_at_ms: integer,
  updated_at_ms: integer,
};
export type InternStepRow = RowOf<typeof steps>;
export type InternStepsTable = TableOf<typeof steps>;
export const internStepRows = createRowMapper(steps);

/** What a person is to decide, or has decided. */
const inputs = {
  id: text,
  intern_id: text,
  session_id: text,
  run_id: text,
  step: integer,
  kind: textOf<'permission' | 'question'>(),
  tool: text,
  /** Of the tool and its input: what is allowed is this, and nothing else. */
  input_hash: text,
  state: textOf<InputState>(),
  decision: nullable(textOf<Decision>()),
  answered_by: nullable(text),
  expires_at_ms: integer,
  created_at_ms: integer,
  answered_at_ms: nullable(integer),
};
export type InternInputRow = RowOf<typeof inputs>;
export type InternInputsTable = TableOf<typeof inputs>;
export const internInputRows = createRowMapper(inputs);

/** When an agent runs by itself; what it then does is in its settings. */
const schedules = {
  intern_id: text,
  id: text,
  cron: text,
  tz: text,
  /** Null: it is off or paused, or never comes. */
  due_at_ms: nullable(integer),
  /** It was made, changed or resumed: earlier failures do not count. */
  since_ms: integer,
  paused_at_ms: nullable(integer),
};
export type InternScheduleRow = RowOf<typeof schedules>;
export type InternSchedulesTable = TableOf<typeof schedules>;
export const internScheduleRows = createRowMapper(schedules);

/** A sealed text of a run: what a caller, a model or a tool has said. */
const texts = { id: text, intern_id: text, run_id: nullable(text), sealed: text, secret_id: text };
export type InternTextsTable = TableOf<typeof texts>;
