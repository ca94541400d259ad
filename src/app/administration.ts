import { createAudit, type Audit, type AuditEvent } from '../accounts/audit.ts';
import { createGuardrailAssignments, type GuardrailAssignments } from '../accounts/guardrail-assignments.ts';
import { createGuardrails, type Guardrails } from '../accounts/guardrails.ts';
import { createOrganization, type Organization } from '../accounts/organization.ts';
import { createPolicyCache, type PolicyCache } from '../accounts/policy-cache.ts';
import { createWorkspaceBudgets, type WorkspaceBudgets } from '../accounts/workspace-budgets.ts';
import { createWorkspaceMembers, type WorkspaceMembers } from '../accounts/workspace-members.ts';
import { createWorkspaces, type Workspaces } from '../accounts/workspaces.ts';
import type { Catalog } from '../catalog/model.ts';
import type { Clock } from '../lib/clock.ts';
import { createAuditStore } from '../store/audit.ts';
import { createChanges, type Changes } from '../store/changes.ts';
import type { Database } from '../store/database.ts';
import { createAssignmentStore } from '../store/guardrail-assignments.ts';
import { createGuardrailStore } from '../store/guardrails.ts';
import type { KeyStore } from '../store/keys.ts';
import { createPolicyLayers } from '../store/policy-layers.ts';
import type { News } from '../store/shared/contract.ts';
import { createUserStore } from '../store/users.ts';
import { createBudgetStore } from '../store/workspace-budgets.ts';
import { createMemberStore } from '../store/workspace-members.ts';
import { createWorkspaceStore } from '../store/workspaces.ts';

/** Workspaces and what rules them, for management routes, and the rules for requests. */
export interface Administration {
  readonly workspaces: Workspaces;
  readonly members: WorkspaceMembers;
  readonly organization: Organization;
  readonly budgets: WorkspaceBudgets;
  readonly guardrails: Guardrails;
  readonly assignments: GuardrailAssignments;
  readonly audit: Audit;
  readonly policies: PolicyCache;
  /** Told when anything that rules requests was changed, in whichever process. */
  readonly changes: Pick<Changes, 'subscribe'>;
}

export interface AdministrationParts {
  readonly database: Database;
  readonly keyStore: Pick<KeyStore, 'subscribe'>;
  /** By which processes that share the database tell each other; absent: there is one. */
  readonly news?: News;
  readonly catalog: Pick<Catalog, 'find'>;
  readonly clock: Clock;
  /** A change was made whose audit event could not be stored. */
  readonly onLostAudit: (event: AuditEvent, error: unknown) => void;
}

export function createAdministration(parts: AdministrationParts): Administration {
  const { database, catalog, clock } = parts;
  const workspaceStore = createWorkspaceStore({ database });
  const policies = createPolicyCache({ read: createPolicyLayers({ database }), clock });
  // Changes of rules are rare, and whom they reach is not worth finding out.
  const forget = (): void => policies.forget();
  parts.keyStore.subscribe(forget);
  const changes = createChanges('rules', parts.news);
  changes.subscribe(forget, () => policies.outdate());
  const onChange = (): void => changes.announce();
  const workspaces = createWorkspaces({ store: workspaceStore, clock, onChange });
  const guardrailStore = createGuardrailStore({ database });
  const guardrails = createGuardrails({ store: guardrailStore, workspaces, workspaceStore, catalog, clock, onChange });
  return {
    workspaces,
    members: createWorkspaceMembers({ store: createMemberStore({ database }), workspaces, clock }),
    organization: createOrganization({ store: createUserStore({ database }) }),
    budgets: createWorkspaceBudgets({ store: createBudgetStore({ database }), workspaces, clock, onChange }),
    guardrails,
    assignments: createGuardrailAssignments({
      store: createAssignmentStore({ database }),
      guardrails,
      clock,
      onChange,
    }),
    audit: createAudit({ store: createAuditStore({ database }), clock, onLost: parts.onLostAudit }),
    policies,
    changes,
  };
}
