import { sql, type Kysely, type SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';
import type { Tables } from '../tables.ts';

const { text, integer } = COLUMN_TYPE;

/** Fixed, so that what was made before workspaces existed belongs to it: `accounts/principal.ts` has the same. */
const DEFAULT_WORKSPACE_ID = '00000000-0000-4000-8000-000000000001';
/** What `accounts/default-guardrail-id.ts` derives from that id. */
const ITS_GUARDRAIL_ID = '604399d6-8207-5b84-8260-aae6514c4372';

export async function up(schema: SchemaModule, rows: Kysely<Tables>, nowMs: number): Promise<void> {
  await createWorkspaces(schema);
  await createMembersAndBudgets(schema);
  await createGuardrails(schema);
  await createAuditEvents(schema);
  await schema.alterTable('keys').addColumn('default_provider_preferences', text).execute();
  await schema
    .createIndex('keys_workspace_created_at')
    .on('keys')
    .columns(['workspace_id', 'created_at_ms', 'hash'])
    .execute();
  await insertDefaultWorkspace(rows, nowMs);
}

async function createWorkspaces(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('workspaces')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('slug', text, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('description', text)
    .addColumn('default_text_model', text)
    .addColumn('default_image_model', text)
    .addColumn('default_provider_sort', text)
    .addColumn('default_provider_preferences', text)
    .addColumn('is_io_logging_enabled', integer, (column) => column.notNull())
    .addColumn('io_logging_sampling_ppm', integer, (column) => column.notNull())
    .addColumn('io_logging_api_key_ids', text)
    .addColumn('io_logging_api_key_hashes', text)
    .addColumn('is_broadcast_enabled', integer, (column) => column.notNull())
    .addColumn('is_data_discount_logging_enabled', integer, (column) => column.notNull())
    .addColumn('include_byok_in_budgets', integer, (column) => column.notNull())
    .addColumn('default_guardrail_id', text, (column) => column.notNull().unique())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer)
    .addColumn('created_by', text)
    .addColumn('deleted_at_ms', integer)
    .execute();
  // A deleted workspace stays as a row, and its slug is free again.
  await schema
    .createIndex('workspaces_slug')
    .on('workspaces')
    .column('slug')
    .unique()
    .where(sql.ref('deleted_at_ms'), 'is', null)
    .execute();
}

async function createMembersAndBudgets(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('workspace_members')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('user_id', text, (column) => column.notNull())
    .addColumn('role', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addUniqueConstraint('workspace_members_user', ['workspace_id', 'user_id'])
    .execute();
  await schema
    .createTable('workspace_budgets')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('interval', text, (column) => column.notNull())
    .addColumn('limit_nano_usd', integer, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer, (column) => column.notNull())
    .addUniqueConstraint('workspace_budgets_interval', ['workspace_id', 'interval'])
    .execute();
}

async function createGuardrails(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('guardrails')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', text)
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('description', text)
    .addColumn('limit_nano_usd', integer)
    .addColumn('reset_interval', text)
    .addColumn('include_byok_in_budgets', integer, (column) => column.notNull())
    .addColumn('rules', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer)
    .execute();
  await schema
    .createIndex('guardrails_workspace_created_at')
    .on('guardrails')
    .columns(['workspace_id', 'created_at_ms', 'id'])
    .execute();
  // A key holds at most one guardrail, and so does a member: @spec guardrail-6.
  await schema
    .createTable('guardrail_assignments')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('guardrail_id', text, (column) => column.notNull())
    .addColumn('subject_kind', text, (column) => column.notNull())
    .addColumn('subject_id', text, (column) => column.notNull())
    .addColumn('assigned_by', text)
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addUniqueConstraint('guardrail_assignments_subject', ['subject_kind', 'subject_id'])
    .execute();
  await schema
    .createIndex('guardrail_assignments_guardrail')
    .on('guardrail_assignments')
    .column('guardrail_id')
    .execute();
}

async function createAuditEvents(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('audit_events')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('at_ms', integer, (column) => column.notNull())
    .addColumn('actor_key_hash', text)
    .addColumn('actor_label', text, (column) => column.notNull())
    .addColumn('action', text, (column) => column.notNull())
    .addColumn('subject', text, (column) => column.notNull())
    .addColumn('changes', text, (column) => column.notNull())
    .execute();
  await schema.createIndex('audit_events_at').on('audit_events').columns(['at_ms', 'id']).execute();
  await schema.createIndex('audit_events_subject').on('audit_events').columns(['subject', 'at_ms']).execute();
}

async function insertDefaultWorkspace(rows: Kysely<Tables>, nowMs: number): Promise<void> {
  await rows
    .insertInto('workspaces')
    .values({
      id: DEFAULT_WORKSPACE_ID,
      slug: 'default',
      name: 'Default',
      description: null,
      default_text_model: null,
      default_image_model: null,
      default_provider_sort: null,
      default_provider_preferences: null,
      is_io_logging_enabled: 0,
      io_logging_sampling_ppm: 1_000_000,
      io_logging_api_key_ids: null,
      io_logging_api_key_hashes: null,
      is_broadcast_enabled: 1,
      is_data_discount_logging_enabled: 0,
      include_byok_in_budgets: 0,
      default_guardrail_id: ITS_GUARDRAIL_ID,
      created_at_ms: nowMs,
      updated_at_ms: null,
      created_by: null,
      deleted_at_ms: null,
    })
    .execute();
}
