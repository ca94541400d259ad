import type { Command } from './command.ts';

const CONFIG_OPTIONS = `  --config FILE     configuration, YAML or JSON       (GATEWAY_CONFIG; else gateway.yaml, if there is one)
  --data-dir DIR    where the database is kept        (GATEWAY_DATA_DIR; else ./data)
`;

export const SERVE_HELP = `Usage: model-gateway [serve] [options]

Starts the gateway. Without any configuration it listens on http://127.0.0.1:8787 with the embedded database, the
sandbox provider and every provider whose key is in the environment.

Options:
${CONFIG_OPTIONS}  --port PORT       port to listen on; 0 picks one    (GATEWAY_PORT; else server.port; else 8787)
  --host HOST       address to listen on              (GATEWAY_HOST; else server.host; else 127.0.0.1)
  -h, --help        this text
  -v, --version     the version

Environment:
  GATEWAY_API_KEY, GATEWAY_MANAGEMENT_KEY    accepted as keys; when one is set no key is made at the first start
  GATEWAY_SECRET                             encrypts stored provider credentials; else one is made in the data directory
  GATEWAY_SECRET_PREVIOUS                    opens what the secret before it encrypted, until \`secret rotate\` has run
  DATABASE_URL                               a PostgreSQL in place of the embedded database
  REDIS_URL, REDIS_PREFIX                    state that several processes share
  GATEWAY_LOG_LEVEL                          trace, debug, info (default), warn, error, fatal or silent

One line on standard output says where it listens; logs go to standard error as JSON lines. SIGTERM and SIGINT let
requests under way finish (server.drain_seconds) and exit 0; a second signal exits at once.
`;

export const SECRET_HELP = `Usage: model-gateway secret rotate [options]

Encrypts what is stored encrypted (credentials of providers, destinations, logged content) with another secret, also
while a gateway runs, which notices within seconds. Cut off, it goes on where it stopped when it is run again.

Without GATEWAY_SECRET it makes the new secret itself, in the file \`secret\` of the data directory, and keeps the last
one there until the next time. With GATEWAY_SECRET: set the new one, put the old one into GATEWAY_SECRET_PREVIOUS, for
the gateways and for this command, and run it; then GATEWAY_SECRET_PREVIOUS can go.

Options:
${CONFIG_OPTIONS}`;

export const KEYS_HELP = `Usage: model-gateway keys COMMAND [options]

Works on the database of the data directory, also while a gateway runs on it (which notices within seconds).

Commands:
  create [--name NAME] [--management] [--limit USD]
                    make a key; it is printed alone on standard output, this once
  list              all keys, without the keys themselves
  disable KEY       refuse a key from now on
  enable KEY        accept it again
  delete KEY        remove it for good

KEY is a key's hash, the beginning of one (8 characters or more), or a label as \`list\` shows it.

Options:
${CONFIG_OPTIONS}`;

export const CREDITS_HELP = `Usage: model-gateway credits COMMAND [options]

Works on the database of the data directory, or on DATABASE_URL, also while a gateway runs on it (which notices within a
minute). Every change is an entry of the ledger, with its reason and who made it.

Commands:
  balance                                 what is left, what was given, what was used
  grant AMOUNT --note TEXT                give credit
  adjust AMOUNT --note TEXT               correct the balance; AMOUNT may be negative
  refund GENERATION [AMOUNT] --note TEXT  give back what a generation cost, or a part of it
  entries [--limit N] [--json]            the newest entries, 20 unless you say otherwise
  verify                                  compare generations, entries, sums and balance; exits 1 where they differ

AMOUNT is in USD, such as 12.50.

Options:
  --id ID           of grant, adjust, refund: names the change; sent again with the same ID it is not entered twice
${CONFIG_OPTIONS}`;

export const BACKUP_HELP = `Usage: model-gateway backup FILE [options]
       model-gateway restore FILE [options]

backup writes everything that was committed at one moment to a new file, also while a gateway runs on the database, and
checks it. restore checks such a file and puts it in the place of the database, while no gateway runs; what was there is
kept beside it. On PostgreSQL they call pg_dump and pg_restore, and restore wants an empty database.

Neither holds GATEWAY_SECRET, without which stored provider credentials cannot be read.

Options:
${CONFIG_OPTIONS}`;

export const CONFIG_HELP = `Usage: model-gateway config check [options]

Reads the configuration as \`serve\` would. Prints what is in effect, secrets replaced, and exits 0; or says what is wrong
and where, and exits 1.

Options:
${CONFIG_OPTIONS}  --port PORT, --host HOST
`;

export const DOCTOR_HELP = `Usage: model-gateway doctor [options] [PROVIDER...]

Checks the configuration, the data directory, the secret, the clock, and each provider that is configured or turned on by
the environment: whether its name is known, its certificate trusted, its address right and its key accepted. It asks for
nothing that costs: the list of models, or an answer to an empty request, which is refused. One line each; exits 1 when
one of them failed.

Options:
${CONFIG_OPTIONS}`;

export const CATALOG_HELP = `Usage: model-gateway catalog COMMAND [options]

What the gateway knows of models: prices, limits, abilities. Later layers win, fact by fact: the price library, the public
list (catalog.refresh in the configuration; off by default), the project's own files, the configuration.

Commands:
  list [WORD...]    models that providers set up here serve, whose names hold the words
  show MODEL        every fact of a model, with its layer, its source and the source's date
  check             what is wrong with it, and what nobody knows
  refresh           fetch the public list now

Options:
  --all             of list: other providers' models as well
  --json            of list and show
  --accept-moved    of refresh: take over prices that moved by more than four times, which you have looked at
${CONFIG_OPTIONS}`;

export const REPORT_HELP = `Usage: model-gateway report routers [options]

What routers (service/auto and the others) chose, what it cost, and what that saved against the most capable model that the
request might have gone to, at its list price for the same tokens. Negative: so much more was spent.

Options:
  --days N          how far back; default 7
  --by WHAT         a line for each router (default), or for each model or task of a router: router, model, task
  --json            one JSON object a line
${CONFIG_OPTIONS}`;

export const GENERATIONS_HELP = `Usage: model-gateway generations <command> [options]

  list              records of generations, newest first
  show ID           everything that is kept of one, as JSON

Options of list:
  --hours N         how far back; default 24
  --limit N         how many; default 20
  --key HASH, --workspace ID, --model SLUG, --provider SLUG, --session ID, --user HASH
  --failed          only those with a status of 400 or more
  --json            one JSON object a line
${CONFIG_OPTIONS}`;

export const AUDIT_HELP = `Usage: model-gateway audit [options]

Prints who changed what over the management API or with this command, newest first.

Options:
  --limit N         how many; default 20
  --action NAME     only this operation, such as updateKey
  --subject PATH    only what was done to this, such as /keys/HASH
  --json            one JSON object a line
${CONFIG_OPTIONS}`;

export const CHAT_HELP = `Usage: model-gateway chat [options] [MESSAGE...]

Sends one message and prints the answer as it comes. Without a message it is a conversation: a line a turn, /clear to
start over, /exit or end of input to leave. Ctrl-C stops an answer.

Options:
  --model MODEL     default sandbox/echo
  --url URL         where the gateway listens; default http://127.0.0.1:8787
  --key KEY         default: GATEWAY_API_KEY
`;

export const EXPLAIN_HELP = `Usage: model-gateway explain [options] [FILE]

Tells how a running gateway would route a request: whom it would ask in which order, what that would cost, and why others
are left out. No provider is asked and nothing is spent. FILE holds the JSON body of a chat or messages request, \`-\`
stands for standard input; without it a plain question to --model is explained.

Options:
  --model MODEL     instead of a file
  --json            print what the gateway answers, as JSON
  --url URL         where the gateway listens; default http://127.0.0.1:8787
  --key KEY         default: GATEWAY_API_KEY, else GATEWAY_MANAGEMENT_KEY
`;

export function drawOverview(commands: Readonly<Record<string, Command>>): string {
  const widest = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(widest + 2)}${summary}\n`);
  return `Usage: model-gateway [COMMAND] [options]

Commands:
${lines.join('')}
model-gateway COMMAND --help tells more about one.

${SERVE_HELP.slice(SERVE_HELP.indexOf('Options:'))}`;
}
