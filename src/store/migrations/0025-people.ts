import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';

const { text, integer } = COLUMN_TYPE;

/** Users that sign in, and the links by which they are invited or choose another password. */
export async function up(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('users')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('email', text, (column) => column.notNull())
    .addColumn('email_key', text, (column) => column.unique())
    .addColumn('first_name', text)
    .addColumn('last_name', text)
    .addColumn('role', text, (column) => column.notNull())
    .addColumn('password_hash', text)
    .addColumn('oidc_subject', text, (column) => column.unique())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('updated_at_ms', integer)
    .addColumn('last_seen_at_ms', integer)
    .addColumn('disabled_at_ms', integer)
    .addColumn('deleted_at_ms', integer)
    .execute();
  await schema
    .createTable('invitations')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('token_hash', text, (column) => column.notNull().unique())
    .addColumn('email', text, (column) => column.notNull())
    .addColumn('email_key', text, (column) => column.notNull().unique())
    .addColumn('role', text, (column) => column.notNull())
    .addColumn('user_id', text)
    .addColumn('workspaces', text, (column) => column.notNull())
    .addColumn('invited_by', text, (column) => column.notNull())
    .addColumn('created_at_ms', integer, (column) => column.notNull())
    .addColumn('expires_at_ms', integer, (column) => column.notNull())
    .execute();
  await schema.createIndex('keys_creator').on('keys').column('creator_user_id').execute();
}
