import type { DefaultPlugin } from '../canonical/default-plugins.ts';
import type { DefaultPreferences } from '../canonical/default-preferences.ts';
import type { Database } from './database.ts';
import { readDefaultPlugins } from './default-plugins-json.ts';
import { guardrailOf, type GuardrailRow } from './guardrails.ts';
import { readPreferences } from './preferences-json.ts';
import { createBudgetStore, type BudgetRow } from './workspace-budgets.ts';
import { workspaceOf, type WorkspaceRow } from './workspaces.ts';

/** Whose rules are asked for. */
export interface PolicySubject {
  readonly keyHash: string;
  readonly workspaceId: string;
  /** On whose behalf the key was made. */
  readonly memberId: string | null;
}

/** Everything that rules the requests of one key, as it is stored. */
export interface StoredLayers {
  /** `undefined`: it was deleted, which only a key of the environment outlives. */
  readonly workspace: WorkspaceRow | undefined;
  readonly budgets: readonly BudgetRow[];
  /** The guardrail of the whole workspace. */
  readonly workspaceGuardrail: GuardrailRow | undefined;
  readonly memberGuardrail: GuardrailRow | undefined;
  readonly keyGuardrail: GuardrailRow | undefined;
  readonly keyPreferences: DefaultPreferences | null;
  readonly keyPlugins: readonly DefaultPlugin[] | null;
}

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
        .select(['default_provider_preferences', 'default_plugins'])
        .where('hash', '=', keyHash)
        .executeTakeFirst(),
    ]);
    return {
      workspace: workspace && workspaceOf(workspace),
      budgets: workspaceBudgets,
      workspaceGuardrail: workspaceGuardrail && guardrailOf(workspaceGuardrail),
      ...assigned,
      keyPreferences: readPreferences(key?.default_provider_preferences ?? null),
      keyPlugins: readDefaultPlugins(key?.default_plugins ?? null),
    };
  };
}

async function readAssigned({ kysely }: Database, keyHash: string, memberId: string | null) {
  const rows = await kysely
    .selectFrom('guardrail_assignments')
    .innerJoin('guardrails', 'guardrails.id', 'guardrail_assignments.guardrail_id')
    .selectAll('guardrails')
    .select('subject_kind')
    .where((where) =>
      where.or([
        where.and([where('subject_kind', '=', 'key'), where('subject_id', '=', keyHash)]),
        where.and([where('subject_kind', '=', 'member'), where('subject_id', '=', memberId ?? '')]),
      ]),
    )
    .execute();
  const ofKind = (kind: 'key' | 'member'): GuardrailRow | undefined => {
    const found = rows.find(({ subject_kind }) => subject_kind === kind);
    return found && guardrailOf(found);
  };
  return { memberGuardrail: ofKind('member'), keyGuardrail: ofKind('key') };
}
