/**
 * The operator's configuration is wrong. The message is complete and printable as it stands: it names the place
 * (`gateway.yaml:12: providers.alpha.adaptor`, `--port`, `GATEWAY_PORT`), says what is wrong and never holds a secret.
 */
export class ConfigError extends Error {
  /** The command line itself is wrong, rather than a file or the environment. */
  readonly isUsage: boolean;

  constructor(message: string, options: { readonly isUsage?: boolean; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ConfigError';
    this.isUsage = options.isUsage ?? false;
  }
}
