import type { Flag } from './portable.ts';

/** API keys. A deleted one stays as a row, so that its generations keep a name. */
export interface KeysTable {
  /** SHA-256 of the full key, 64 lower-case hex digits. The key itself is stored nowhere. */
  readonly hash: string;
  readonly label: string;
  readonly name: string;
  readonly kind: 'normal' | 'management';
  readonly disabled: Flag;
  readonly created_at_ms: number;
  readonly updated_at_ms: number | null;
  readonly expires_at_ms: number | null;
  readonly limit_nano_usd: number | null;
  readonly limit_reset: 'daily' | 'weekly' | 'monthly' | null;
  readonly include_byok_in_limit: Flag;
  readonly creator_user_id: string | null;
  readonly workspace_id: string;
  readonly deleted_at_ms: number | null;
}

/** One row a generation, failed ones included. Only ever inserted. */
export interface GenerationsTable {
  readonly id: string;
  readonly request_id: string;
  readonly created_at_ms: number;
  readonly key_hash: string;
  readonly api_type: 'chat' | 'messages';
  readonly model_requested: string;
  readonly model: string;
  readonly provider: string | null;
  readonly provider_name: string | null;
  readonly upstream_id: string | null;
  readonly upstream_model: string | null;
  readonly streamed: Flag;
  readonly cancelled: Flag;
  readonly finish_reason: string | null;
  readonly native_finish_reason: string | null;
  readonly status: number;
  readonly error_type: string | null;
  readonly error_message: string | null;
  /** JSON: `[{"provider", "model", "status", "latency_ms"}]`. */
  readonly attempts: string;
  readonly strategy: string;
  readonly session_id: string | null;
  readonly end_user_hash: string | null;
  readonly tokens_prompt: number;
  readonly tokens_completion: number;
  readonly tokens_reasoning: number | null;
  readonly tokens_cache_read: number;
  readonly tokens_cache_write: number;
  readonly usage_source: 'upstream' | 'estimated' | 'none';
  /** Null: the price is unknown, which is not zero. */
  readonly cost_nano_usd: number | null;
  readonly cost_prompt_nano_usd: number | null;
  readonly cost_completion_nano_usd: number | null;
  readonly is_byok: Flag;
  readonly service_tier: string | null;
  readonly latency_ms: number;
  readonly time_to_first_token_ms: number | null;
  readonly generation_time_ms: number | null;
  /** JSON: `[{"code", "path", "message"}]`. */
  readonly warnings: string;
  readonly skipped_events: number;
  readonly app_url: string | null;
  readonly app_title: string | null;
  readonly user_agent: string | null;
  readonly region: string;
}

/** Migrations that ran, oldest first by name. */
export interface SchemaMigrationsTable {
  readonly name: string;
  readonly applied_at_ms: number;
}

/** All tables, as the newest migration leaves them. */
export interface Tables {
  readonly keys: KeysTable;
  readonly generations: GenerationsTable;
  readonly schema_migrations: SchemaMigrationsTable;
}
