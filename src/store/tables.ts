import type { McpClientsTable, McpCodesTable, McpConnectionsTable, McpTokensTable } from './connections/columns.ts';
import type {
  InternCallsTable,
  InternInputsTable,
  InternRunsTable,
  InternSchedulesTable,
  InternSessionsTable,
  InternsTable,
  InternStepsTable,
  InternTextsTable,
  InternVersionsTable,
} from './interns/columns.ts';
import type {
  ConsoleLinksTable,
  ConsoleSessionsTable,
  GenerationContentTable,
  GenerationRoutesTable,
  OauthCodesTable,
} from './accounts/columns.ts';
import type {
  BackgroundResponsesTable,
  ResponseEventsTable,
  StoredItemsTable,
  StoredMediaTable,
  StoredMediaUsesTable,
  StoredResponsesTable,
} from './responses/columns.ts';
import type {
  EvaluationDatasetsTable,
  EvaluationResultsTable,
  EvaluationRunsTable,
  EvaluationScoresTable,
} from './evaluations/columns.ts';
import type { JobsTable } from './jobs/columns.ts';
import type {
  ClassifierDaysTable,
  ClassifiersTable,
  ClassifierVersionsTable,
  GenerationTagsTable,
} from './classifiers/columns.ts';
import type { VaultReleasesTable, VaultSecretsTable } from './vault/columns.ts';
import type { InvitationsTable, UsersTable } from './people/columns.ts';
import type { NotificationDeliveriesTable, NotificationEventsTable } from './notifications/columns.ts';
import type {
  MembershipSourcesTable,
  ScimGroupMappingsTable,
  ScimGroupMembersTable,
  ScimGroupsTable,
  ScimRequestsTable,
  ScimTokensTable,
  ScimUsersTable,
} from './scim/columns.ts';
import type { VideoJobsTable } from './video-jobs/columns.ts';
import type { DestinationCursorsTable, ExportRowsTable } from './exports/columns.ts';
import type { GenerationsTable } from './generations/columns.ts';
import type { auditEventResource } from '../resources/audit-events.ts';
import type { byokKeyResource } from '../resources/byok-keys.ts';
import type { destinationResource } from '../resources/destinations.ts';
import type { serviceFileResource } from '../resources/files.ts';
import type { AssignedKind, keyAssignmentResource } from '../resources/guardrail-assignments.ts';
import type { guardrailResource } from '../resources/guardrails.ts';
import type { ledgerEntryResource } from '../resources/ledger-entries.ts';
import type { channelResource } from '../resources/notification-channels.ts';
import type { presetResource, presetVersionResource } from '../resources/presets.ts';
import type { budgetResource, memberResource } from '../resources/workspace-parts.ts';
import type { keyResource } from '../resources/keys.ts';
import type { workspaceResource } from '../resources/workspaces.ts';
import type { Flag } from '../resources/columns.ts';
import type { ClassColumn, UsageDimension, UsageSum } from './usage/usage-measures.ts';

/** A deleted row stays, so that rows that refer to it keep a name. */
interface Deletable {
  readonly deleted_at_ms: number | null;
}

export type KeysTable = ReturnType<typeof keyResource.rows.toColumns> & Deletable;

export type WorkspaceMembersTable = ReturnType<typeof memberResource.rows.toColumns>;
export type WorkspaceBudgetsTable = ReturnType<typeof budgetResource.rows.toColumns>;
export type GuardrailsTable = ReturnType<typeof guardrailResource.rows.toColumns>;
export type ByokKeysTable = ReturnType<typeof byokKeyResource.rows.toColumns> & Deletable;
export type PresetsTable = ReturnType<typeof presetResource.rows.toColumns>;
export type PresetVersionsTable = ReturnType<typeof presetVersionResource.rows.toColumns>;
export type DestinationsTable = ReturnType<typeof destinationResource.rows.toColumns>;
export type AuditEventsTable = ReturnType<typeof auditEventResource.rows.toColumns>;
export type GuardrailAssignmentsTable = ReturnType<typeof keyAssignmentResource.rows.toColumns> & {
  readonly subject_kind: AssignedKind;
};
/** Only a `stored` file is visible. */
export type FilesTable = ReturnType<typeof serviceFileResource.rows.toColumns> & {
  readonly status: 'writing' | 'stored' | 'deleted';
};
export type LedgerEntriesTable = ReturnType<typeof ledgerEntryResource.rows.toColumns>;

export type NotificationChannelsTable = ReturnType<typeof channelResource.rows.toColumns>;

export type WorkspacesTable = ReturnType<typeof workspaceResource.rows.toColumns> & Deletable;

/** Only ever inserted. */
export interface GenerationFeedbackTable {
  readonly id: string;
  readonly generation_id: string;
  readonly at_ms: number;
  readonly author_key_hash: string;
  readonly category: string;
  readonly comment: string | null;
}

/** Sums over the generations of one hour or one UTC day, by caller, model and provider. */
export type UsageTable = Readonly<Record<UsageDimension, string>> &
  Readonly<Record<UsageSum | ClassColumn, number>> & { readonly start_ms: number };

/** The titles of applications, as of the last hour that was summed up. */
export interface AppsTable {
  /** The address as it stands in the sums. */
  readonly url: string;
  readonly title: string;
}

/** The moment up to which `usage_hourly` and `usage_daily` are complete, and how often it was set back to an earlier one. */
export interface UsageProgressTable {
  readonly name: 'hourly' | 'daily' | 'set_back_count';
  /** Unix ms, or the count. */
  readonly done_until_ms: number;
}

/** The number and size of a workspace's stored files. */
export interface FileUsageTable {
  readonly workspace_id: string;
  readonly size_bytes: number;
  readonly files: number;
}

/** Spending by subject and UTC day: sums over `generations`, kept up to date with each that cost something. */
export interface SpendTable {
  /** `key:HASH`, `workspace:ID`, `member:ID` or `account:ID`. */
  readonly subject: string;
  readonly day_start_ms: number;
  readonly is_byok: Flag;
  readonly nano_usd: number;
  readonly requests: number;
}

/** Applied migrations, oldest first by name. */
export interface SchemaMigrationsTable {
  readonly name: string;
  readonly applied_at_ms: number;
}

/** How far a journal is stored: together with its records, so that none is stored twice. */
export interface JournalCheckpointsTable {
  readonly stream: string;
  /** Bytes from the start of the stream. */
  readonly position: number;
}

/** One row: the random id by which journals know their database. A backup that is restored gets another one. */
export interface DatabaseIdentityTable {
  readonly id: string;
}

/** All tables, as the newest migration leaves them. */
export interface Tables {
  readonly keys: KeysTable;
  readonly generations: GenerationsTable;
  readonly ledger_entries: LedgerEntriesTable;
  readonly spend: SpendTable;
  readonly workspaces: WorkspacesTable;
  /** A view of `membership_sources`: it is read alone. */
  readonly workspace_members: WorkspaceMembersTable;
  readonly membership_sources: MembershipSourcesTable;
  readonly scim_tokens: ScimTokensTable;
  readonly scim_users: ScimUsersTable;
  readonly scim_requests: ScimRequestsTable;
  readonly scim_groups: ScimGroupsTable;
  readonly scim_group_members: ScimGroupMembersTable;
  readonly scim_group_mappings: ScimGroupMappingsTable;
  readonly workspace_budgets: WorkspaceBudgetsTable;
  readonly guardrails: GuardrailsTable;
  readonly guardrail_assignments: GuardrailAssignmentsTable;
  readonly audit_events: AuditEventsTable;
  readonly byok_keys: ByokKeysTable;
  readonly presets: PresetsTable;
  readonly preset_versions: PresetVersionsTable;
  readonly oauth_codes: OauthCodesTable;
  readonly console_sessions: ConsoleSessionsTable;
  readonly console_links: ConsoleLinksTable;
  readonly users: UsersTable;
  readonly invitations: InvitationsTable;
  readonly generation_content: GenerationContentTable;
  readonly generation_routes: GenerationRoutesTable;
  readonly generation_feedback: GenerationFeedbackTable;
  readonly usage_hourly: UsageTable;
  readonly usage_daily: UsageTable;
  readonly usage_progress: UsageProgressTable;
  readonly apps: AppsTable;
  readonly destinations: DestinationsTable;
  readonly destination_cursors: DestinationCursorsTable;
  readonly export_rows: ExportRowsTable;
  readonly files: FilesTable;
  readonly file_usage: FileUsageTable;
  readonly stored_responses: StoredResponsesTable;
  readonly stored_items: StoredItemsTable;
  readonly stored_media: StoredMediaTable;
  readonly stored_media_uses: StoredMediaUsesTable;
  readonly vault_releases: VaultReleasesTable;
  readonly vault_secrets: VaultSecretsTable;
  readonly video_jobs: VideoJobsTable;
  readonly jobs: JobsTable;
  readonly evaluation_datasets: EvaluationDatasetsTable;
  readonly evaluation_runs: EvaluationRunsTable;
  readonly evaluation_results: EvaluationResultsTable;
  readonly evaluation_scores: EvaluationScoresTable;
  readonly classifiers: ClassifiersTable;
  readonly classifier_versions: ClassifierVersionsTable;
  readonly classifier_days: ClassifierDaysTable;
  readonly generation_tags: GenerationTagsTable;
  readonly notification_channels: NotificationChannelsTable;
  readonly notification_events: NotificationEventsTable;
  readonly notification_deliveries: NotificationDeliveriesTable;
  readonly interns: InternsTable;
  readonly intern_versions: InternVersionsTable;
  readonly intern_calls: InternCallsTable;
  readonly intern_sessions: InternSessionsTable;
  readonly intern_runs: InternRunsTable;
  readonly intern_schedules: InternSchedulesTable;
  readonly intern_steps: InternStepsTable;
  readonly intern_inputs: InternInputsTable;
  readonly intern_texts: InternTextsTable;
  readonly mcp_clients: McpClientsTable;
  readonly mcp_codes: McpCodesTable;
  readonly mcp_connections: McpConnectionsTable;
  readonly mcp_tokens: McpTokensTable;
  readonly background_responses: BackgroundResponsesTable;
  readonly response_events: ResponseEventsTable;
  readonly journal_checkpoints: JournalCheckpointsTable;
  readonly database_identity: DatabaseIdentityTable;
  readonly schema_migrations: SchemaMigrationsTable;
}
