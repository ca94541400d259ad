import { ApiError, isRecord } from './errors.ts';
import { readApi } from './transport.ts';

/** A request as lists show it: what is cheap to read of its record. */
export interface GenerationRow {
  readonly id: string;
  readonly request_id: string | null;
  readonly session_id: string | null;
  readonly created_at: string;
  readonly workspace_id: string | null;
  readonly api_type: string;
  readonly model: string;
  readonly requested_model?: string | null;
  readonly provider_name: string | null;
  readonly endpoint?: string | null;
  readonly router: string | null;
  readonly is_byok: boolean;
  readonly streamed: boolean;
  readonly cancelled: boolean;
  readonly finish_reason: string | null;
  readonly tokens_prompt: number | null;
  readonly tokens_completion: number | null;
  readonly native_tokens_cached?: number | null;
  readonly native_tokens_reasoning?: number | null;
  readonly total_cost: number | null;
  readonly latency: number | null;
  readonly time_to_first_token: number | null;
  readonly usage_source?: string | null;
  readonly task_type?: string | null;
  readonly status?: number | null;
  readonly error_type?: string | null;
  readonly api_key_hash?: string | null;
  readonly api_key_name?: string | null;
  readonly app_title?: string | null;
  readonly attempts?: number;
  readonly is_rescued?: boolean;
  readonly is_cached?: boolean;
  readonly warnings?: number;
  readonly stages?: number;
}

export interface GenerationPage {
  readonly rows: readonly GenerationRow[];
  readonly cursor: string | undefined;
  /** The list looks back so far at a time. */
  readonly searchedTo: string | undefined;
  readonly lookedAt: number | undefined;
}

/** @param filters names and values as the API has them; empty ones are left out */
export async function readGenerations(
  filters: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<GenerationPage> {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''));
  const body = await readApi(`/generations?${query.toString()}`, signal);
  if (!isRecord(body) || !Array.isArray(body['data'])) throw new ApiError(0, 'The gateway responded without a list.');
  return {
    rows: body['data'].filter(isRow),
    cursor: textOf(body['next_cursor']),
    searchedTo: textOf(body['searched_to']),
    lookedAt: typeof body['looked_at'] === 'number' ? body['looked_at'] : undefined,
  };
}

function isRow(value: unknown): value is GenerationRow {
  return isRecord(value) && typeof value['id'] === 'string' && typeof value['created_at'] === 'string';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
