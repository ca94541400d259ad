import { z } from 'zod';
import type { HashicorpTokenConfig, VaultConfig, WebCredential } from '../config.ts';
import { key } from './key.ts';
import { namesVault } from '../../canonical/vault-reference.ts';
import { headerName, headerValue, httpUrl, OFF, optionalSection, text } from './parts.ts';

const WEB_CREDENTIALS_MAX = 100;
const AGE_DAYS_MAX = 3_650;
const MS_PER_DAY = 86_400_000;
const HOST = /^(?=.{1,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

/** Headers with which pages of single hosts are fetched. */
export const webCredentials = key(
  z
    .record(
      z.string().regex(HOST, 'must be a host name in lower case, without a scheme and a port'),
      z.record(
        headerName,
        headerValue.refine(namesVault, 'must name a secret of the vault, as in "Bearer ${vault:NAME}"'),
      ),
    )
    .refine(
      (hosts) => Object.keys(hosts).length <= WEB_CREDENTIALS_MAX,
      `must have at most ${WEB_CREDENTIALS_MAX} hosts`,
    ),
  'Headers with which pages of a host are fetched; each names a secret of the vault that is bound to the host.',
  { usual: 'none', example: { 'wiki.example': { authorization: 'Bearer ${vault:wiki}' } } },
);

/** One entry for each header. */
export function webCredentialsOf(hosts: z.output<typeof webCredentials> = {}): readonly WebCredential[] {
  return Object.entries(hosts).flatMap(([host, headers]) =>
    Object.entries(headers).map(([header, value]) => ({ host, header, value })),
  );
}

const PATH_PART = /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/;
const path = z
  .string()
  .regex(PATH_PART, 'must be a path of letters, digits, "_", "." and "-", without "/" at its ends');
/** A token of the back end cannot itself be in the vault. */
const token = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
  .refine((value) => !namesVault(value), 'cannot be in the vault: it is what opens it');

const hashicorpShape = {
  address: key(httpUrl, 'The server, without `/v1`.', { usual: 'none', example: 'https://vault.example:8200' }),
  mount: key(path, 'Where its KV engine is, version 2.', { default: 'secret' }),
  prefix: key(path, 'All that the gateway reads and stores is below this path.', { default: 'gateway' }),
  namespace: key(path, 'A namespace of the server.', { usual: 'none', example: 'team' }),
  writes: key(z.boolean(), 'The gateway stores and deletes values there, too.', OFF),
  token: key(token, 'A token. It is not renewed.', { usual: 'none', example: 'hvs.a-token' }),
  token_file: key(text, 'A file with a token that something else renews, such as the agent of the server.', {
    usual: 'none',
    example: '/run/vault/token',
  }),
  kubernetes_role: key(text, 'The role with which the service account of the pod signs in.', {
    usual: 'none',
    example: 'model-gateway',
  }),
  kubernetes_mount: key(path, 'Where the Kubernetes method is.', { default: 'kubernetes' }),
  kubernetes_token_file: key(text, 'The token of the service account.', {
    default: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  }),
};

export const vaultSection = optionalSection(
  {
    writes: key(z.boolean(), 'Secrets may be stored and deleted.', { default: true, example: false }),
    writers: key(
      z.enum(['admins', 'any']),
      'Which normal keys may change secrets of their workspace: those of its admins, or all. Management keys always may.',
      { default: 'admins', example: 'any' },
    ),
    allow_private_hosts: key(
      z.boolean(),
      "Secrets may be bound and sent to hosts of the operator's own network, be it without TLS and at any port.",
      OFF,
    ),
    max_age_days: key(
      z.number().positive().max(AGE_DAYS_MAX),
      'A secret whose value is older is reported as stale, once for each value.',
      { usual: 'none is', example: 90 },
    ),
    backend: key(z.enum(['builtin', 'file', 'hashicorp']), 'Where values are kept: in the database, or outside.', {
      default: 'builtin',
    }),
    file: optionalSection(
      {
        dir: key(text, 'The folder, which has a file for each secret.', { usual: 'none', example: '/run/secrets' }),
      },
      'Values as files, as Docker and Kubernetes mount secrets.',
    ),
    hashicorp: optionalSection(hashicorpShape, 'Values in HashiCorp Vault, or a server with its API.'),
  },
  'Secrets that are bound to hosts: docs/vault.md.',
).superRefine(({ backend, file, hashicorp }, context) => {
  const refuse = (at: readonly string[], message: string): void =>
    context.addIssue({ code: 'custom', path: [...at], message });
  if (backend === 'file' && file.dir === undefined) refuse(['file', 'dir'], 'is needed: vault.backend is file');
  if (backend !== 'hashicorp') return;
  if (hashicorp.address === undefined) refuse(['hashicorp', 'address'], 'is needed: vault.backend is hashicorp');
  const ways = [hashicorp.token, hashicorp.token_file, hashicorp.kubernetes_role].filter((way) => way !== undefined);
  if (ways.length !== 1)
    refuse(['hashicorp'], 'must have one of token, token_file and kubernetes_role, by which the gateway signs in');
});

/** The section with its defaults. */
export function vaultOf(section: z.output<typeof vaultSection>): VaultConfig {
  const { writes = true, writers = 'admins', allow_private_hosts: allowPrivateHosts = false } = section;
  const { max_age_days: days } = section;
  const maxAgeMs = days === undefined ? undefined : days * MS_PER_DAY;
  return { writes, writers, allowPrivateHosts, maxAgeMs, backEnd: backEndOf(section) };
}

function backEndOf({ backend, file, hashicorp }: z.output<typeof vaultSection>): VaultConfig['backEnd'] {
  if (backend === 'file') return { kind: 'file', folder: file.dir ?? '' };
  if (backend !== 'hashicorp') return undefined;
  const { address = '', mount = 'secret', prefix = 'gateway', namespace, writes = false } = hashicorp;
  return { kind: 'hashicorp', address, mount, prefix, namespace, writes, token: tokenOf(hashicorp) };
}

function tokenOf(section: z.output<typeof vaultSection>['hashicorp']): HashicorpTokenConfig {
  if (section.token !== undefined) return { kind: 'token', token: section.token };
  if (section.token_file !== undefined) return { kind: 'file', path: section.token_file };
  const { kubernetes_role: role = '', kubernetes_mount: mount = 'kubernetes' } = section;
  const { kubernetes_token_file: jwtPath = '/var/run/secrets/kubernetes.io/serviceaccount/token' } = section;
  return { kind: 'kubernetes', role, mount, jwtPath };
}

/** In the words of the file, its secrets as `redacted`. */
export function formatVault(
  { writes, writers, allowPrivateHosts, maxAgeMs, backEnd }: VaultConfig,
  redacted: string,
): object {
  return {
    writes,
    writers,
    allow_private_hosts: allowPrivateHosts,
    max_age_days: maxAgeMs === undefined ? undefined : maxAgeMs / MS_PER_DAY,
    backend: backEnd?.kind ?? 'builtin',
    ...(backEnd?.kind === 'file' && { file: { dir: backEnd.folder } }),
    ...(backEnd?.kind === 'hashicorp' && { hashicorp: formatHashicorp(backEnd, redacted) }),
  };
}

function formatHashicorp(
  { address, mount, prefix, namespace, writes, token: way }: Extract<VaultConfig['backEnd'], { kind: 'hashicorp' }>,
  redacted: string,
): object {
  return {
    address,
    mount,
    prefix,
    namespace,
    writes,
    ...(way.kind === 'token' && { token: redacted }),
    ...(way.kind === 'file' && { token_file: way.path }),
    ...(way.kind === 'kubernetes' && {
      kubernetes_role: way.role,
      kubernetes_mount: way.mount,
      kubernetes_token_file: way.jwtPath,
    }),
  };
}
