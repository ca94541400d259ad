import { createConsoleLinks } from '../../accounts/console/links.ts';
import { CONFIG_FLAGS, parseFlags } from '../../config/flags.ts';
import { systemClock } from '../../lib/clock.ts';
import { createConsoleLinkStore } from '../../store/accounts/console-links.ts';
import { openAuditTrail } from '../audit/audit-trail.ts';
import { CommandError, UsageError } from '../command.ts';
import type { Io } from '../command.ts';
import { formatConsoleLink } from './console-link.ts';
import { configArgs, loadCheckedConfig } from '../load-config.ts';
import { openConfiguredDatabase } from '../open-database.ts';

const FLAGS = { ...CONFIG_FLAGS, url: { type: 'string' } } as const;

/** `model-gateway console link`: prints a link that signs in to the dashboard, once. */
export async function runConsole(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  const [verb, ...rest] = words;
  if (verb === undefined) throw new UsageError('console: say what to do; there is "console link"');
  if (verb !== 'link') throw new UsageError(`console ${verb}: unknown command; there is "console link"`);
  if (rest[0] !== undefined) throw new UsageError(`console link: ${rest[0]}: unexpected argument`);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  if (!config.console.enabled) throw new CommandError('console.enabled is false: this gateway serves no dashboard.');
  const base = readUrl(values.url) ?? `http://${addressOf(config.server.host)}:${config.server.port}`;
  const database = await openConfiguredDatabase(config, { makes: false });
  try {
    const secret = await createConsoleLinks({
      store: createConsoleLinkStore({ database }),
      clock: systemClock,
    }).create();
    await openAuditTrail(database, io)('createConsoleLink', '/sessions');
    io.stdout.write(`${formatConsoleLink(base, secret)}\n`);
    io.stderr.write('It works once, within ten minutes.\n');
  } finally {
    await database.close();
  }
  return 0;
}

function readUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.origin;
  throw new UsageError(`--url: must be an http:// or https:// URL, not ${JSON.stringify(text)}`);
}

function addressOf(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
