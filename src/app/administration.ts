import { createAudit, type Audit } from '../accounts/audit.ts';
import type { AuditEvent } from '../resources/audit-events.ts';
import { createGuardrailAssignments, type GuardrailAssignments } from '../accounts/policy/guardrail-assignments.ts';
import { createGuardrails, type Guardrails } from '../accounts/policy/guardrails.ts';
import { createOrganization, type Organization } from '../accounts/workspaces/organization.ts';
import { createPolicyCache, type PolicyCache } from '../accounts/policy/policy-cache.ts';
import { createWorkspaceBudgets, type WorkspaceBudgets } from '../accounts/workspaces/workspace-budgets.ts';
import { createWorkspaceMembers, type WorkspaceMembers } from '../accounts/workspaces/workspace-members.ts';
import { createWorkspaces, type Workspaces } from '../accounts/workspaces/workspaces.ts';
import type { UserRow } from '../accounts/people/people.ts';
import type { Catalog } from '../catalog/model.ts';
import type { OrganizationConfig } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { createAuditStore } from '../store/accounts/audit.ts';
import { createChanges, type Changes } from '../store/engine/changes.ts';
import type { Database } from '../store/engine/database.ts';
import { createAssignmentStore } from '../store/accounts/guardrail-assignments.ts';
import { createGuardrailStore } from '../store/accounts/guardrails.ts';
import type { KeyStore } from '../store/accounts/keys.ts';
import { createPolicyLayers } from '../store/accounts/policy-layers.ts';
import type { InvalidationBus } from '../state/contract.ts';
import { createUserStore } from '../store/accounts/users.ts';
import { createBudgetStore } from '../store/accounts/workspace-budgets.ts';
import { createMemberStore } from '../store/accounts/workspace-members.ts';
import type { MemberRow } from '../resources/workspace-parts.ts';
import { createPeopleArea, type PeopleArea } from './console/people.ts';
import { createWorkspaceStore } from '../store/accounts/workspaces.ts';

/** Workspaces and what rules them, for management routes, and the rules for requests. */
export interface Administration {
  readonly workspaces: Workspaces;
  readonly members: WorkspaceMembers;
  readonly organization: Organization;
  /** Users that sign in. Absent: there is no organization. */
  readonly peopleArea: PeopleArea | undefined;
  readonly budgets: WorkspaceBudgets;
  readonly guardrails: Guardrails;
  readonly assignments: GuardrailAssignments;
  readonly audit: Audit;
  readonly policies: PolicyCache;
  /** Notified when any process changed anything that rules requests. */
  readonly changes: Pick<Changes, 'subscribe'>;
}

export interface AdministrationDeps {
  readonly database: Database;
  readonly keyStore: Pick<KeyStore, 'subscribe' | 'announce'>;
  readonly organization?: OrganizationConfig | undefined;
  /** Notifies the processes that share the database; absent: there is one. */
  readonly invalidations?: InvalidationBus;
  readonly catalog: Pick<Catalog, 'find'>;
  readonly clock: Clock;
  /** A change was made whose audit event could not be stored. */
  readonly onLostAudit: (event: AuditEvent, error: unknown) => void;
}

export function createAdministration(deps: AdministrationDeps): Administration {
  const { database, catalog, clock } = deps;
  const workspaceStore = createWorkspaceStore({ database });
  const policies = createPolicyCache({ read: createPolicyLayers({ database }), clock });
  // Changes of rules are rare, so finding out which keys they affect is not worthwhile.
  const forget = (): void => policies.forget();
  deps.keyStore.subscribe(forget);
  const changes = createChanges('rules', deps.invalidations);
  changes.subscribe(forget, () => policies.outdate());
  const onChange = (): void => changes.announce();
  const workspaces = createWorkspaces({ store: workspaceStore, clock, onChange });
  const peopleArea = createPeopleArea(deps.organization, { ...deps, workspaces });
  const guardrailStore = createGuardrailStore({ database });
  const guardrails = createGuardrails({ store: guardrailStore, workspaces, workspaceStore, catalog, clock, onChange });
  return {
    workspaces,
    members: createWorkspaceMembers({
      store: createMemberStore({ database }),
      workspaces,
      roleOf: peopleArea && (async (id) => roleOfUser(await peopleArea.people.admit(id))),
      clock,
    }),
    peopleArea,
    organization: createOrganization({ store: createUserStore({ database }) }),
    budgets: createWorkspaceBudgets({ store: createBudgetStore({ database }), workspaces, clock, onChange }),
    guardrails,
    assignments: createGuardrailAssignments({
      store: createAssignmentStore({ database }),
      guardrails,
      clock,
      onChange,
    }),
    audit: createAudit({ store: createAuditStore({ database }), clock, onLost: deps.onLostAudit }),
    policies,
    changes,
  };
}

/** A new member has in its workspace the role that it has in the organization. @spec people-11 */
function roleOfUser(user: UserRow | undefined): MemberRow['role'] {
  return user?.role === 'org:admin' ? 'admin' : 'member';
}
