import type { ClientFormatId } from '../../canonical/extra.ts';
import type { GenerationOrigin } from '../../canonical/generation-origin.ts';
import type { OperationKind } from '../../canonical/operation.ts';
import { flag, integer, nullable, text, textOf, type Column } from '../../resources/columns.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';
import { attemptsColumn, warningsColumn } from './generation-json.ts';

/** A duration that is measured in fractions and stored in whole milliseconds. */
const wholeMs: Column<number, number, number> = { ...integer, encode: Math.round };

/**
 * One row for each generation, failed ones included: facts and counts, no text of the conversation. Only ever inserted.
 */
const columns = {
  /** `gen-...`. */
  id: text,
  /** Groups the generations of one HTTP request. */
  request_id: text,
  created_at_ms: integer,
  key_hash: text,
  api_type: textOf<ClientFormatId | OperationKind>(),
  /** As the caller spelled it. */
  model_requested: text,
  /** The slug that served; where none did, the requested one. */
  model: text,
  /** Slug. Null when no provider was reached. */
  provider: nullable(text),
  /** Display name. */
  provider_name: nullable(text),
  /** The upstream's own id of the response. */
  upstream_id: nullable(text),
  upstream_model: nullable(text),
  streamed: flag,
  /** The caller disconnected. */
  cancelled: flag,
  finish_reason: nullable(text),
  native_finish_reason: nullable(text),
  /** The HTTP status that the caller saw. */
  status: integer,
  error_type: nullable(text),
  error_message: nullable(text),
  attempts: attemptsColumn,
  strategy: text,
  session_id: nullable(text),
  end_user_hash: nullable(text),
  /** Token counts as the provider gave them; the prompt's includes cached ones, the completion's reasoning. */
  tokens_prompt: integer,
  tokens_completion: integer,
  tokens_reasoning: nullable(integer),
  tokens_cache_read: integer,
  tokens_cache_write: integer,
  usage_source: textOf<'upstream' | 'estimated' | 'none'>(),
  /** Null: the price is unknown, which is not zero. */
  cost_nano_usd: nullable(integer),
  cost_prompt_nano_usd: nullable(integer),
  cost_completion_nano_usd: nullable(integer),
  is_byok: flag,
  service_tier: nullable(text),
  /** From the request's arrival to the end. */
  latency_ms: wholeMs,
  time_to_first_token_ms: nullable(wholeMs),
  /** From the first token to the end. */
  generation_time_ms: nullable(wholeMs),
  warnings: warningsColumn,
  skipped_events: integer,
  app_url: nullable(text),
  app_title: nullable(text),
  user_agent: nullable(text),
  region: text,
  workspace_id: text,
  /** The user that the key was made for. */
  member_id: nullable(text),
  preset_slug: nullable(text),
  /** The part of `tokensCacheWrite` that is cached for an hour. */
  tokens_cache_write_1h: integer,
  /** With a caller's own credential: what the call would have cost with the gateway's. */
  list_cost_nano_usd: nullable(integer),
  /** What the upstream reports as its charge. */
  upstream_cost_nano_usd: nullable(integer),
  /**
   * Parts of the prompt's and of the completion's tokens; from here on null means that the provider did not report the
   * number.
   */
  tokens_audio_prompt: nullable(integer),
  tokens_audio_completion: nullable(integer),
  tokens_image_completion: nullable(integer),
  /** Runs of the upstream's own tools. */
  web_searches: nullable(integer),
  web_fetches: nullable(integer),
  /** Pictures, sounds, videos and documents in the request; the sounds among them; what the model made. */
  media_prompt: nullable(integer),
  audio_prompt: nullable(integer),
  media_completion: nullable(integer),
  /** At list price; negative where writing to the cache cost more than reading saved. */
  cache_discount_nano_usd: nullable(integer),
  /** The generation whose response was replayed. */
  response_cache_source_id: nullable(text),
  /** The kind of task. Null: the request was not classified. */
  task_type: nullable(text),
  /** The plugin that chose the model. */
  router: nullable(text),
  /**
   * The model that a router's choice is compared with, and what was saved against it; negative: the choice cost more.
   */
  compared_model: nullable(text),
  saved_nano_usd: nullable(integer),
  /** Parts of the charge: for searching and fetching the web, and for reading files. Null: nothing. */
  web_cost_nano_usd: nullable(integer),
  file_cost_nano_usd: nullable(integer),
  /** Calls of server tools that ran, and the failed ones among them. Null: the request had no server tools. */
  tool_calls: nullable(integer),
  tool_failures: nullable(integer),
  /** Two letters, as the proxy before the gateway reported. */
  country: nullable(text),
  /** Units that are no tokens. Null: the call has none of them. */
  characters: nullable(integer),
  audio_ms: nullable(integer),
  output_audio_ms: nullable(integer),
  output_pixels: nullable(integer),
  search_units: nullable(integer),
  video_ms: nullable(integer),
  /** Texts that vectors were made of, or documents that were ordered. */
  input_count: nullable(integer),
  /** Numbers in each vector. */
  dimensions: nullable(integer),
  /** It ran without a caller that waited; null for records from before there was such a thing. */
  background: nullable(flag),
  /** The response that it continued. */
  previous_response_id: nullable(text),
  /** What made it; null: a request of a caller. */
  origin: nullable(textOf<GenerationOrigin>()),
};

export type GenerationsTable = TableOf<typeof columns>;
export type GenerationRow = RowOf<typeof columns>;
export const generationRows = createRowMapper(columns);
