import { sql, type Kysely, type SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';
import type { Tables } from '../tables.ts';

const { text, integer } = COLUMN_TYPE;

/** Why a user is a member of a workspace, source by source, and what an identity provider pushes by SCIM. */
export async function up(schema: SchemaModule, rows: Kysely<Tables>): Promise<void> {
  await schema
    .createTable('membership_sources')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('user_id', text, (column) => column.notNull())
    .addColumn('source', text, (column) => column.notNull())
    .addColumn('role', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addUniqueConstraint('membership_sources_source', ['workspace_id', 'user_id', 'source'])
    .execute();
  await sql`insert into membership_sources (id, workspace_id, user_id, source, role, created_at_ms)
    select id, workspace_id, user_id, 'manual', role, created_at_ms from workspace_members`.execute(rows);
  await schema.dropTable('workspace_members').execute();
  // 'admin' sorts before 'member'.
  await sql`create view workspace_members as
    select min(id) as id, workspace_id, user_id, min(role) as role, min(created_at_ms) as created_at_ms
    from membership_sources group by workspace_id, user_id`.execute(rows);
  await schema.createIndex('membership_sources_user').on('membership_sources').column('user_id').execute();
  await schema.createIndex('membership_sources_of').on('membership_sources').column('source').execute();
  await schema
    .createTable('scim_tokens')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('token_hash', text, (column) => column.notNull().unique())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('label', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('expires_at_ms', integer)
    .addColumn('last_used_at_ms', integer)
    .execute();
  await schema
    .createTable('scim_users')
    .addColumn('user_id', text, (column) => column.primaryKey().notNull())
    .addColumn('user_name', text, (column) => column.notNull())
    .addColumn('user_name_key', text, (column) => column.notNull().unique())
    .addColumn('external_id', text)
    .addColumn('attributes', text, (column) => column.notNull())
    .addColumn('version', integer, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('modified_at_ms', integer, (column) => column.notNull())
    .addColumn('deleted_at_ms', integer)
    .execute();
  await schema
    .createTable('scim_groups')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('display_name', text, (column) => column.notNull())
    .addColumn('display_key', text, (column) => column.notNull().unique())
    .addColumn('external_id', text)
    .addColumn('version', integer, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('modified_at_ms', integer, (column) => column.notNull())
    .execute();
  await schema
    .createTable('scim_group_members')
    .addColumn('group_id', text, (column) => column.notNull())
    .addColumn('user_id', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('scim_group_members_key', ['group_id', 'user_id'])
    .execute();
  await schema.createIndex('scim_group_members_user').on('scim_group_members').column('user_id').execute();
  await schema
    .createTable('scim_group_mappings')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('group_id', text, (column) => column.notNull())
    .addColumn('workspace_id', text, (column) => column.notNull())
    .addColumn('role', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer)
    .addUniqueConstraint('scim_group_mappings_pair', ['group_id', 'workspace_id'])
    .execute();
}
