import { renderConfig } from '../config/render.ts';
import { UsageError } from './command.ts';
import type { Io } from './command.ts';
import { ConfigError } from '../config/config-error.ts';
import { loadCheckedConfig, type CheckedConfig } from './load-config.ts';

/** `model-gateway config check`: reports what `serve` would refuse or warn of, and starts nothing. */
export function runConfig(args: readonly string[], io: Io): Promise<number> {
  const [verb, ...rest] = args;
  if (verb === undefined) throw new UsageError('config: say what to do; there is "config check"');
  if (verb !== 'check') throw new UsageError(`config ${verb}: unknown command; there is "config check"`);
  const { config, warnings } = loadAndListProblems(rest, io);
  io.stdout.write(renderConfig(config));
  for (const warning of warnings) io.stderr.write(`warning: ${warning}\n`);
  return Promise.resolve(0);
}

/** @throws ConfigError with all that is wrong, a line each */
function loadAndListProblems(args: readonly string[], io: Io): CheckedConfig {
  try {
    return loadCheckedConfig(args, io.env);
  } catch (error) {
    if (!(error instanceof ConfigError) || error.problems.length < 2) throw error;
    throw new ConfigError(error.problems.join('\n'), {
      isUsage: error.isUsage,
      problems: error.problems,
      cause: error,
    });
  }
}
