import type { Command } from './command.ts';

const CONFIG_OPTIONS = `  --config FILE     configuration, YAML or JSON       (GATEWAY_CONFIG; default: gateway.yaml, if it exists)
  --data-dir DIR    directory of the database         (GATEWAY_DATA_DIR; default: ./data)
`;

export const SERVE_HELP = `Usage: model-gateway [serve] [options]

Starts the gateway. Without any configuration it listens on http://127.0.0.1:8787 with the embedded database, the
sandbox provider and every provider whose key is in the environment.

Options:
${CONFIG_OPTIONS}  --port PORT       port to listen on; 0 selects one  (GATEWAY_PORT; otherwise server.port; default: 8787)
  --host HOST       address to listen on              (GATEWAY_HOST; otherwise server.host; default: 127.0.0.1)
  --workers N|auto  processes that serve generations  (GATEWAY_WORKERS; otherwise server.workers; default: 1)
  -h, --help        this text
  -v, --version     the version

Environment:
  GATEWAY_API_KEY, GATEWAY_MANAGEMENT_KEY    accepted as keys; if one is set, the first start creates none
  GATEWAY_SECRET                             encrypts stored credentials; default: one is created in the data directory
  GATEWAY_SECRET_PREVIOUS                    the secret before it, until \`secret rotate\` has run
  DATABASE_URL                               a PostgreSQL in place of the embedded database
  REDIS_URL, REDIS_PREFIX                    shared state of several processes
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY          proxies on the way out, and hosts that are called directly
  NAME_FILE, for each of these but the prefix  a file that contains the value, in place of NAME
  GATEWAY_MEMORY_LIMIT_MB                    memory of the process; default: its cgroup's limit, or the machine's memory
  GATEWAY_LOG_FORMAT, --log-format           json (default), or pretty for people
  GATEWAY_LOG_LEVEL                          trace, debug, info (default), warn, error, fatal or silent

One line on standard output shows the address; logs go to standard error as JSON lines. On SIGTERM or SIGINT open requests
finish (server.drain_seconds), and the exit code is 0; a second signal exits at once.
`;

export const SECRET_HELP = `Usage: model-gateway secret rotate [options]

Encrypts all encrypted data (BYOK credentials, destinations, logged content) with another secret, also while a gateway
runs, which notices within seconds. When interrupted, the next run continues where it stopped.

Without GATEWAY_SECRET it creates the new secret in the file \`secret\` of the data directory, and keeps the previous one
there until the next rotation. With GATEWAY_SECRET: set the new one, put the old one into GATEWAY_SECRET_PREVIOUS, for
the gateways and for this command, and run it; then remove GATEWAY_SECRET_PREVIOUS.

Options:
${CONFIG_OPTIONS}`;

export const VAULT_HELP = `Usage: model-gateway vault COMMAND [options]

Secrets that the configuration names (\`api_key: vault:NAME\`), each bound to the hosts that it may be sent to. Works on the
database of the data directory, also while a gateway runs on it (which notices within seconds).

Commands:
  set NAME --hosts HOST,HOST  store a secret, or replace it; its value is read from standard input, one line
      --external PLACE        or where vault.backend has it: a file, or path#field
  list                        names, hosts, fingerprints and last use; never values
  delete NAME [--force]       delete it; --force: though something names it
  releases                    where secrets were sent, and refused to be, by hour
  rotate-check                values by age, with last use and what names them; exits with 1 if one is too old
  doctor                      what the configuration names, and why it would not be sent; exits with 1 if so

Options:
  --workspace ID    secrets of a workspace            (default: those of the operator)
  --intern ID       secrets of an intern
${CONFIG_OPTIONS}`;

export const INTERNS_HELP = `Usage: model-gateway interns COMMAND [options]

Saved agents, their runs, and what waits for a person (interns.enabled in the configuration). A running gateway goes on
with a run within seconds of a decision.

Commands:
  list                     the interns of the workspace, the newest first
  waiting                  what waits for a decision, with its input as it will be sent
  runs INTERN              the runs of one, the newest first
  schedule-preview INTERN  when its schedules begin a run next
  show RUN                 a run step by step
  approve CALL             let a call run; --session allows it for the rest of the session
  deny CALL                refuse it; the model reads that
  cancel RUN               end a run that is not over

Options:
  --workspace ID    another workspace than the default one
${CONFIG_OPTIONS}`;

export const MCP_SERVER_HELP = `Usage: model-gateway mcp-server COMMAND [options]

The gateway as an MCP server at /mcp (mcp_server.enabled in the configuration), and the programs that people let use it.

Commands:
  status            whether it is on, its address, its tools, and which programs may connect
  connections       the programs that are connected, the newest first
  revoke ID         end a connection with its tokens and its key, within seconds

Options:
${CONFIG_OPTIONS}`;

export const SCIM_HELP = `Usage: model-gateway scim COMMAND [options]

Users and groups that an identity provider pushes to /scim/v2 (scim.enabled in the configuration).

Commands:
  token create NAME make a token for a provider, for a year; it is printed once, alone on standard output
  token list        the tokens, without the tokens themselves
  token delete ID   delete one; it opens nothing any more
  status            users, groups, the last request and the last refusal
  check-file FILE   what requests of a file would change, of which nothing stays; exits with 1 if one would be refused.
                    The file is a JSON list of {"method", "path", "body"}

Options:
${CONFIG_OPTIONS}`;

export const CONTAINERS_HELP = `Usage: model-gateway containers COMMAND [options]

Containers in which \`service:bash\` runs commands of models (containers.runtime in the configuration).

Commands:
  rootfs DIR        make a root file system for containers.rootfs of programs of this machine
  doctor            try to break out of a container; exits with 1 if something succeeds, or if nothing isolates here
  list              the containers that are kept, the one used last first
  remove CONTAINER  remove one with its files

Options:
${CONFIG_OPTIONS}`;

export const KEYS_HELP = `Usage: model-gateway keys COMMAND [options]

Works on the database of the data directory, also while a gateway runs on it (which notices within seconds).

Commands:
  create [--name NAME] [--management] [--limit USD] [--limit-reset daily|weekly|monthly]
                    create a key; it is printed once, alone on standard output. Without a reset the limit is for ever
  list              list all keys, without the keys themselves
  disable KEY       refuse a key from now on
  enable KEY        accept it again
  delete KEY        delete it for good
                    (disable and delete with --cascade: with all keys that it issued)

KEY is a key's hash, the beginning of one (8 characters or more), or a label as \`list\` shows it.

Options:
${CONFIG_OPTIONS}`;

export const IMPORT_HELP = `Usage: model-gateway import litellm FILE [--output FILE]

Turns the configuration of a LiteLLM proxy (config.yaml) into one for this gateway, and prints what it could not carry
over to standard error. It calls nothing and changes nothing; environment references stay references.

Options:
  --output FILE     write there, readable by you alone; a file that exists is kept, and the command fails
                    (default: standard output)
`;

export const CREDITS_HELP = `Usage: model-gateway credits COMMAND [options]

Works on the database of the data directory, or on DATABASE_URL, also while a gateway runs on it (which notices within a
minute). Every change is an entry of the ledger, with its reason and its author.

Commands:
  balance                                 credit granted, spent and left
  grant AMOUNT --note TEXT                grant credit
  adjust AMOUNT --note TEXT               correct the balance; AMOUNT may be negative
  refund GENERATION [AMOUNT] --note TEXT  refund the cost of a generation, or a part of it
  entries [--limit N] [--json]            the newest entries, by default 20
  verify                                  compare generations, entries, sums and balance; exits with 1 if they differ,
                                          or if a journal has records that the database lacks

AMOUNT is in USD, such as 12.50.

Options:
  --id ID           of grant, adjust, refund: identifies the change, so that a repetition is not entered twice
${CONFIG_OPTIONS}`;

export const BACKUP_HELP = `Usage: model-gateway backup FILE [options]
       model-gateway restore FILE [options]

backup writes a snapshot of the database to a new file, also while a gateway runs, and checks it. restore checks such a
file and replaces the database by it, while no gateway runs; the previous database is kept beside it. On PostgreSQL they
call pg_dump and pg_restore, and restore needs an empty database.

Records that are not in the database yet are copied to the folder FILE.journal, from which restore stores them. The file
does not contain GATEWAY_SECRET, without which stored credentials cannot be decrypted.

Options:
${CONFIG_OPTIONS}`;

export const JOURNAL_HELP = `Usage: model-gateway journal COMMAND [options]

Works on the journals of the data directory: records of responses on their way to the database, also while a gateway runs.

Commands:
  list              each journal, whether its process runs, and how many records are not in the database; exits with 1 if
                    one cannot be applied
  show STREAM       the records of a journal, a line of JSON each
  apply             store what processes that are gone have left, which a gateway does by itself where the file system
                    has locks. Where it has none: run it while no gateway uses the directory

Options:
${CONFIG_OPTIONS}`;

export const CONFIG_HELP = `Usage: model-gateway config check [options]

Reads the configuration as \`serve\` would. Prints the effective configuration with secrets replaced, and exits with 0; or
prints every error with its place, and exits with 1.

Options:
${CONFIG_OPTIONS}  --port PORT, --host HOST
`;

export const CONSOLE_HELP = `Usage: model-gateway console link [options]

Prints a link that signs in to the dashboard as operator, once and within ten minutes, also while a gateway runs.

Options:
  --url URL         where browsers find the gateway; default: the address that it is configured to listen on
${CONFIG_OPTIONS}  --port PORT, --host HOST
`;

export const DOCTOR_HELP = `Usage: model-gateway doctor [options] [PROVIDER...]

Checks the configuration, the data directory, the secret, the clock, and each provider that is configured or enabled by
the environment: its host name, its certificate, its address and its key. All calls are free: the list of models, or an
empty request, which is refused. Logs in at the mail server of notifications, without a mail. Prints a line for each check; exits with 1 if one failed.

Options:
${CONFIG_OPTIONS}`;

export const CATALOG_HELP = `Usage: model-gateway catalog COMMAND [options]

The facts about models: prices, limits, abilities. Later layers win, fact by fact: the price library, the public list
(catalog.refresh in the configuration; off by default), the project's own files, the configuration.

Commands:
  list [WORD...]    models of configured providers whose names contain the words
  show MODEL        every fact of a model, with its layer, its source and the source's date
  check             errors, and unknown facts
  refresh           fetch the public list now

Options:
  --all             of list: also models of other providers
  --json            of list and show
  --accept-moved    of refresh: accept prices that changed by more than a factor of four, after a review
${CONFIG_OPTIONS}`;

export const REPORT_HELP = `Usage: model-gateway report routers [options]

The choices of routers (service/auto and the others), their cost, and the savings compared with the most capable candidate
at its list price for the same tokens. A negative value means that it cost more.

Options:
  --days N          how far back; default 7
  --by WHAT         a line for each router (default), or for each model or task of a router: router, model, task
  --json            one JSON object a line
${CONFIG_OPTIONS}`;

export const GENERATIONS_HELP = `Usage: model-gateway generations <command> [options]

  list              records of generations, newest first
  show ID           everything that is stored of one, as JSON

Options of list:
  --hours N         how far back; default 24
  --limit N         how many; default 20
  --key HASH, --workspace ID, --model SLUG, --provider SLUG, --session ID, --user HASH
  --failed          only those with a status of 400 or more
  --json            one JSON object a line
${CONFIG_OPTIONS}`;

export const AUDIT_HELP = `Usage: model-gateway audit [options]

Prints the changes made through the management API or on the command line, with their authors, newest first.

Options:
  --limit N         how many; default 20
  --action NAME     only this operation, such as updateKey
  --subject PATH    only changes of this subject, such as /keys/HASH
  --json            one JSON object a line
${CONFIG_OPTIONS}`;

export const DESTINATIONS_HELP = `Usage: model-gateway destinations list [options]
       model-gateway destinations test ID [options]

Shows where records of generations are sent and whether they arrive, or calls one of them without a record.

Options:
  --json            one JSON object a line
${CONFIG_OPTIONS}`;

export const NOTIFY_HELP = `Usage: model-gateway notify list [options]
       model-gateway notify test CHANNEL [options]

Shows where operators are notified and whether it arrives, or sends a test to one channel, by its name or id.

Options:
  --json            one JSON object a line
${CONFIG_OPTIONS}`;

export const CHAT_HELP = `Usage: model-gateway chat [options] [MESSAGE...]

Sends one message and prints the response as it arrives. Without a message it is a conversation: a line is a turn, /clear
starts over, /exit or the end of input leaves. Ctrl-C stops a response.

Options:
  --model MODEL     default sandbox/echo
  --format FORMAT   chat or responses; default chat
  --no-stream       request the response as a whole, and print it then
  --url URL         address of the gateway; default: that of the configuration in this directory
  --config FILE     another configuration                (GATEWAY_CONFIG)
  --key KEY         default: GATEWAY_API_KEY
`;

export const EXPLAIN_HELP = `Usage: model-gateway explain [options] [FILE]

Shows how a running gateway would route a request: the candidates in order, their cost, and why others are excluded. No
provider is called and nothing is spent. FILE contains the JSON body of a chat or messages request, \`-\` means standard
input; without it a plain question to --model is explained.

Options:
  --model MODEL     instead of a file
  --json            print the response of the gateway as JSON
  --url URL         address of the gateway; default: that of the configuration in this directory
  --config FILE     another configuration                (GATEWAY_CONFIG)
  --key KEY         default: GATEWAY_API_KEY, otherwise GATEWAY_MANAGEMENT_KEY
`;

export const EVAL_HELP = `Usage: model-gateway eval run FILE --models a,b --max-cost USD [options]
       model-gateway eval list [options]
       model-gateway eval show RUN [options]
       model-gateway eval compare RUN RUN [options]
       model-gateway eval publish RUN [options]
       model-gateway eval import FILE --license TEXT [options]
       model-gateway eval collect NAME [--days N] [options]

Asks models of a running gateway the questions of a dataset, waits for the end, and shows how sure the result is:
docs/evaluations.md. Exit codes of \`run\`: 0 done, 3 the cap is reached, 4 it failed or a score is too low.

Options:
  --models A,B      the models of a run
  --max-cost USD    what a run may cost
  --payer HASH      the key that pays; default: GATEWAY_API_KEY
  --name NAME       of the dataset; default: that of the file
  --repeats N       how often each question is put
  --sample N        so many questions, chosen by --seed N
  --concurrency N   calls at a time
  --max-tokens N    of a response whose question sets none
  --judge MODEL     judges responses by --rubric TEXT; with --reference MODEL beside those of that model
  --fail-below X    fails where a mean is lower; MODEL=X is for one model, and several are separated by commas
  --force           compares runs of different datasets or judges
  --license TEXT    under which a table may be used; --citation TEXT says where it is from
  --days N          collects kept requests of the last N days (7) as a dataset, of --models, at most --limit N of
                    --workspace ID; with --expected their responses are right answers
  --json            print the response of the gateway as JSON
  --url URL         address of the gateway; default: that of the configuration in this directory
  --config FILE     another configuration                (GATEWAY_CONFIG)
  --key KEY         default: GATEWAY_MANAGEMENT_KEY
`;

export const CLASSIFIERS_HELP = `Usage: model-gateway classifiers COMMAND [options]

Models that sort conversations of a running gateway: docs/classifiers.md.

Commands:
  list              all classifiers, and what they cost today
  show ID           one, with its dimensions
  enable ID         let it sort; one of a workspace may
  disable ID        let it rest
  test ID GEN...    sort kept generations, or --text TEXT, and store no tag
  backfill ID       sort conversations that were kept earlier: --start, --max-cost
  backfills ID      how far that is
  cancel ID         end it; its tags stay

Options:
  --text TEXT       what is sorted in place of generations
  --start TIME      2026-11-01, or a time; --end TIME, default: now
  --max-cost USD    what a backfill may cost
  --sample RATE     of the sessions, 0 to 1; default: the classifier's
  --json            print the response of the gateway as JSON
  --url URL         address of the gateway; default: that of the configuration in this directory
  --config FILE     another configuration                (GATEWAY_CONFIG)
  --key KEY         default: GATEWAY_MANAGEMENT_KEY
`;

export const DATASETS_HELP = `Usage: model-gateway datasets COMMAND [options]

What callers of a running gateway use: docs/observability.md.

Commands:
  rankings          the models with the most tokens, by date
  apps              the applications with the most tokens, or the most growth
  sessions          what a session costs: the median of the last seven days

Options:
  --start DAY       2026-11-01, UTC; --end DAY, default: yesterday (rankings, apps)
  --period PERIOD   day (default), week or month        (rankings)
  --sort ORDER      popular (default) or trending       (apps)
  --app URL         sessions of one application; --model MODEL, --turns RANGE
  --min-group N     leave out what fewer keys used, default: 1
  --limit N         rows                                (apps, sessions)
  --json            print the response of the gateway as JSON
  --url URL         address of the gateway; default: that of the configuration in this directory
  --config FILE     another configuration               (GATEWAY_CONFIG)
  --key KEY         default: GATEWAY_MANAGEMENT_KEY
`;

export const DECISIONS_HELP = `Usage: model-gateway decisions calibrate FILE --model MODEL [options]

How far the probabilities of a judge are off, by questions whose answers are known: docs/alpha-decisions.md. Each line of
the file is a JSON object {"state": ..., "question": {"type", "instructions", "criteria"}, "answer": ...}, with the name of
an option, the number of a level (from 0) or true or false. At least 100 lines of a type are needed. It runs one decision
a line at a running gateway, and prints what to configure.

Options:
  --model MODEL     the judge
  --name NAME       of the calibration, default: own
  --max-cost USD    stops beyond it, default: 1
  --url URL         address of the gateway; default: that of the configuration in this directory
  --config FILE     another configuration                (GATEWAY_CONFIG)
  --key KEY         a normal key, which is charged; default: GATEWAY_API_KEY
`;

export function formatOverview(commands: Readonly<Record<string, Command>>): string {
  const widest = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(widest + 2)}${summary}\n`);
  return `Usage: model-gateway [COMMAND] [options]

Commands:
${lines.join('')}
model-gateway COMMAND --help describes a command.

${SERVE_HELP.slice(SERVE_HELP.indexOf('Options:'))}`;
}
