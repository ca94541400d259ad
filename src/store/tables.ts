import type { Flag } from './portable.ts';
import type { ClassColumn, UsageDimension, UsageSum } from './usage-measures.ts';

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
  /** JSON. */
  readonly default_provider_preferences: string | null;
  /** JSON. */
  readonly default_plugins: string | null;
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
  readonly workspace_id: string;
  /** On whose behalf the key was made. */
  readonly member_id: string | null;
  readonly preset_slug: string | null;
  /** The part of `tokens_cache_write` that lives an hour. */
  readonly tokens_cache_write_1h: number;
  /** On a caller's own credential: what it would have cost on the gateway's. */
  readonly list_cost_nano_usd: number | null;
  /** What the upstream says that it charged. */
  readonly upstream_cost_nano_usd: number | null;
  /** From here on null means that nobody said. Tokens are parts of the prompt's or the completion's. */
  readonly tokens_audio_prompt: number | null;
  readonly tokens_audio_completion: number | null;
  readonly tokens_image_completion: number | null;
  /** Runs of the upstream's own tools. */
  readonly web_searches: number | null;
  readonly web_fetches: number | null;
  /** Pictures, sounds, videos and documents that the caller sent; sounds among them; what the model made. */
  readonly media_prompt: number | null;
  readonly audio_prompt: number | null;
  readonly media_completion: number | null;
  readonly cache_discount_nano_usd: number | null;
  readonly response_cache_source_id: string | null;
  /** A tag of `choosing/task-tags.ts`. Null: nobody looked. */
  readonly task_type: string | null;
  /** The plugin that chose the model. */
  readonly router: string | null;
  /** What the router's choice is compared with, and what it saved against that; negative: what it cost more. */
  readonly compared_model: string | null;
  readonly saved_nano_usd: number | null;
  /** Parts of `cost_nano_usd`: for searching and reading the web, and for reading files. Null: nothing. */
  readonly web_cost_nano_usd: number | null;
  readonly file_cost_nano_usd: number | null;
  /** Calls of server tools that ran, and those that failed among them. Null: none were offered. */
  readonly tool_calls: number | null;
  readonly tool_failures: number | null;
  /** Two letters, as somebody before the gateway said. */
  readonly country: string | null;
}

/** Workspaces. A deleted one stays as a row, so that what was made in it keeps a name. */
export interface WorkspacesTable {
  readonly id: string;
  /** Unique among those that are not deleted. */
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly default_text_model: string | null;
  readonly default_image_model: string | null;
  readonly default_provider_sort: string | null;
  /** JSON. */
  readonly default_provider_preferences: string | null;
  /** JSON. */
  readonly default_plugins: string | null;
  readonly is_io_logging_enabled: Flag;
  /** Of a million generations. */
  readonly io_logging_sampling_ppm: number;
  /** JSON: a list of numbers. Null: all keys. */
  readonly io_logging_api_key_ids: string | null;
  /** JSON: a list of texts. Null: all keys. */
  readonly io_logging_api_key_hashes: string | null;
  readonly is_broadcast_enabled: Flag;
  readonly is_data_discount_logging_enabled: Flag;
  readonly include_byok_in_budgets: Flag;
  readonly default_guardrail_id: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number | null;
  /** The hash of a management key. */
  readonly created_by: string | null;
  readonly deleted_at_ms: number | null;
}

export interface WorkspaceMembersTable {
  readonly id: string;
  readonly workspace_id: string;
  readonly user_id: string;
  readonly role: 'admin' | 'member';
  readonly created_at_ms: number;
}

export interface WorkspaceBudgetsTable {
  readonly id: string;
  readonly workspace_id: string;
  readonly interval: 'daily' | 'weekly' | 'monthly' | 'lifetime';
  readonly limit_nano_usd: number;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

export interface GuardrailsTable {
  readonly id: string;
  /** Null: attached to none. */
  readonly workspace_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly limit_nano_usd: number | null;
  readonly reset_interval: 'daily' | 'weekly' | 'monthly' | null;
  readonly include_byok_in_budgets: Flag;
  /** JSON: `GuardrailRules`. */
  readonly rules: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number | null;
}

/** At most one a subject: a key by its hash, or a member by the user's id. */
export interface GuardrailAssignmentsTable {
  readonly id: string;
  readonly guardrail_id: string;
  readonly subject_kind: 'key' | 'member';
  readonly subject_id: string;
  /** The hash of a management key. */
  readonly assigned_by: string | null;
  readonly created_at_ms: number;
}

/** What was changed, by whom. Only ever inserted. */
export interface AuditEventsTable {
  readonly id: string;
  readonly at_ms: number;
  /** Null: not by a key. */
  readonly actor_key_hash: string | null;
  readonly actor_label: string;
  readonly action: string;
  readonly subject: string;
  /** JSON: an object. */
  readonly changes: string;
}

/** Credentials of providers that the account brought. A deleted one stays as a row, without what is secret of it. */
export interface ByokKeysTable {
  readonly id: string;
  /** Null: every workspace. */
  readonly workspace_id: string | null;
  readonly provider: string;
  readonly name: string | null;
  /** A masked excerpt. */
  readonly label: string;
  /** The credential as `lib/secret-box.ts` sealed it; null once it was deleted. */
  readonly sealed: string | null;
  /** Which secret sealed it. */
  readonly secret_id: string | null;
  readonly disabled: Flag;
  readonly is_fallback: Flag;
  readonly always_use: Flag;
  readonly sort_order: number;
  /** JSON arrays of text; null: no restriction. */
  readonly allowed_models: string | null;
  readonly allowed_api_key_hashes: string | null;
  readonly allowed_user_ids: string | null;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly deleted_at_ms: number | null;
}

/** Named sets of request members. What they hold is in their versions. */
export interface PresetsTable {
  readonly id: string;
  readonly workspace_id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: 'active' | 'disabled' | 'archived';
  readonly status_updated_at_ms: number | null;
  readonly creator_user_id: string | null;
  /** The version in use. */
  readonly designated_version_id: string | null;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

/** Only ever inserted. */
export interface PresetVersionsTable {
  readonly id: string;
  readonly preset_id: string;
  /** From 1. */
  readonly version: number;
  readonly creator_id: string;
  readonly system_prompt: string | null;
  /** JSON: members of a request. */
  readonly config: string;
  readonly created_at_ms: number;
}

/** Codes that an application exchanges for a key of its own, once. */
export interface OauthCodesTable {
  /** SHA-256 of the code, which is stored nowhere. */
  readonly code_hash: string;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  readonly used_at_ms: number | null;
  readonly challenge: string | null;
  readonly challenge_method: 'S256' | 'plain' | null;
  /** Of the key that agreed to it. */
  readonly issuer_key_hash: string;
  readonly issuer_label: string;
  /** Of the key that it will become, and so are the next five. */
  readonly key_name: string;
  readonly limit_nano_usd: number | null;
  readonly limit_reset: 'daily' | 'weekly' | 'monthly' | null;
  readonly key_expires_at_ms: number | null;
  readonly workspace_id: string;
  readonly user_id: string | null;
}

/** What was said in one generation, where its workspace logs that. Deleted when its time is over. */
export interface GenerationContentTable {
  readonly generation_id: string;
  readonly created_at_ms: number;
  readonly workspace_id: string;
  /** Compressed JSON as `lib/secret-box.ts` sealed it. */
  readonly sealed: string;
  /** Which secret sealed it. */
  readonly secret_id: string;
}

/** Only ever inserted. */
export interface GenerationFeedbackTable {
  readonly id: string;
  readonly generation_id: string;
  readonly at_ms: number;
  readonly author_key_hash: string;
  readonly category: string;
  readonly comment: string | null;
}

/** Sums over the generations of one hour or one UTC day, by who asked and who served. */
export type UsageTable = Readonly<Record<UsageDimension, string>> &
  Readonly<Record<UsageSum | ClassColumn, number>> & { readonly start_ms: number };

/** What applications call themselves, as of the last hour that was summed up. */
export interface AppsTable {
  /** As it stands in the sums. */
  readonly url: string;
  readonly title: string;
}

/** Up to which moment `usage_hourly` and `usage_daily` are complete. */
export interface UsageProgressTable {
  readonly name: 'hourly' | 'daily';
  readonly done_until_ms: number;
}

/** Where records of generations are sent. */
export interface DestinationsTable {
  readonly id: string;
  readonly workspace_id: string;
  readonly type: string;
  readonly name: string;
  readonly enabled: Flag;
  readonly privacy_mode: Flag;
  /** Of a million generations. */
  readonly sampling_ppm: number;
  readonly sends_cost: Flag;
  readonly sends_identity: Flag;
  readonly sends_request_context: Flag;
  /** JSON: a list of texts. Null: all keys. */
  readonly api_key_hashes: string | null;
  /** JSON. */
  readonly filter_rules: string | null;
  /** JSON as `lib/secret-box.ts` sealed it: addresses and headers hold credentials, too. */
  readonly sealed_config: string;
  readonly secret_id: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

/** What callers stored to refer to it later, and what tools made for them. The content is a file of `store/blobs.ts`. */
export interface FilesTable {
  readonly id: string;
  readonly workspace_id: string;
  readonly filename: string;
  /** Found from the bytes. Empty while it is written. */
  readonly mime_type: string;
  readonly size_bytes: number;
  /** Only what is `stored` can be seen. */
  readonly status: 'writing' | 'stored' | 'deleted';
  /** A tool made it: what was uploaded cannot be downloaded. */
  readonly made_here: Flag;
  /** In the words of a vendor. */
  readonly purpose: string;
  readonly key_hash: string;
  readonly created_at_ms: number;
  readonly expires_at_ms: number | null;
}

/** What the stored files of a workspace come to. */
export interface FileUsageTable {
  readonly workspace_id: string;
  readonly size_bytes: number;
  readonly files: number;
}

/** Money that came and went. Only ever inserted. @source areas.md 2 "Ledger" */
export interface LedgerEntriesTable {
  readonly id: string;
  readonly at_ms: number;
  readonly account_id: string;
  readonly kind:
    | 'purchase'
    | 'grant'
    | 'adjustment'
    | 'transfer_in'
    | 'transfer_out'
    | 'usage'
    | 'byok_fee'
    | 'refund'
    | 'expiry';
  /** Signed: what was used is negative. */
  readonly amount_nano_usd: number;
  /** At most one of kind `usage` and one of `byok_fee` have the same. */
  readonly generation_id: string | null;
  readonly key_hash: string | null;
  readonly workspace_id: string | null;
  readonly note: string | null;
  /** The hash of a management key, or `cli`; null: the gateway itself. */
  readonly author: string | null;
}

/** What was spent, by subject and UTC day: sums over `generations`, kept up to date with each that cost something. */
export interface SpendTable {
  /** `key:HASH`, `workspace:ID`, `member:ID` or `account:ID`. */
  readonly subject: string;
  readonly day_start_ms: number;
  readonly is_byok: Flag;
  readonly nano_usd: number;
  readonly requests: number;
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
  readonly ledger_entries: LedgerEntriesTable;
  readonly spend: SpendTable;
  readonly workspaces: WorkspacesTable;
  readonly workspace_members: WorkspaceMembersTable;
  readonly workspace_budgets: WorkspaceBudgetsTable;
  readonly guardrails: GuardrailsTable;
  readonly guardrail_assignments: GuardrailAssignmentsTable;
  readonly audit_events: AuditEventsTable;
  readonly byok_keys: ByokKeysTable;
  readonly presets: PresetsTable;
  readonly preset_versions: PresetVersionsTable;
  readonly oauth_codes: OauthCodesTable;
  readonly generation_content: GenerationContentTable;
  readonly generation_feedback: GenerationFeedbackTable;
  readonly usage_hourly: UsageTable;
  readonly usage_daily: UsageTable;
  readonly usage_progress: UsageProgressTable;
  readonly apps: AppsTable;
  readonly destinations: DestinationsTable;
  readonly files: FilesTable;
  readonly file_usage: FileUsageTable;
  readonly schema_migrations: SchemaMigrationsTable;
}
