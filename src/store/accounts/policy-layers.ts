import { keyResource, type KeyRow } from '../../resources/keys.ts';
import { workspaceResource, type WorkspaceRow } from '../../resources/workspaces.ts';
import type { Database } from '../engine/database.ts';
import { guardrailResource, type GuardrailRow } from '../../resources/guardrails.ts';
import type { BudgetRow } from '../../resources/workspace-parts.ts';
import { createBudgetStore } from './workspace-budgets.ts';

/** The key, workspace and member whose rules are wanted. */
export interface PolicySubject {
  readonly keyHash: string;
  readonly workspaceId: string;
  /** The user that the key was made for. */
  readonly memberId: string | null;
}

/** All rules for the requests of one key, as they are stored. */
export interface StoredLayers {
  /** `undefined`: the workspace was deleted, which only a key from the environment outlives. */
  readonly workspace: WorkspaceRow | undefined;
  readonly budgets: readonly BudgetRow[];
  /** The guardrail of the whole workspace. */
  readonly workspaceGuardrail: GuardrailRow | undefined;
  readonly memberGuardrail: GuardrailRow | undefined;
  readonly keyGuardrail: GuardrailRow | undefined;
  readonly keyPreferences: KeyRow['defaultProviderPreferences'];
  readonly keyPlugins: KeyRow['defaultPlugins'];
  /** The key at the start of the chain in which this one was issued. `undefined`: no key issued it. */
  readonly root?: StoredRoot | undefined;
}

/** The rules of a key for the keys that it issued, also after it was deleted. */
export interface StoredRoot extends Pick<KeyRow, 'limitReset' | 'includeByokInLimit'> {
  readonly keyHash: string;
  readonly limitNanoUsd: number | null;
  readonly guardrail: GuardrailRow | undefined;
}

const { columns } = keyResource;

export type ReadPolicyLayers = (subject: PolicySubject) => Promise<StoredLayers>;

export function createPolicyLayers({ database }: { readonly database: Database }): ReadPolicyLayers {
  const { kysely } = database;
  const budgets = createBudgetStore({ database });
  return async ({ keyHash, workspaceId, memberId }) => {
    const [workspace, workspaceBudgets, workspaceGuardrail, assigned, key] = await Promise.all([
      kysely
        .selectFrom('workspaces')
        .selectAll()
        .where('id', '=', workspaceId)
        .where('deleted_at_ms', 'is', null)
        .executeTakeFirst(),
      budgets.list(workspaceId),
      kysely
        .selectFrom('guardrails')
        .innerJoin('workspaces', 'workspaces.default_guardrail_id', 'guardrails.id')
        .selectAll('guardrails')
        .where('workspaces.id', '=', workspaceId)
        .executeTakeFirst(),
      readAssigned(database, keyHash, memberId),
      kysely
        .selectFrom('keys')
        .leftJoin('keys as root', 'root.hash', 'keys.root_key_hash')
        .select(['keys.default_provider_preferences', 'keys.default_plugins', 'keys.root_key_hash'])
        .select(['root.limit_nano_usd', 'root.limit_reset', 'root.include_byok_in_limit'])
        .where('keys.hash', '=', keyHash)
        .executeTakeFirst(),
    ]);
    const { rootGuardrail, ...others } = assigned;
    return {
      workspace: workspace && workspaceResource.rows.toRow(workspace),
      budgets: workspaceBudgets,
      workspaceGuardrail: workspaceGuardrail && guardrailResource.rows.toRow(workspaceGuardrail),
      ...others,
      keyPreferences: columns.default_provider_preferences.decode(key?.default_provider_preferences ?? null),
      keyPlugins: columns.default_plugins.decode(key?.default_plugins ?? null),
      ...(typeof key?.root_key_hash === 'string' && {
        root: {
          keyHash: key.root_key_hash,
          limitNanoUsd: key.limit_nano_usd,
          limitReset: key.limit_reset,
          includeByokInLimit: key.include_byok_in_limit === 1,
          guardrail: rootGuardrail,
        },
      }),
    };
  };
}

async function readAssigned({ kysely }: Database, keyHash: string, memberId: string | null) {
  const rows = await kysely
    .selectFrom('guardrail_assignments')
    .innerJoin('guardrails', 'guardrails.id', 'guardrail_assignments.guardrail_id')
    .selectAll('guardrails')
    .select(['subject_kind', 'subject_id'])
    .where((where) =>
      where.or([
        where.and([where('subject_kind', '=', 'key'), where('subject_id', '=', keyHash)]),
        where.and([
          where('subject_kind', '=', 'key'),
          where('subject_id', '=', (build) =>
            build.selectFrom('keys').select('root_key_hash').where('hash', '=', keyHash),
          ),
        ]),
        where.and([where('subject_kind', '=', 'member'), where('subject_id', '=', memberId ?? '')]),
      ]),
    )
    .execute();
  const find = (fits: (row: (typeof rows)[number]) => boolean): GuardrailRow | undefined => {
    const found = rows.find(fits);
    return found && guardrailResource.rows.toRow(found);
  };
  return {
    memberGuardrail: find((row) => row.subject_kind === 'member'),
    keyGuardrail: find((row) => row.subject_kind === 'key' && row.subject_id === keyHash),
    rootGuardrail: find((row) => row.subject_kind === 'key' && row.subject_id !== keyHash),
  };
}
