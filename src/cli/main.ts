import { ConfigError } from '../config/config-error.ts';
import { nearestName } from '../lib/text/nearest-name.ts';
import { readVersion } from '../app/version.ts';
import { CommandError, UsageError } from './command.ts';
import type { Command, Io } from './command.ts';
import {
  AUDIT_HELP,
  BACKUP_HELP,
  CATALOG_HELP,
  CHAT_HELP,
  CLASSIFIERS_HELP,
  CONFIG_HELP,
  CONSOLE_HELP,
  CONTAINERS_HELP,
  CREDITS_HELP,
  DATASETS_HELP,
  DECISIONS_HELP,
  DESTINATIONS_HELP,
  DOCTOR_HELP,
  EVAL_HELP,
  EXPLAIN_HELP,
  GENERATIONS_HELP,
  IMPORT_HELP,
  INTERNS_HELP,
  MCP_SERVER_HELP,
  JOURNAL_HELP,
  KEYS_HELP,
  NOTIFY_HELP,
  REPORT_HELP,
  SCIM_HELP,
  SECRET_HELP,
  SERVE_HELP,
  VAULT_HELP,
  formatOverview,
} from './help.ts';

// Each command loads its own code: `--help` and `chat` need neither the server nor the database.
const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    summary: 'start the gateway (what happens without a command)',
    help: SERVE_HELP,
    run: async (args, io) => (await import('./serve.ts')).runServe(args, io),
  },
  keys: {
    summary: 'create, list, disable, enable and delete API keys',
    help: KEYS_HELP,
    run: async (args, io) => (await import('./keys.ts')).runKeys(args, io),
  },
  credits: {
    summary: 'show, grant, adjust, refund and verify credit',
    help: CREDITS_HELP,
    run: async (args, io) => (await import('./credits.ts')).runCredits(args, io),
  },
  backup: {
    summary: 'write the database to a file, also while the gateway runs',
    help: BACKUP_HELP,
    run: async (args, io) => (await import('./backup.ts')).runBackup(args, io),
  },
  restore: {
    summary: 'put a backup in the place of the database',
    help: BACKUP_HELP,
    run: async (args, io) => (await import('./backup.ts')).runRestore(args, io),
  },
  secret: {
    summary: 'seal stored credentials anew with another secret',
    help: SECRET_HELP,
    run: async (args, io) => (await import('./secret.ts')).runSecret(args, io),
  },
  vault: {
    summary: 'store, list and delete secrets that are bound to hosts',
    help: VAULT_HELP,
    run: async (args, io) => (await import('./vault.ts')).runVault(args, io),
  },
  containers: {
    summary: 'check what isolates commands of models, and list and remove containers',
    help: CONTAINERS_HELP,
    run: async (args, io) => (await import('./containers.ts')).runContainers(args, io),
  },
  interns: {
    summary: 'list saved agents and runs, decide on what waits, and cancel runs',
    help: INTERNS_HELP,
    run: async (args, io) => (await import('./interns.ts')).runInterns(args, io),
  },
  'mcp-server': {
    summary: 'show the gateway as an MCP server, and list and end connections of programs',
    help: MCP_SERVER_HELP,
    run: async (args, io) => (await import('./mcp-server.ts')).runMcpServer(args, io),
  },
  scim: {
    summary: 'make tokens for identity providers, and show what they push',
    help: SCIM_HELP,
    run: async (args, io) => (await import('./scim.ts')).runScim(args, io),
  },
  journal: {
    summary: 'list, show and apply records on their way to the database',
    help: JOURNAL_HELP,
    run: async (args, io) => (await import('./journal/journal.ts')).runJournal(args, io),
  },
  generations: {
    summary: 'list and show records of generations',
    help: GENERATIONS_HELP,
    run: async (args, io) => (await import('./generations.ts')).runGenerations(args, io),
  },
  report: {
    summary: 'sum up what routers chose and saved',
    help: REPORT_HELP,
    run: async (args, io) => (await import('./report.ts')).runReport(args, io),
  },
  destinations: {
    summary: 'list where records are sent, and test connections',
    help: DESTINATIONS_HELP,
    run: async (args, io) => (await import('./destinations.ts')).runDestinations(args, io),
  },
  notify: {
    summary: 'list where operators are notified, and send a test',
    help: NOTIFY_HELP,
    run: async (args, io) => (await import('./notify.ts')).runNotify(args, io),
  },
  audit: {
    summary: 'list changes and their authors',
    help: AUDIT_HELP,
    run: async (args, io) => (await import('./audit/audit.ts')).runAudit(args, io),
  },
  config: {
    summary: 'check the configuration and print what is in effect',
    help: CONFIG_HELP,
    run: async (args, io) => (await import('./config.ts')).runConfig(args, io),
  },
  import: {
    summary: "turn another gateway's configuration into one for this gateway",
    help: IMPORT_HELP,
    run: async (args, io) => (await import('./import.ts')).runImport(args, io),
  },
  console: {
    summary: 'print a one-time link that signs in to the dashboard',
    help: CONSOLE_HELP,
    run: async (args, io) => (await import('./console/console.ts')).runConsole(args, io),
  },
  doctor: {
    summary: 'check this machine and each provider, and say what is wrong',
    help: DOCTOR_HELP,
    run: async (args, io) => (await import('./doctor.ts')).runDoctor(args, io),
  },
  catalog: {
    summary: 'show model facts with their sources, and refresh them',
    help: CATALOG_HELP,
    run: async (args, io) => (await import('./catalog.ts')).runCatalog(args, io),
  },
  chat: {
    summary: 'talk to a model from the terminal',
    help: CHAT_HELP,
    run: async (args, io) => (await import('./chat.ts')).runChat(args, io),
  },
  explain: {
    summary: 'show how a request would be routed, without sending it',
    help: EXPLAIN_HELP,
    run: async (args, io) => (await import('./explain.ts')).runExplain(args, io),
  },
  eval: {
    summary: 'run your own benchmarks on a running gateway, and compare models',
    help: EVAL_HELP,
    run: async (args, io) => (await import('./eval.ts')).runEval(args, io),
  },
  classifiers: {
    summary: 'list, try and enable classifiers, and sort conversations that were kept',
    help: CLASSIFIERS_HELP,
    run: async (args, io) => (await import('./classifiers.ts')).runClassifiers(args, io),
  },
  datasets: {
    summary: 'show which models and applications are used, and what sessions cost',
    help: DATASETS_HELP,
    run: async (args, io) => (await import('./datasets.ts')).runDatasets(args, io),
  },
  decisions: {
    summary: 'fit the probabilities of judges to known answers',
    help: DECISIONS_HELP,
    run: async (args, io) => (await import('./decisions.ts')).runDecisions(args, io),
  },
  sandbox: {
    summary: 'start the sandbox provider alone, as an upstream for tests',
    run: async (args, io) => (await import('./sandbox.ts')).runSandbox(args, io),
  },
};

/**
 * Runs one command line.
 * @param argv without the interpreter and the script
 * @returns the exit code
 */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    io.stderr.write(`${formatError(error, io.env)}\n`);
    const isUsage = error instanceof UsageError || (error instanceof ConfigError && error.isUsage);
    return isUsage ? 2 : 1;
  }
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const [first] = argv;
  const isCommand = first !== undefined && !first.startsWith('-');
  const wantsHelp = argv.some((arg) => arg === '--help' || arg === '-h') || first === 'help';
  const name = first === 'help' ? argv[1] : isCommand ? first : undefined;
  if (name === undefined && wantsHelp) return print(io, formatOverview(COMMANDS));
  if (name === undefined && argv.some((arg) => arg === '--version' || arg === '-v'))
    return print(io, `${readVersion()}\n`);
  const command = Object.hasOwn(COMMANDS, name ?? 'serve') ? COMMANDS[name ?? 'serve'] : undefined;
  if (command === undefined) throw unknownCommand(name ?? '');
  if (wantsHelp) return command.help === undefined ? command.run(['--help'], io) : print(io, command.help);
  return command.run(isCommand ? argv.slice(1) : argv, io);
}

function print(io: Io, text: string): number {
  io.stdout.write(text);
  return 0;
}

function unknownCommand(name: string): UsageError {
  const nearest = nearestName(name, Object.keys(COMMANDS));
  const hint = nearest === undefined ? `known are ${Object.keys(COMMANDS).join(', ')}` : `did you mean "${nearest}"?`;
  return new UsageError(`${name}: unknown command; ${hint}`);
}

/** One sentence. The stack is printed for debugging, and for faults of our own. */
function formatError(error: unknown, env: Io['env']): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected = error instanceof UsageError || error instanceof CommandError || error instanceof ConfigError;
  const wantsStack = env['GATEWAY_LOG_LEVEL'] === 'debug' || env['GATEWAY_LOG_LEVEL'] === 'trace';
  return !isExpected || wantsStack ? (error.stack ?? error.message) : error.message;
}
