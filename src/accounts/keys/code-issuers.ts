import type { DefaultPlugin, DefaultPreferences } from '../../canonical/directives.ts';
import type { Clock } from '../../lib/clock.ts';
import type { AssignmentStore } from '../../store/accounts/guardrail-assignments.ts';
import type { GuardrailStore } from '../../store/accounts/guardrails.ts';
import type { KeyRow } from '../../resources/keys.ts';
import type { KeyStore } from '../../store/accounts/keys.ts';
import { defaultGuardrailId } from '../policy/default-guardrail-id.ts';
import { userHash } from '../people/viewer.ts';
import { hashKey } from './key-format.ts';
import type { StaticKeys } from './keys.ts';
import { DEFAULT_WORKSPACE_ID, LINK_OPERATOR_HASH } from '../principal.ts';

/** Decides which keys may issue a key for an application. */
export interface CodeIssuers {
  /**
   * Says why the key may not, as one sentence; `undefined`: it may. A restricted key must not issue an unrestricted
   * one: rules of its workspace or its member apply to the new key as well, rules of the key alone do not.
   * @param userId the user that the key is of, or that agreed itself
   */
  refusalOf(keyHash: string, userId: string | null): Promise<string | undefined>;
  /**
   * Finds the key whose limits also count for a key that it issues; null: none, since a management key has no limits.
   */
  rootOf(keyHash: string, userId: string | null): Promise<string | null>;
}

export interface CodeIssuersDeps {
  readonly keys: Pick<KeyStore, 'find'>;
  readonly assignments: Pick<AssignmentStore, 'has'>;
  readonly guardrails: Pick<GuardrailStore, 'find'>;
  /** Keys from the environment have no rules of their own, and exist as long as the environment has them. */
  readonly staticKeys: StaticKeys;
  /** Whether normal keys may issue keys at all. @spec key-18 */
  readonly allowsNormalKeys: boolean;
  /** Whether a user may do anything now. Absent: there are none. */
  readonly admitsUser?: ((id: string) => Promise<boolean>) | undefined;
  readonly clock: Clock;
}

const IS_NORMAL =
  'Normal keys cannot issue keys on this gateway. Use a management key, or set "oauth: { normal_keys: true }" in the configuration of the gateway.';
const IS_GONE = 'The user may not give out keys any more.';
const IS_RULED =
  'A key with a limit, an expiry, a guardrail or binding defaults of its own cannot give out further keys. Use a management key.';
const IS_LIMITED =
  "The key's workspace limits what each key may spend, so that its keys cannot give out further ones. Use a management key.";

export function createCodeIssuers(deps: CodeIssuersDeps): CodeIssuers {
  const { keys, assignments, staticKeys, allowsNormalKeys, clock } = deps;
  const management = staticKeys.management && hashKey(staticKeys.management);
  const normal = staticKeys.normal && hashKey(staticKeys.normal);
  return {
    async refusalOf(keyHash, userId) {
      if (isUser(keyHash, userId)) return (await deps.admitsUser?.(userId)) === true ? undefined : IS_GONE;
      if (keyHash === management || keyHash === LINK_OPERATOR_HASH) return undefined;
      if (keyHash === normal) return allowsNormalKeys ? refusalOfWorkspace(deps, DEFAULT_WORKSPACE_ID) : IS_NORMAL;
      const key = await keys.find(keyHash);
      const isOver = key !== undefined && key.expiresAtMs !== null && key.expiresAtMs <= clock.nowMs();
      if (key === undefined || key.disabled || isOver) return 'The key is not valid any more.';
      if (key.kind === 'management') return undefined;
      if (!allowsNormalKeys) return IS_NORMAL;
      if (hasRules(key) || (await assignments.has('key', keyHash))) return IS_RULED;
      // All keys of a member share one such limit.
      return key.creatorUserId === null ? refusalOfWorkspace(deps, key.workspaceId) : undefined;
    },
    async rootOf(keyHash, userId) {
      if (isUser(keyHash, userId)) return null;
      if (keyHash === management || keyHash === LINK_OPERATOR_HASH) return null;
      const key = await keys.find(keyHash);
      return key?.kind === 'management' ? null : (key?.rootKeyHash ?? keyHash);
    },
  };
}

/** Whether the user itself agreed, in the dashboard, and no key of it. */
function isUser(keyHash: string, userId: string | null): userId is string {
  return userId !== null && keyHash === userHash(userId);
}

function hasRules({ limitNanoUsd, expiresAtMs, defaultProviderPreferences, defaultPlugins }: KeyRow): boolean {
  return (
    limitNanoUsd !== null ||
    expiresAtMs !== null ||
    isBinding(defaultProviderPreferences) ||
    (defaultPlugins ?? []).some(isMandatory)
  );
}

/** Whether a preference restricts requests whatever they say. */
function isBinding(preferences: DefaultPreferences | null): boolean {
  const { only, ignore, zdr, dataCollection } = preferences ?? {};
  return only !== undefined || ignore !== undefined || zdr === true || dataCollection === 'deny';
}

function isMandatory({ preventOverrides }: DefaultPlugin): boolean {
  return preventOverrides;
}

/** The guardrail of a workspace limits each key separately: one more key would add one more limit's worth. */
async function refusalOfWorkspace(
  { guardrails }: Pick<CodeIssuersDeps, 'guardrails'>,
  workspaceId: string,
): Promise<string | undefined> {
  const guardrail = await guardrails.find(defaultGuardrailId(workspaceId));
  return guardrail === undefined || guardrail.limitNanoUsd === null ? undefined : IS_LIMITED;
}
