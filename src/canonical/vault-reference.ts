/** The name of a secret in the vault: words of lower-case letters and digits, joined by single underscores. @spec vault-2 */
export const VAULT_NAME = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
export const VAULT_NAME_CHARS_MAX = 255;

/** Placeholders in one value. @spec vault-9 */
const VAULT_PLACEHOLDERS_MAX = 5;

/** A configured value that names secrets of the vault in place of containing them. */
export interface VaultTemplate {
  /** Of the secrets, in the order of the text; at least one. */
  readonly names: readonly string[];
  /** @param valueOf the value of a secret by its name */
  fill(valueOf: (name: string) => string): string;
}

const PREFIX = 'vault:';
const PLACEHOLDER = /\$\{vault:([^{}\n]*)\}/g;

/** Whether a text names a secret, be it by a name that none can have. */
export function namesVault(text: string): boolean {
  return text.startsWith(PREFIX) || text.includes('${vault:');
}

/**
 * Reads `vault:NAME`, or a text with `${vault:NAME}` in it. Any other text is a plain value.
 * @throws VaultReferenceError for a name that no secret can have, or too many placeholders
 */
export function parseVaultTemplate(text: string): VaultTemplate | undefined {
  if (!namesVault(text)) return undefined;
  if (text.startsWith(PREFIX)) {
    const name = checkedName(text.slice(PREFIX.length));
    return { names: [name], fill: (valueOf) => valueOf(name) };
  }
  const names = [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => checkedName(name));
  if (names.length === 0) throw new VaultReferenceError('has "${vault:" without a name and "}" behind it');
  if (names.length > VAULT_PLACEHOLDERS_MAX)
    throw new VaultReferenceError(`names more than ${VAULT_PLACEHOLDERS_MAX} secrets`);
  return { names, fill: (valueOf) => text.replaceAll(PLACEHOLDER, (_whole, name: string) => valueOf(name)) };
}

/** A text is no reference to the vault although it looks like one. The message is a clause about the member that has it. */
export class VaultReferenceError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'VaultReferenceError';
  }
}

function checkedName(name: string): string {
  if (VAULT_NAME.test(name) && name.length <= VAULT_NAME_CHARS_MAX) return name;
  throw new VaultReferenceError(
    'names no secret: a name has lower-case letters, digits and single underscores, and starts with a letter',
  );
}

/** Where names of secrets are unique: a workspace, an intern, or what the configuration may name. */
export interface VaultScope {
  readonly kind: 'operator' | 'workspace' | 'intern';
  /** The id of the workspace or the intern; `operator` for the operator's. */
  readonly id: string;
}

/** Why a secret was not released. */
export type VaultRefusal = 'credential_missing' | 'vault_host_mismatch' | 'vault_unavailable';

/** A secret is not released. The message names the secret and the host, and contains no value. */
export class VaultError extends Error {
  readonly code: VaultRefusal;

  constructor(code: VaultRefusal, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'VaultError';
    this.code = code;
  }
}

/** Where filled texts go. */
export interface SecretDestination {
  /** Absent: a process beside the gateway gets them, which the operator's configuration starts. */
  readonly url: string | undefined;
  /** What they are for: `provider:alpha`. */
  readonly caller: string;
  /** The key whose request it serves. Absent: none. */
  readonly keyHash?: string | undefined;
  /** The values are kept and used until they change: only a change counts as a release. */
  readonly isKept?: boolean;
  /** The secret is an address, which is called: its own host must be among its hosts. */
  readonly isAddress?: boolean;
}

/** Texts whose placeholders were filled, and the released values, which no error or record may repeat. */
export interface FilledSecrets {
  readonly texts: Readonly<Record<string, string>>;
  readonly values: readonly string[];
}

/**
 * Fills texts with secrets, each of which must be bound to the host of the destination. A text without a placeholder stays.
 * @throws VaultError for the first secret that is not released
 */
export type FillSecrets = (
  texts: Readonly<Record<string, string>>,
  destination: SecretDestination,
) => Promise<FilledSecrets>;
