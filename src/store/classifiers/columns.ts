import { classifierResource } from '../../resources/classifiers.ts';
import { integer, text } from '../../resources/columns.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';

const { dimensions } = classifierResource.columns;

/** The texts of a classifier, version by version: tags keep the version that gave them. */
const versions = {
  classifier_id: text,
  version: integer,
  model: text,
  prompt: text,
  dimensions,
  created_at_ms: integer,
};

const tags = {
  classifier_id: text,
  generation_id: text,
  version: integer,
  dimension: text,
  value: text,
  /** Of the generation. */
  created_at_ms: integer,
};

/** What a classifier did on one day, UTC. */
const days = {
  classifier_id: text,
  day_start_ms: integer,
  cost_nano_usd: integer,
  classified: integer,
  failed: integer,
  dropped: integer,
};

export type ClassifiersTable = TableOf<typeof classifierResource.columns>;
export type ClassifierVersionsTable = TableOf<typeof versions>;
export type GenerationTagsTable = TableOf<typeof tags>;
export type ClassifierDaysTable = TableOf<typeof days>;
export type GenerationTagRow = RowOf<typeof tags>;
export type ClassifierDayRow = RowOf<typeof days>;

export const versionRows = createRowMapper(versions);
export const tagRows = createRowMapper(tags);
export const dayRows = createRowMapper(days);
