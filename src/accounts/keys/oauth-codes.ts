import { createHash, hash, timingSafeEqual } from 'node:crypto';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import { appIdOf, randomText } from '../../lib/ids.ts';
import type { Clock } from '../../lib/clock.ts';
import type { LimitReset } from '../../resources/keys.ts';
import type { OauthCodeRow } from '../../store/accounts/columns.ts';
import type { ChallengeMethod, OauthCodeStore } from '../../store/accounts/oauth-codes.ts';
import type { CodeIssuers } from './code-issuers.ts';
import type { Keys } from './keys.ts';
import type { Principal } from '../principal.ts';

/** The key that an application may get, as its owner agreed. */
export interface CodeInput {
  /** Where the application waits for the code. Absent: a person carries the code there, which takes a challenge. */
  readonly callbackUrl?: string | undefined;
  readonly challenge?: string | undefined;
  readonly challengeMethod?: ChallengeMethod | undefined;
  /** Absent: the application's name. */
  readonly keyName?: string | undefined;
  readonly limitNanoUsd: number | null;
  readonly limitReset: LimitReset | null;
  readonly keyExpiresAtMs: number | null;
  readonly workspaceId?: string | undefined;
}

export interface IssuedCode {
  /** The code exists here and in the one response that shows it, and nowhere else. */
  readonly code: string;
  readonly appId: number;
  readonly createdAtMs: number;
  /** Where the application waits for the code, without the path; null: nowhere. */
  readonly appOrigin: string | null;
  /** The name of the key that it becomes. */
  readonly keyName: string;
  readonly workspaceId: string;
}

export interface ExchangedKey {
  /** The key in full: this is the only time that it is visible. */
  readonly key: string;
  readonly keyHash: string;
  readonly name: string;
  readonly workspaceId: string;
  readonly userId: string | null;
  /** The key that agreed to it. */
  readonly issuer: Pick<Principal, 'keyHash' | 'label'>;
}

export interface Exchange {
  readonly code: string;
  readonly verifier?: string | undefined;
  readonly challengeMethod?: ChallengeMethod | null | undefined;
}

/** Codes by which an application gets a key of its own, so that no person has to paste one. @spec key-13; RFC 7636 */
export interface OauthCodes {
  /** @throws GatewayError 400; 403 for a key that would give away more than it has; 409, 429 */
  issue(issuer: Principal, input: CodeInput): Promise<IssuedCode>;
  /**
   * Exchanges a code for a key, once.
   * @throws GatewayError 400 for another method than at the start; 403, also where the issuing key may no longer issue
   */
  exchange(exchange: Exchange): Promise<ExchangedKey>;
}

export interface OauthCodesDeps {
  readonly store: OauthCodeStore;
  readonly keys: Pick<Keys, 'create'>;
  readonly issuers: CodeIssuers;
  readonly clock: Clock;
  /** Finds the workspace of a call that may leave it out. @throws GatewayError 400 when there is none */
  readonly workspaceOf: (named: string | undefined) => Promise<string>;
}

/** @spec key-15, key-16 */
const LIFE_MS = 10 * 60_000;
/** 256 bits. */
const CODE_CHARS = 43;
const CODE = /^[A-Za-z0-9]{43}$/;
/** SHA-256 in base64url without padding, and what RFC 7636, 4.1 lets a verifier be. */
const S256_CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;
/** Open codes of one key: no key keeps others from issuing codes. */
const OPEN_CODES_MAX = 1_000;
const KEY_NAME_OF_NO_APP = 'Made with a code';

export function createOauthCodes(deps: OauthCodesDeps): OauthCodes {
  const { store, keys, issuers, clock } = deps;
  return {
    async issue(issuer, input) {
      const app = input.callbackUrl === undefined ? undefined : parseCallback(input.callbackUrl);
      const { challenge, challengeMethod } = parseChallenge(input, app !== undefined);
      const refusal = await issuers.refusalOf(issuer.keyHash, issuer.memberId);
      if (refusal !== undefined) throw refuse(refusal);
      const workspaceId = await workspaceFor(deps, issuer, input.workspaceId);
      const nowMs = clock.nowMs();
      if ((await store.countOpen(issuer.keyHash, nowMs)) >= OPEN_CODES_MAX) throw tooManyCodes();
      const code = randomText(CODE_CHARS);
      const row: OauthCodeRow = {
        codeHash: digestOf(code),
        createdAtMs: nowMs,
        expiresAtMs: nowMs + LIFE_MS,
        challenge,
        challengeMethod,
        issuerKeyHash: issuer.keyHash,
        issuerLabel: issuer.label,
        keyName: input.keyName ?? app?.name ?? KEY_NAME_OF_NO_APP,
        limitNanoUsd: input.limitNanoUsd,
        limitReset: input.limitReset,
        keyExpiresAtMs: input.keyExpiresAtMs,
        workspaceId,
        userId: issuer.memberId,
      };
      if (!(await store.insert(row, nowMs)))
        throw new GatewayError('invalid_request', 'The code is in use. Try again.', { status: 409 });
      const { keyName } = row;
      return {
        code,
        appId: appIdOf(app?.origin ?? ''),
        createdAtMs: nowMs,
        appOrigin: app?.origin ?? null,
        keyName,
        workspaceId,
      };
    },
    async exchange({ code, verifier, challengeMethod }) {
      const nowMs = clock.nowMs();
      // A text that cannot be a code costs no database query.
      const row = CODE.test(code) ? await store.find(digestOf(code)) : undefined;
      if (row === undefined) throw refuse('The code is not valid, or was used.');
      if (row.expiresAtMs <= nowMs) throw refuse('The code has expired.');
      checkVerifier(row, verifier, challengeMethod ?? undefined);
      // A key that lost its rights since then has lost those of its codes as well.
      if ((await issuers.refusalOf(row.issuerKeyHash, row.userId)) !== undefined)
        throw refuse('The key that agreed to the code may not give out further keys any more.');
      if (!(await store.use(row.codeHash, nowMs))) throw refuse('The code is not valid, or was used.');
      const { key, record } = await keys.create({
        name: row.keyName,
        limitNanoUsd: row.limitNanoUsd,
        limitReset: row.limitReset,
        expiresAtMs: row.keyExpiresAtMs,
        creatorUserId: row.userId,
        workspaceId: row.workspaceId,
        issuerKeyHash: row.issuerKeyHash,
        issuerLabel: row.issuerLabel,
        rootKeyHash: await issuers.rootOf(row.issuerKeyHash, row.userId),
      });
      return {
        key,
        keyHash: record.hash,
        name: record.name,
        workspaceId: record.workspaceId,
        userId: row.userId,
        issuer: { keyHash: row.issuerKeyHash, label: row.issuerLabel },
      };
    },
  };
}

/** Parses the URL of a page of the application, named exactly: over TLS, or on the machine where the browser runs. */
function parseCallback(text: string): { readonly origin: string; readonly name: string } {
  const url = URL.parse(text);
  const isLoopback = url?.hostname === 'localhost' || url?.hostname === '127.0.0.1';
  if (url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)))
    throw invalid('callback_url', 'must be an https address, or http on localhost');
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw invalid('callback_url', 'must have neither a user nor a fragment');
  return { origin: url.origin, name: isLoopback ? url.host : url.hostname };
}

function parseChallenge(
  { challenge, challengeMethod }: CodeInput,
  hasCallback: boolean,
): Pick<OauthCodeRow, 'challenge' | 'challengeMethod'> {
  if (challenge === undefined) {
    if (challengeMethod !== undefined) throw invalid('code_challenge_method', 'needs a code_challenge');
    if (!hasCallback) throw invalid('code_challenge', 'is required where there is no callback_url');
    return { challenge: null, challengeMethod: null };
  }
  // RFC 7636, 4.3: the method is plain where none is given.
  const method = challengeMethod ?? 'plain';
  if (!(method === 'S256' ? S256_CHALLENGE : VERIFIER).test(challenge))
    throw invalid('code_challenge', `cannot be one of the method ${method}`);
  return { challenge, challengeMethod: method };
}

async function workspaceFor(
  { workspaceOf }: OauthCodesDeps,
  issuer: Principal,
  named: string | undefined,
): Promise<string> {
  if (issuer.kind === 'management') return workspaceOf(named);
  if (named !== undefined && named !== issuer.workspaceId)
    throw invalid('workspace_id', "is not the key's own workspace");
  return issuer.workspaceId;
}

function checkVerifier(
  { challenge, challengeMethod }: OauthCodeRow,
  verifier: string | undefined,
  method: ChallengeMethod | undefined,
): void {
  if (challenge === null) {
    // Otherwise an attacker could have removed the challenge at the start. RFC 9700, 4.8.2
    if (verifier !== undefined) throw invalid('code_verifier', 'the code was made without a challenge');
    return;
  }
  if (method !== undefined && method !== challengeMethod)
    throw invalid('code_challenge_method', 'is another one than at the start');
  const shown =
    verifier === undefined ? '' : challengeMethod === 'S256' ? hash('sha256', verifier, 'base64url') : verifier;
  if (!isSame(shown, challenge)) throw refuse('The code verifier is missing or wrong.');
}

/** Takes as long wherever the texts differ. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

function digestOf(code: string): string {
  return hash('sha256', code, 'hex');
}

function refuse(message: string): GatewayError {
  return new GatewayError('permission_denied', message);
}

function tooManyCodes(): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `This key has given out ${OPEN_CODES_MAX} codes that are not exchanged yet.`,
    {
      retryAfterMs: LIFE_MS / 10,
    },
  );
}
