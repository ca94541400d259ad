import { integer, json, nullable, text, textOf } from '../../resources/columns.ts';
import { runSettingsSchema, type EvaluationState, type ItemVerdict } from '../../resources/evaluations.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';

/** A list of questions. Its lines are a file under the id. */
const datasets = {
  id: text,
  name: text,
  /** Of the file: two versions of a dataset do not compare. */
  sha256: text,
  items: integer,
  /** Of them, those that a judge looks at. */
  judged_items: integer,
  size_bytes: integer,
  license: nullable(text),
  citation: nullable(text),
  created_at_ms: integer,
};
export type DatasetRow = RowOf<typeof datasets>;
export type EvaluationDatasetsTable = TableOf<typeof datasets>;
export const datasetRows = createRowMapper(datasets);

/** Why a run is paused or has failed. */
export type RunReason = 'requested' | 'cost_cap' | 'failures' | 'payer_limit' | 'payer_gone' | 'dataset_gone' | 'error';

const runs = {
  id: text,
  name: nullable(text),
  dataset_id: text,
  dataset_name: text,
  dataset_sha256: text,
  settings: json(runSettingsSchema),
  payer_key_hash: text,
  max_cost_nano_usd: integer,
  state: textOf<EvaluationState>(),
  reason: nullable(textOf<RunReason>()),
  error: nullable(text),
  /** How often it was given to a job: each time under another id. */
  turn: integer,
  /** Answers that it is to get. */
  units: integer,
  units_done: integer,
  spent_nano_usd: integer,
  created_at_ms: integer,
  updated_at_ms: integer,
  finished_at_ms: nullable(integer),
};
export type RunRow = RowOf<typeof runs>;
export type EvaluationRunsTable = TableOf<typeof runs>;
export const runRows = createRowMapper(runs);

/** What became of one answer. Its text is in the content log, under the generation, where that keeps it. */
const results = {
  run_id: text,
  /** The place of the item among those of the dataset, and of the model among those of the run. */
  item: integer,
  model: integer,
  repeat_no: integer,
  item_id: text,
  /** Null: the item is alone. */
  group_name: nullable(text),
  weight_ppm: integer,
  verdict: textOf<ItemVerdict>(),
  /** Null: not scored. */
  score_ppm: nullable(integer),
  /** Attempts so far. */
  attempts: integer,
  generation_id: text,
  judge_generation_id: nullable(text),
  /** SHA-256 of the text, in hexadecimal. */
  answer_hash: nullable(text),
  error: nullable(text),
  cost_nano_usd: integer,
  judge_cost_nano_usd: integer,
  latency_ms: integer,
  output_tokens: integer,
  created_at_ms: integer,
};
export type ResultRow = RowOf<typeof results>;
export type EvaluationResultsTable = TableOf<typeof results>;
export const resultRows = createRowMapper(results);

/** A score of a model that the catalog has from here: of a run that was published, or of a table that was imported. */
const scores = {
  id: text,
  source: textOf<'local' | 'imported'>(),
  run_id: nullable(text),
  model: text,
  metric: text,
  score_ppm: integer,
  low_ppm: nullable(integer),
  high_ppm: nullable(integer),
  items: nullable(integer),
  /** Of one item; null: unknown. */
  cost_nano_usd: nullable(integer),
  license: nullable(text),
  citation: nullable(text),
  /** A day: 2026-02-17. */
  measured_on: text,
  created_at_ms: integer,
};
export type ScoreRow = RowOf<typeof scores>;
export type EvaluationScoresTable = TableOf<typeof scores>;
export const scoreRows = createRowMapper(scores);
