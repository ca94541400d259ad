import { DEFAULT_ACCOUNT_ID, DEFAULT_WORKSPACE_ID, type Principal } from '../../src/accounts/principal.ts';

/** Makes a caller for tests: a normal key of the first workspace, without a limit. */
export function samplePrincipal(members: Partial<Principal> = {}): Principal {
  return {
    kind: 'normal',
    keyHash: 'a'.repeat(64),
    accountId: DEFAULT_ACCOUNT_ID,
    workspaceId: DEFAULT_WORKSPACE_ID,
    memberId: null,
    name: 'App',
    label: 'mgw-...',
    ...members,
  };
}
