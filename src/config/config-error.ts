interface ConfigErrorOptions {
  readonly isUsage?: boolean;
  readonly problems?: readonly string[];
  readonly cause?: unknown;
}

/**
 * The operator's configuration is invalid. The message is complete and printable: it names the place (`gateway.yaml:12:
 * providers.alpha.adaptor`, `--port`, `GATEWAY_PORT`), says what is wrong and never contains a secret.
 */
export class ConfigError extends Error {
  /** The command line itself is wrong, rather than a file or the environment. */
  readonly isUsage: boolean;
  /** Everything that is wrong, one sentence each, where there is more than the message says. */
  readonly problems: readonly string[];

  constructor(message: string, options: ConfigErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ConfigError';
    this.isUsage = options.isUsage ?? false;
    this.problems = options.problems ?? [message];
  }
}
