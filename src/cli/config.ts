import { renderConfig } from '../config/render.ts';
import { UsageError } from './command.ts';
import type { Io } from './command.ts';
import { loadCheckedConfig } from './load-config.ts';

/** `model-gateway config check`: what `serve` would refuse or warn of is told here, and nothing is started. */
export function runConfig(args: readonly string[], io: Io): Promise<number> {
  const [verb, ...rest] = args;
  if (verb === undefined) throw new UsageError('config: say what to do; there is "config check"');
  if (verb !== 'check') throw new UsageError(`config ${verb}: unknown command; there is "config check"`);
  const { config, warnings } = loadCheckedConfig(rest, io.env);
  io.stdout.write(renderConfig(config));
  for (const warning of warnings) io.stderr.write(`warning: ${warning}\n`);
  return Promise.resolve(0);
}
